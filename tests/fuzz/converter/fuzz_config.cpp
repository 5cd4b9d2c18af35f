// SPDX-License-Identifier: Apache-2.0
// libFuzzer: a config.json of any family is refused with a ConvertError, or its sizes are in the
// ranges that the format has.
#include "converter/import/config/read_config.hpp"

#include "runtime/format/blob_format.hpp"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/json_mutator.hpp"
#include "tests/fuzz/support/require.hpp"
#include "tests/support/model_folder.hpp"

using namespace embert;

namespace {

void check_size(int value, std::uint32_t most, const char* what) {
  fuzz::require(value >= 1 && static_cast<std::uint32_t>(value) <= most, what);
}

void check_stack(const convert::StackConfig& stack) {
  check_size(stack.hidden_size, kMaxHiddenSize, "hidden_size");
  check_size(stack.num_hidden_layers, kMaxLayers, "num_hidden_layers");
  check_size(stack.num_attention_heads, kMaxHeads, "num_attention_heads");
  check_size(stack.intermediate_size, kMaxIntermediateSize, "intermediate_size");
  check_size(stack.vocab_size, kMaxVocabSize, "vocab_size");
  check_size(stack.max_position_embeddings, kMaxPositions, "max_position_embeddings");
  check_size(stack.type_vocab_size, kMaxTypes, "type_vocab_size");
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::TempFolder folder;
  folder.write("config.json", {reinterpret_cast<const char*>(data), size});
  try {
    std::vector<std::string> warnings;
    const convert::ModelConfig config = convert::read_config(folder.path(), warnings);
    for (const convert::StackConfig& stack : config.stacks) check_stack(stack);
  } catch (const convert::ConvertError& error) {
    fuzz::check_message(error);
  }
  return 0;
}
