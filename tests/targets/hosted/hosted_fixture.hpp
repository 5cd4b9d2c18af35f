// SPDX-License-Identifier: Apache-2.0
// Models and texts for the tests of the hosted library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "targets/hosted/embert_hosted.h"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/task_models.hpp"

namespace embert::test {

struct CloseModel {
  void operator()(embert_hosted* model) const { embert_hosted_close(model); }
};
using ModelHandle = std::unique_ptr<embert_hosted, CloseModel>;

/// Opens a model; fails the test if it cannot.
ModelHandle open_model(const std::string& path, uint32_t threads = 1);

/// A list of texts for the C interface.
class Texts {
 public:
  explicit Texts(const std::vector<std::string>& texts, const std::vector<std::string>& pairs = {});
  /// Valid as long as this object.
  embert_hosted_texts view() const;

 private:
  std::string bytes_, pair_bytes_;
  std::vector<uint64_t> offsets_, pair_offsets_;
};

/// Texts of 0 to 40 words that small_spec() knows, some with bytes that are not UTF-8.
std::vector<std::string> random_texts(size_t count, uint32_t seed);

/// Calls embert_hosted_embed; fails the test if it fails. [texts x row bytes]
std::vector<uint8_t> embed(embert_hosted* model, const embert_hosted_texts& texts,
                           const embert_hosted_vector_options& options);
/// Options with a format.
embert_hosted_vector_options vectors_as(embert_vector_format format);

}  // namespace embert::test
