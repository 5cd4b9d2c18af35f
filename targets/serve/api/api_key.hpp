// SPDX-License-Identifier: Apache-2.0
// The key that clients send as "Authorization: Bearer KEY".
#pragma once

#include <string>

namespace embert::serve {

class ApiKey {
 public:
  /// file: its first line is the key; "": the environment variable EMBERT_API_KEY has the key, or
  /// there is none and everybody may ask. Throws InputError or UsageError.
  explicit ApiKey(const std::string& file);

  bool is_set() const { return !digest_.empty(); }
  /// Takes as long for a wrong key as for the right one.
  bool allows(const std::string& authorization) const;

 private:
  std::string digest_;  ///< SHA-256 of the key; empty: none
};

}  // namespace embert::serve
