// SPDX-License-Identifier: Apache-2.0
// Nothing is allocated from opening a blob to the answer. The test replaces the C library's
// allocation functions, which operator new calls, too, by functions that count.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "converter/export/write_tokenizer_section.hpp"
#include "embert/embert_lm.h"
#include "embert/embert_tokenizer.h"
#include "tests/support/small_tokenizer.hpp"
#include "tests/support/synthetic_blob.hpp"

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

std::atomic<size_t> allocations{0};

}  // namespace

extern "C" {
void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
}

namespace embert::test {
namespace {

TEST(Allocation, CountsAllocations) {
  const size_t before = allocations;
  { std::vector<int> numbers(static_cast<size_t>(std::rand() % 10 + 100)); }
  free(malloc(10));
  EXPECT_EQ(allocations - before, 2u);
}

/// Allocations from opening the blob to the answer; all memory exists before.
size_t allocations_of_a_run(const AlignedBytes& blob, const std::string& words,
                            embert_status* outcome) {
  const uint32_t isa_mask = embert_isa_detect();
  AlignedBytes arena(4u << 20);
  std::vector<int32_t> numbers(4096);
  std::vector<int16_t> vector(4096);

  const size_t before = allocations;
  *outcome = [&] {
    embert_model model;
    embert_status status = embert_model_open(blob.data(), blob.size(), isa_mask, &model);
    if (status != EMBERT_STATUS_OK) return status;
    embert_options options = embert_options_default(&model);
    options.max_tokens = 32;
    size_t arena_bytes = 0;
    status = embert_arena_bytes(&model, &options, &arena_bytes);
    if (status != EMBERT_STATUS_OK) return status;
    if (arena_bytes > arena.size()) return EMBERT_STATUS_ARENA_TOO_SMALL;
    embert_engine* engine = nullptr;
    status = embert_engine_init(&model, &options, arena.data(), arena_bytes, &engine);
    if (status != EMBERT_STATUS_OK) return status;

    int32_t ids[32];
    embert_tokens tokens = {.size = sizeof(tokens)};
    tokens.capacity = 32;
    tokens.ids = ids;
    embert_tokenize_options cut = embert_tokenize_options_default(&model);
    cut.max_tokens = 32;
    const embert_text text = {.text = words.data(), .text_bytes = words.size()};
    status = embert_tokenize(&model, &text, &cut, &tokens);
    if (status != EMBERT_STATUS_OK) return status;
    const uint32_t length = static_cast<uint32_t>(tokens.length);
    embert_input input = {.size = sizeof(input)};
    input.ids = ids;
    input.lengths = &length;
    input.batch = 1;
    embert_scale scale;
    const int16_t* hidden = nullptr;
    status = embert_last_hidden_state(engine, &input, &hidden, &scale);
    if (status != EMBERT_STATUS_OK) return status;
    status = embert_embed(engine, &input, EMBERT_POOLING_MODEL, vector.data(), &scale);
    if (status != EMBERT_STATUS_OK) return status;
    status = embert_pooler_output(engine, &input, vector.data(), &scale);
    if (status != EMBERT_STATUS_OK) return status;
    status = embert_classify(engine, &input, numbers.data(), &scale);
    if (status != EMBERT_STATUS_OK) return status;
    status = embert_embed_text(engine, &text, vector.data(), &scale);
    if (status != EMBERT_STATUS_OK) return status;
    embert_label_score best[2];
    embert_labels labels = {.items = best, .capacity = 2};
    return embert_classify_text(engine, &text, &labels);
  }();
  return allocations - before;
}

TEST(Allocation, NoneOnASyntheticModel) {
  const AlignedBytes blob(make_synthetic_blob({}, convert::write_tokenizer_section(small_spec())));
  embert_status outcome = EMBERT_STATUS_NULL_ARGUMENT;
  const size_t count = allocations_of_a_run(blob, "hello world", &outcome);
  EXPECT_STREQ(embert_status_name(outcome), "EMBERT_STATUS_OK");
  EXPECT_EQ(count, 0u);
}

/// An encoder-decoder pair: from a source to its text, with beam search.
TEST(Allocation, NoneWhereTextIsGenerated) {
  SyntheticModel shape;
  shape.flags = kStackCausal | kStackCrossAttention;
  shape.position_kind = kPositionRelativeKeyQuery;
  shape.heads = kHeadLm;
  shape.start_id = 3;
  shape.encoder = {SyntheticModel()};
  const AlignedBytes blob(make_synthetic_blob(shape));
  const uint32_t isa_mask = embert_isa_detect();
  AlignedBytes arena(4u << 20), workspace(64u << 10);
  const int32_t ids[] = {1, 2, 3, 4, 5};
  const uint32_t length = 5;
  int32_t made[20];
  embert_generation generation = {.size = sizeof(generation)};
  generation.workspace = workspace.data();
  generation.workspace_bytes = workspace.size();
  generation.ids = made;
  generation.capacity = 20;

  const size_t before = allocations;
  const embert_status outcome = [&] {
    embert_model model;
    embert_status status = embert_model_open(blob.data(), blob.size(), isa_mask, &model);
    if (status != EMBERT_STATUS_OK) return status;
    embert_options options = embert_options_default(&model);
    options.max_batch = 3;
    embert_engine* engine = nullptr;
    status = embert_engine_init(&model, &options, arena.data(), arena.size(), &engine);
    if (status != EMBERT_STATUS_OK) return status;
    embert_input input = {.size = sizeof(input)};
    input.ids = ids;
    input.lengths = &length;
    input.batch = 1;
    status = embert_encode_source(engine, &input, nullptr);
    if (status != EMBERT_STATUS_OK) return status;
    embert_generate_options how = embert_generate_options_default(&model);
    how.beams = 3;
    return embert_generate(engine, &how, &generation);
  }();
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_STREQ(embert_status_name(outcome), "EMBERT_STATUS_OK");
  EXPECT_EQ(generation.count, 20u);
}

TEST(Allocation, NoneOnTheBundledModel) {
  std::ifstream file(EMBERT_BUNDLED_MODEL, std::ios::binary);
  if (!file) GTEST_SKIP() << "SKIPPED: no converted model at " << EMBERT_BUNDLED_MODEL;
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  const AlignedBytes blob(bytes);
  embert_status outcome = EMBERT_STATUS_NULL_ARGUMENT;
  const size_t count = allocations_of_a_run(blob, "set a timer for ten minutes", &outcome);
  EXPECT_STREQ(embert_status_name(outcome), "EMBERT_STATUS_OK");
  EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace embert::test
