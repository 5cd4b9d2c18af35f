// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/model/model_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "embert/embert_inspect.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {
namespace {

/// Maps the file. A page boundary satisfies the 64-byte alignment that a blob needs.
void* map_file(const std::string& path, size_t& bytes) {
  // O_NONBLOCK: open() does not wait for the writer of a pipe; the check below refuses the pipe.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) throw InputError(quoted_path(path) + ": cannot be opened: " + std::strerror(errno));
  struct stat status = {};
  std::string problem;
  void* data = nullptr;
  if (fstat(file, &status) != 0) {
    problem = std::string("cannot be read: ") + std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    problem = "is not a regular file; a model is one file, made with `embert convert`";
  } else if (status.st_size == 0) {
    problem = "is empty; make a model with `embert convert HF_DIR -o MODEL`";
  } else {
    bytes = static_cast<size_t>(status.st_size);
    data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) problem = std::string("cannot be mapped: ") + std::strerror(errno);
  }
  close(file);
  if (!problem.empty()) throw InputError(quoted_path(path) + ": " + problem);
  return data;
}

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
      return "its weights are in an order that this build does not read; convert the model again";
    case EMBERT_STATUS_NOT_BUILT:
      return "its tokenizer or family was left out of this build of embert (EMBERT_TOKENIZERS, "
             "EMBERT_FAMILIES)";
    default:
      return "broken; convert the model again";
  }
}

}  // namespace

ModelFile::ModelFile(const std::string& path, uint32_t isa_mask) : path_(path) {
  data_ = map_file(path, bytes_);
  const embert_status status = embert_model_open(data_, bytes_, isa_mask, &model_);
  if (status != EMBERT_STATUS_OK) {
    munmap(data_, bytes_);
    throw InputError(quoted_path(path) + ": " + explain(status) + " (" +
                     embert_status_name(status) + ")");
  }
  check(embert_model_get_info(&model_, &info_), "embert_model_get_info");
}

ModelFile::~ModelFile() { munmap(data_, bytes_); }

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
