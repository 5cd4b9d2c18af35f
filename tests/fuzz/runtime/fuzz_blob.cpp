// SPDX-License-Identifier: Apache-2.0
// libFuzzer: a hostile blob is refused with a status, or everything that the API offers for it is
// safe, ends soon and gives the same bits with the scalar kernels and with this machine's. An input
// is a blob; its magic, size and checksum are put right.
#include <cstring>
#include <vector>

#include "embert/embert_host.h"
#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "embert/embert_run.h"
#include "runtime/format/blob_format.hpp"
#include "tests/fuzz/support/require.hpp"
#include "tests/fuzz/support/word_mutator.hpp"
#include "tests/support/synthetic_blob.hpp"
#include "tests/support/system/isa_masks.hpp"

using namespace embert;

namespace {

constexpr std::size_t kMostArena = std::size_t{16} << 20;

void repair(test::AlignedBytes& blob) {
  auto& header = *reinterpret_cast<BlobHeader*>(blob.data());
  std::memcpy(header.magic, kBlobMagic, sizeof(kBlobMagic));
  header.version = kBlobVersion;
  header.blob_bytes = blob.size();
  header.layout = kLayoutN16K4;
  test::seal_blob(blob.data(), blob.size());
}

/// Statuses and results, in the order of the calls.
class Record {
 public:
  bool ok(embert_status status) {
    add(&status, 1);
    return status == EMBERT_STATUS_OK;
  }
  template <typename T>
  void add(const T* values, std::size_t count) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values);
    bytes_.insert(bytes_.end(), bytes, bytes + count * sizeof(T));
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    add(values.data(), values.size());
  }
  bool operator==(const Record&) const = default;

 private:
  std::vector<std::uint8_t> bytes_;
};

struct Session {
  embert_engine* engine;
  const embert_model_info& info;
  std::uint32_t tokens;  ///< of the first text
};

/// All results of one pass over two texts; some tokens are masked, and padding ids are among them.
void record_pass(const Session& s, Record& record) {
  const std::uint32_t lengths[] = {s.tokens, 1}, total = s.tokens + 1;
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> mask;
  for (std::uint32_t i = 0; i < total; ++i) {
    ids.push_back(static_cast<std::int32_t>((i * 7 + 1) % s.info.vocab_size));
    mask.push_back(i % 3 != 1 ? 1 : 0);
  }
  embert_input input = {.size = sizeof(input)};
  input.ids = ids.data();
  input.lengths = lengths;
  input.batch = 2;
  input.key_mask = mask.data();
  const std::size_t hidden = s.info.hidden_size, layers = s.info.num_layers;
  const std::size_t pairs = s.info.num_heads * (std::size_t{s.tokens} * s.tokens + 1);
  const std::int16_t* rows = nullptr;
  std::vector<std::int16_t> pooled(2 * hidden), states((layers + 1) * total * hidden);
  std::vector<embert_scale> scales(layers + 1);
  std::vector<std::int32_t> logits(2 * s.info.num_labels),
      token_logits(std::size_t{total} * s.info.num_token_labels);
  std::vector<std::uint16_t> attentions(layers * pairs);
  embert_output output = {.size = sizeof(output)};
  output.hidden = &rows;
  output.pooled = s.info.has_pooler != 0 ? pooled.data() : nullptr;
  output.logits = logits.empty() ? nullptr : logits.data();
  output.token_logits = token_logits.empty() ? nullptr : token_logits.data();
  if (layers > 0) {
    output.hidden_states = states.data();
    output.hidden_state_scales = scales.data();
    output.attentions = attentions.data();
  }
  if (record.ok(embert_run(s.engine, &input, &output))) {
    record.add(rows, total * hidden);
    record.add(pooled);
    record.add(states);
    record.add(logits);
    record.add(token_logits);
    record.add(attentions);
    std::vector<std::int32_t> words(s.info.vocab_size);
    embert_scale scale = {};
    if (s.info.has_lm != 0 && record.ok(embert_lm_logits(s.engine, 0, words.data(), &scale))) {
      record.add(words);
    }
  }
  std::vector<std::int16_t> vectors(2 * std::size_t{s.info.vector_size});
  if (record.ok(embert_embed(s.engine, &input, EMBERT_POOLING_MODEL, vectors.data(), nullptr))) {
    record.add(vectors);
  }
}

