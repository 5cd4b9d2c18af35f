// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/model/model_file.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "converter/files/foreign_format.hpp"
#include "converter/files/read_file.hpp"
#include "embert/embert_inspect.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {
namespace {

const char* explain(embert_status status) {
  switch (status) {
    case EMBERT_STATUS_BLOB_MAGIC:
      return "not an embert model; make one with `embert convert HF_DIR -o MODEL`";
    case EMBERT_STATUS_BLOB_TRUNCATED:
      return "the file ends early; copy it again";
    case EMBERT_STATUS_BLOB_VERSION:
      return "made by another version of embert; convert the model again";
    case EMBERT_STATUS_BLOB_CHECKSUM:
      return "its bytes were changed; copy or convert it again";
    case EMBERT_STATUS_LAYOUT:
      return "its weights are in an order that this build does not read; convert the model with "
             "`--layout n16k4`";
    case EMBERT_STATUS_NOT_BUILT:
      return "its tokenizer or family was left out of this build of embert (EMBERT_TOKENIZERS, "
             "EMBERT_FAMILIES)";
    default:
      return "broken; convert the model again";
  }
}

constexpr uint64_t kMostModelBytes = uint64_t{4} << 30;
/// More than a header has.
constexpr size_t kFirstBytes = 4096;

/// Throws InputError if the file does not begin as a model, before it is read whole.
void check_beginning(const std::string& path, std::string_view beginning) {
  if (beginning.empty()) {
    throw InputError(path + ": is empty; make a model with `embert convert HF_DIR -o MODEL`");
  }
  const std::string format = convert::foreign_format(beginning);
  if (!format.empty()) throw InputError(path + ": " + format);
  alignas(64) uint8_t first[kFirstBytes] = {};
  std::memcpy(first, beginning.data(), std::min(beginning.size(), kFirstBytes));
  embert_model model = {};
  const embert_status status = embert_model_open(first, kFirstBytes, EMBERT_ISA_SCALAR, &model);
  if (status == EMBERT_STATUS_BLOB_MAGIC) {
    throw InputError(path + ": " + explain(status) + " (" + embert_status_name(status) + ")");
  }
}

/// Memory of this process alone, at an address for blobs. Large pages save most of the page faults:
/// 24 MB are 12 instead of 5,838.
void* allocate_blob(size_t bytes) {
  constexpr size_t kLargePage = size_t{2} << 20;
  const size_t step = bytes >= kLargePage ? kLargePage : 64;
  const size_t rounded = (bytes + step - 1) / step * step;
  void* memory = rounded >= bytes ? std::aligned_alloc(step, rounded) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
  if (step == kLargePage) (void)madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace

ModelFile::ModelFile(const std::string& path, uint32_t isa_mask, ModelMemory memory)
    : path_(path), memory_(memory) {
  try {
    load();
  } catch (const convert::ConvertError& error) {
    throw InputError(error.what());
  }
  open(isa_mask);
}

ModelFile::ModelFile(const std::string& name, std::span<const uint8_t> blob, uint32_t isa_mask)
    : path_(name),
      memory_(ModelMemory::kPrivate),
      data_(allocate_blob(blob.size())),
      bytes_(blob.size()) {
  std::memcpy(data_, blob.data(), blob.size());
  open(isa_mask);
}

void ModelFile::open(uint32_t isa_mask) {
  const embert_status status = embert_model_open(data_, bytes_, isa_mask, &model_);
  if (status != EMBERT_STATUS_OK) {
    release();
    throw InputError(quoted_path(path_) + ": " + explain(status) + " (" +
                     embert_status_name(status) + ")");
  }
  check(embert_model_get_info(&model_, &info_), "embert_model_get_info");
}

ModelFile::~ModelFile() { release(); }

void ModelFile::load() {
  const std::string name = quoted_path(path_);
  std::error_code error;
  if (std::filesystem::is_directory(path_, error)) {
    throw InputError(name + ": is not a regular file; a model is one file, made with " +
                     "`embert convert`");
  }
  const convert::OpenFile file(path_, name, std::min<uint64_t>(kMostModelBytes, SIZE_MAX / 2));
  check_beginning(name, file.beginning());
  bytes_ = static_cast<size_t>(file.bytes());
  if (memory_ == ModelMemory::kMapped) {
    // A page boundary satisfies the 64-byte alignment that a blob needs.
    void* mapped = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (mapped == MAP_FAILED) {
      throw InputError(name + ": cannot be mapped: " + std::strerror(errno));
    }
    data_ = mapped;
    return;
  }
  data_ = allocate_blob(bytes_);
  try {
    file.read({static_cast<uint8_t*>(data_), bytes_});
  } catch (...) {
    release();
    throw;
  }
}

void ModelFile::release() {
  memory_ == ModelMemory::kMapped ? void(munmap(data_, bytes_)) : std::free(data_);
}

bool ModelFile::for_i8mm() const { return info_.layout == 2; }

bool ModelFile::has_kernels() const { return info_.has_kernels != 0; }

void ModelFile::require_kernels() const {
  if (has_kernels()) return;
  const bool is_here = (embert_isa_detect() & EMBERT_ISA_I8MM) != 0;
  throw InputError(
      quoted_path(path_) + ": its weights are in the order of i8mm (" +
      embert_status_name(EMBERT_STATUS_LAYOUT) + "), and the kernels are those of " +
      embert_isa_name(info_.isa_mask) + "; " +
      (is_here ? "allow i8mm, which this processor has" : "convert it with `--layout n16k4`"));
}

void ModelFile::require_tokenizer() const {
  if (info_.has_tokenizer) return;
  throw UsageError(quoted_path(path_) + ": the model has no tokenizer (" +
                   embert_status_name(EMBERT_STATUS_NO_TOKENIZER) +
                   "); convert it from a folder that has tokenizer.json or vocab.txt");
}

std::map<uint32_t, size_t> arena_sizes(const embert_model& model) {
  embert_model_info info = {.size = sizeof(info)};
  check(embert_model_get_info(&model, &info), "embert_model_get_info");
  std::map<uint32_t, size_t> sizes;
  for (const uint32_t length : {16u, 32u, 64u, 128u, 256u, 512u, info.max_tokens}) {
    if (length > info.max_positions) continue;
    embert_options options = embert_options_default(&model);
    options.max_tokens = length;
    check(embert_arena_bytes(&model, &options, &sizes[length]), "embert_arena_bytes");
  }
  return sizes;
}

void check(embert_status status, const char* call) {
  if (status == EMBERT_STATUS_OK) return;
  throw InternalError(std::string(call) + ": " + embert_status_name(status));
}

}  // namespace embert::hosted
