// SPDX-License-Identifier: Apache-2.0
// Runs a model for instruction counts: encode_passes MODEL TOKENS PASSES [answer]. One text, one
// thread. A pass is that of the encoder; with `answer` it ends with the logits of a classifier, or
// with the vector of another model. The difference between the counts of two runs is a pass alone.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"

namespace {

/// Memory that begins at a multiple of 64, as blobs and arenas must. It is never freed.
void* allocate(std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(std::malloc(bytes + 64));
  if (address == 0) std::abort();
  return reinterpret_cast<void*>((address + 63) / 64 * 64);
}

}  // namespace

int main(int argc, char** argv) {
  const bool answers = argc == 5 && std::string_view(argv[4]) == "answer";
  if (argc != 4 && !answers) {
    std::fprintf(stderr, "usage: encode_passes MODEL TOKENS PASSES [answer]\n");
    return 1;
  }
  std::ifstream file(argv[1], std::ios::binary | std::ios::ate);
  const auto bytes = static_cast<std::size_t>(file.tellg());
  void* blob = allocate(bytes);
  file.seekg(0);
  file.read(static_cast<char*>(blob), static_cast<std::streamsize>(bytes));
  const std::uint32_t tokens = static_cast<std::uint32_t>(std::atoi(argv[2]));

  embert_model model;
  embert_status status = embert_model_open(blob, bytes, embert_isa_detect(), &model);
  embert_options options = {.size = sizeof(options)};
  std::size_t arena_bytes = 0;
  embert_engine* engine = nullptr;
  if (status == EMBERT_STATUS_OK) {
    options = embert_options_default(&model);
    options.max_tokens = tokens;
    status = embert_arena_bytes(&model, &options, &arena_bytes);
  }
  if (status == EMBERT_STATUS_OK) {
    void* arena = allocate(arena_bytes);
    status = embert_engine_init(&model, &options, arena, arena_bytes, &engine);
  }
  std::vector<std::int32_t> ids(tokens);
  for (std::uint32_t i = 0; i < tokens; ++i) ids[i] = static_cast<std::int32_t>(1000 + 7 * i);
  embert_input input = {.size = sizeof(input)};
  input.ids = ids.data();
  input.lengths = &tokens;
  input.batch = 1;
  embert_model_info info = {.size = sizeof(info)};
  if (status == EMBERT_STATUS_OK) status = embert_model_get_info(&model, &info);
  std::vector<std::int32_t> logits(info.num_labels);
  std::vector<std::int16_t> vector(info.vector_size);
  const std::int16_t* hidden = nullptr;
  for (int pass = 0; pass < std::atoi(argv[3]) && status == EMBERT_STATUS_OK; ++pass) {
    if (!answers) {
      status = embert_last_hidden_state(engine, &input, &hidden, nullptr);
    } else if (info.num_labels > 0) {
      status = embert_classify(engine, &input, logits.data(), nullptr);
    } else {
      status = embert_embed(engine, &input, EMBERT_POOLING_MODEL, vector.data(), nullptr);
    }
  }
  std::uint32_t bits = 0;  // of the hidden states: the same on every processor
  for (std::size_t i = 0; hidden != nullptr && i < std::size_t{tokens} * info.hidden_size; ++i) {
    bits = bits * 0x01000193u ^ static_cast<std::uint16_t>(hidden[i]);
  }
  std::printf("%s, %s, bits %08x\n", embert_isa_name(embert_isa_detect()),
              embert_status_name(status), static_cast<unsigned>(bits));
  return status == EMBERT_STATUS_OK ? 0 : 3;
}
