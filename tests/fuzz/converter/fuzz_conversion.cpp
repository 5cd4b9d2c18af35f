// SPDX-License-Identifier: Apache-2.0
// libFuzzer: a small model of any family, some of whose weights are replaced by values up to the
// edges of float32, is refused with a ConvertError, or its blob is valid and gives its own answers.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "converter/convert.hpp"
#include "converter/convert_error.hpp"
#include "embert/embert_run.h"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/require.hpp"
#include "tests/support/model_folder.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace {

using namespace embert;

struct SmallModel {
  std::string config, weights;  // the files
};

std::vector<SmallModel> small_models() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry :
       std::filesystem::directory_iterator(EMBERT_SOURCE_DIR "/tests/data/reference/families")) {
    folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  std::vector<SmallModel> models;
  for (const std::filesystem::path& folder : folders) {
    models.push_back({test::read_bytes((folder / "config.json").string()),
                      test::read_bytes((folder / "model.safetensors").string())});
  }
  return models;
}

// Eight bytes of an input: from which float of the file on, how many, and what they become.
struct Change {
  std::uint16_t first, count;
  float value;
};

void replace_weights(const Change& change, std::string& weights) {
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, weights.data(), sizeof header_bytes);
  char* const data = weights.data() + sizeof header_bytes + header_bytes;
  const std::size_t floats =
      (weights.size() - sizeof header_bytes - header_bytes) / sizeof change.value;
  for (std::size_t i = change.first; i < std::min<std::size_t>(floats, change.first + change.count);
       ++i) {
    std::memcpy(data + i * sizeof change.value, &change.value, sizeof change.value);
  }
}

void require_selftest(const std::vector<std::uint8_t>& bytes) {
  const test::AlignedBytes blob(bytes);
  embert_model model = {};
  fuzz::require(
      embert_model_open(blob.data(), blob.size(), embert_isa_detect(), &model) == EMBERT_STATUS_OK,
      "the blob is valid");
  const embert_options options = embert_options_default(&model);
  std::size_t arena_bytes = 0;
  fuzz::require(embert_arena_bytes(&model, &options, &arena_bytes) == EMBERT_STATUS_OK,
                "the blob has an arena");
  test::AlignedBytes arena(arena_bytes);
  embert_engine* engine = nullptr;
  fuzz::require(
      embert_engine_init(&model, &options, arena.data(), arena_bytes, &engine) == EMBERT_STATUS_OK,
      "the blob has an engine");
  fuzz::require(embert_selftest(engine, nullptr) == EMBERT_STATUS_OK, "the selftest holds");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<SmallModel> models = small_models();
  if (size < 2) return 0;
  const SmallModel& model = models[data[0] % models.size()];
  std::string weights = model.weights;
  Change change = {};
  for (std::size_t at = 2; at + sizeof change <= size; at += sizeof change) {
    std::memcpy(&change, data + at, sizeof change);
    replace_weights(change, weights);
  }
  const test::TempFolder folder;
  folder.write("config.json", model.config);
  folder.write("model.safetensors", weights);
  // A few short texts: the built-in ones would take a second.
  std::string ids;
  for (int text = 0; text < 8; ++text) ids += "5 " + std::to_string(6 + text) + " 7 20\n";
  const convert::ConvertOptions options = {
      .folder = folder.path(),
      .calibration_ids = folder.write("ids.txt", ids),
      .rounding = (data[1] & 1) != 0 ? convert::Rounding::kGptq : convert::Rounding::kNearest,
      .embeddings = (data[1] & 2) != 0 ? convert::EmbeddingBits::k4 : convert::EmbeddingBits::k8,
      .precision = (data[1] & 4) != 0 ? convert::Precision::kHigh : convert::Precision::kFast};
  try {
    require_selftest(convert::convert(options).blob);
  } catch (const convert::ConvertError& error) {
    fuzz::check_message(error.what());
  }
  return 0;
}
