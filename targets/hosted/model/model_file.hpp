// SPDX-License-Identifier: Apache-2.0
// A model file in memory, opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "embert/embert_inspect.h"

namespace embert::hosted {

enum class ModelMemory {
  kPrivate,  ///< read: the file may change afterwards
  kMapped    ///< mapped read-only: all processes of a host share its pages, and the file must not
             ///< change but by a rename over it: what the validator checked would change, too
};

class ModelFile {
 public:
  /// Throws InputError with the file, the reason and the remedy.
  ModelFile(const std::string& path, uint32_t isa_mask, ModelMemory memory = ModelMemory::kPrivate);
  /// Of a blob in memory, which is copied; `name` takes the place of the path.
  ModelFile(const std::string& name, std::span<const uint8_t> blob, uint32_t isa_mask);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  const embert_model* model() const { return &model_; }
  const embert_model_info& info() const { return info_; }
  const uint8_t* data() const { return static_cast<const uint8_t*>(data_); }
  size_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

  /// Whether the weights are in n8k16, not in n16k4.
  bool for_i8mm() const;
  /// Whether the kernels of the mask read that order.
  bool has_kernels() const;
  /// Throws InputError if they do not.
  void require_kernels() const;
  /// Throws UsageError if the model has no tokenizer.
  void require_tokenizer() const;

 private:
  void load();
  void open(uint32_t isa_mask);
  void release();

  std::string path_;
  ModelMemory memory_;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  embert_model model_ = {};
  embert_model_info info_ = {.size = sizeof(info_)};
};

/// Returns the arena bytes for one text and one thread by length in tokens: for powers of two from
/// 16 to 512 and the model's own length, as far as the model's positions go.
std::map<uint32_t, size_t> arena_sizes(const embert_model& model);

/// Throws InternalError if `call`, which cannot fail for a checked model, did fail.
void check(embert_status status, const char* call);

}  // namespace embert::hosted