void record_text(const Session& s, Record& record) {
  const char text[] = "hello aab cafe\xcc\x81 [MASK] <mask>\xff \xe4\xb8\xad ''  ";
  std::vector<std::int16_t> vector(s.info.vector_size);
  const embert_text single = {text, sizeof(text) - 1, nullptr, 0};
  if (record.ok(embert_embed_text(s.engine, &single, vector.data(), nullptr))) record.add(vector);
  std::uint32_t checksum = 0;
  if (record.ok(embert_selftest(s.engine, &checksum))) record.add(&checksum, 1);
}

/// The parts of the blob that callers read.
void record_names(const embert_model& model, const embert_model_info& info, Record& record) {
  const auto add_name = [&record](const char* name) {
    if (name != nullptr) record.add(name, std::strlen(name));
  };
  for (std::uint32_t i = 0; i < info.num_prompts; ++i) {
    add_name(embert_model_prompt_name(&model, i));
    add_name(embert_model_prompt_text(&model, i));
  }
  for (std::uint32_t i = 0; i < info.num_labels; ++i) add_name(embert_model_label(&model, i));
  for (std::uint32_t i = 0; i < info.num_token_labels; ++i) {
    add_name(embert_model_token_label(&model, i));
  }
}

Record results(const test::AlignedBytes& blob, std::uint32_t isa_mask) {
  Record record;
  embert_model model;
  if (!record.ok(embert_model_open(blob.data(), blob.size(), isa_mask, &model))) return record;
  embert_model_info info = {.size = sizeof(info)};
  record.ok(embert_model_get_info(&model, &info));
  record_names(model, info, record);
  embert_options options = embert_options_default(&model);
  options.max_tokens = options.max_tokens < 6 ? options.max_tokens : 6;
  options.max_batch = 2;
  std::size_t bytes = 0;
  if (!record.ok(embert_arena_bytes(&model, &options, &bytes)) || bytes > kMostArena) return record;
  test::AlignedBytes arena(bytes);
  std::memset(arena.data(), 0xA5, bytes);
  embert_engine* engine = nullptr;
  fuzz::require(
      embert_engine_init(&model, &options, arena.data(), bytes, &engine) == EMBERT_STATUS_OK,
      "an arena of the size asked for");
  const Session session = {engine, info, options.max_tokens};
  record_pass(session, record);
  if (info.has_tokenizer != 0) record_text(session, record);
  return record;
}

/// The bytes that a mutation changes: more often those that say what the others are.
std::span<std::uint8_t> pick_target(std::uint8_t* data, std::size_t size, fuzz::Random& random) {
  if (size < sizeof(BlobHeader) || random.below(8) == 0) return {data, size};
  BlobHeader header;
  std::memcpy(&header, data, sizeof(header));
  if (random.below(4) == 0) return {data, sizeof(header)};
  const std::size_t table_bytes = std::size_t{header.section_count % 4096} * sizeof(BlobSection);
  if (table_bytes == 0 || table_bytes > size - sizeof(header)) return {data, size};
  if (random.below(8) == 0) return {data + sizeof(header), table_bytes};
  // One of the optional sections, which are the last, or any.
  const std::size_t count = header.section_count % 4096, last = random.below(2) == 0 ? 6 : count;
  const std::size_t index = count - 1 - random.below(last < count ? last : count);
  BlobSection section;
  std::memcpy(&section, data + sizeof(header) + index * sizeof(section), sizeof(section));
  if (section.offset > size || section.bytes > size - section.offset) return {data, size};
  // Records stand at the begin of a section.
  const std::size_t most = random.below(2) == 0 ? 64 : section.bytes;
  return {data + section.offset, section.bytes < most ? section.bytes : most};
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  fuzz::Random random(seed);
  if (random.below(64) == 0) return fuzz::mutate_bytes(data, size, max_size);
  fuzz::mutate_words(pick_target(data, size, random), random);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < sizeof(BlobHeader)) return 0;
  test::AlignedBytes blob(std::vector<std::uint8_t>(data, data + size));
  repair(blob);
  fuzz::require(results(blob, EMBERT_ISA_SCALAR) == results(blob, runnable_isas()),
                "the same bits with all kernels");
  return 0;
}
