// SPDX-License-Identifier: Apache-2.0
// A blob mapped read-only and opened: pages come from the file as they are read, nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "embert/embert.h"

namespace embert::cli {

class ModelFile {
 public:
  /// Throws InputError: one line with file, reason and what to do.
  ModelFile(const std::string& path, uint32_t isa_mask);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  const embert_model* model() const { return &model_; }
  const embert_model_info& info() const { return info_; }
  const uint8_t* data() const { return static_cast<const uint8_t*>(data_); }
  size_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

  /// Throws UsageError where there is none.
  void require_tokenizer() const;

 private:
  std::string path_;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  embert_model model_ = {};
  embert_model_info info_ = {};
};

/// Arena bytes of one text and one thread, at the usual lengths and the model's own.
std::map<uint32_t, size_t> arena_sizes(const embert_model& model);

/// Throws InternalError where a call that cannot fail for a checked model did.
void check(embert_status status, const char* what);

}  // namespace embert::cli
