// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_input.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "embert/embert_run.h"

namespace embert::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

template <typename T>
const T* pointer(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

/// Length of each text: the mask without the zeros at its end.
std::vector<std::uint32_t> cut_lengths(const std::vector<std::int32_t>& mask, std::size_t batch,
                                       Padding padding) {
  const std::size_t length = mask.size() / batch;
  std::vector<std::uint32_t> lengths(batch, static_cast<std::uint32_t>(length));
  if (padding == Padding::kHidden) return lengths;
  for (std::size_t text = 0; text < batch; ++text) {
    const std::int32_t* row = mask.data() + text * length;
    std::size_t count = length;
    while (count > 0 && row[count - 1] == 0) --count;
    if (count > 0) lengths[text] = static_cast<std::uint32_t>(count);
  }
  return lengths;
}

/// The first lengths[i] rows of each text of a [batch, length, width] tensor; a tensor of one text
/// stands for all.
template <typename T>
std::vector<T> take_rows(const std::vector<T>& padded, const std::vector<std::uint32_t>& lengths,
                         std::size_t length, std::size_t width) {
  std::vector<T> rows;
  for (std::size_t text = 0; text < lengths.size(); ++text) {
    const std::size_t first = padded.size() == length * width ? 0 : text * length * width;
    const auto from = padded.begin() + static_cast<std::ptrdiff_t>(first);
    rows.insert(rows.end(), from, from + static_cast<std::ptrdiff_t>(lengths[text] * width));
  }
  return rows;
}

Bytes to_bytes(const std::vector<std::int32_t>& mask) { return {mask.begin(), mask.end()}; }

/// Real numbers as 16-bit integers, the largest magnitude as 32767.
std::vector<std::int16_t> to_int16(const std::vector<float>& values, embert_scale& scale) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  const float real_scale = largest / 32767.0F;
  scale.float_bits = std::bit_cast<std::uint32_t>(real_scale);
  std::vector<std::int16_t> out;
  for (const float value : values)
    out.push_back(
        static_cast<std::int16_t>(std::clamp(std::lround(value / real_scale), -32767L, 32767L)));
  return out;
}

/// Turns a 2-D mask of a batch into lengths of its texts, and returns the mask of the tokens that
/// remain; empty if it hides none of them.
Bytes take_mask(const std::vector<std::int32_t>& mask, std::vector<std::uint32_t>& lengths,
                Padding padding) {
  const std::size_t batch = lengths.size(), length = mask.size() / batch;
  lengths = cut_lengths(mask, batch, padding);
  const std::vector<std::int32_t> rest = take_rows(mask, lengths, length, 1);
  return std::ranges::find(rest, 0) == rest.end() ? Bytes() : to_bytes(rest);
}

}  // namespace

std::size_t GoldenInput::tokens() const {
  return std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
}

embert_input GoldenInput::view() const {
  embert_input input = {.size = sizeof(input)};
  input.ids = pointer(ids);
  input.type_ids = pointer(type_ids);
  input.lengths = lengths.data();
  input.batch = static_cast<std::uint32_t>(lengths.size());
  input.position_ids = pointer(position_ids);
  input.embeddings = pointer(embeddings);
  input.embeddings_scale = embeddings_scale;
  input.key_mask = pointer(key_mask);
  input.pair_mask = pointer(pair_mask);
  input.cross_mask = pointer(cross_mask);
  input.head_mask = pointer(head_mask);
  input.head_mask_layers = head_mask_layers;
  return input;
}

GoldenInput golden_ids(const std::vector<std::int32_t>& ids, std::size_t batch) {
  GoldenInput input;
  input.length = ids.size() / batch;
  input.lengths.assign(batch, static_cast<std::uint32_t>(input.length));
  input.ids = ids;
  return input;
}

GoldenInput golden_input(const GoldenCase& golden, const std::string& call,
                         const std::string& prefix, Padding padding) {
  const bool embedded = golden.has(call, prefix + "inputs_embeds");
  std::vector<std::uint64_t> shape =
      golden.shape(call, prefix + (embedded ? "inputs_embeds" : "input_ids"));
  if (embedded) shape.pop_back();
  GoldenInput input;
  input.length = static_cast<std::size_t>(shape.back());
  shape.pop_back();
  std::size_t batch = 1;  // of choices, too: [questions, choices, length]
  for (const std::uint64_t extent : shape) batch *= static_cast<std::size_t>(extent);
  input.lengths.assign(batch, static_cast<std::uint32_t>(input.length));

  if (golden.has(call, prefix + "attention_mask")) {
    const std::vector<std::int32_t> mask = golden.ints(call, prefix + "attention_mask");
    if (mask.size() == batch * input.length)
      input.key_mask = take_mask(mask, input.lengths, padding);
    else
      input.pair_mask = to_bytes(mask);
  }
  const auto take_ints = [&](const char* name) {
    if (!golden.has(call, prefix + name)) return std::vector<std::int32_t>();
    return take_rows(golden.ints(call, prefix + name), input.lengths, input.length, 1);
  };
  input.ids = take_ints("input_ids");
  input.type_ids = take_ints("token_type_ids");
  if (golden.has(call, prefix + "position_ids")) {
    input.position_ids =
        take_rows(golden.positions(call, prefix + "position_ids"), input.lengths, input.length, 1);
  }
  if (embedded) {
    input.embedding_width =
        static_cast<std::size_t>(golden.shape(call, prefix + "inputs_embeds").back());
    input.embeddings =
        take_rows(to_int16(golden.floats(call, prefix + "inputs_embeds"), input.embeddings_scale),
                  input.lengths, input.length, input.embedding_width);
  }
  if (golden.has(call, "head_mask")) {
    const std::vector<std::uint64_t> extents = golden.shape(call, "head_mask");
    if (extents.size() == 2) input.head_mask_layers = static_cast<std::uint32_t>(extents[0]);
    for (const float factor : golden.floats(call, "head_mask"))
      input.head_mask.push_back(static_cast<std::int32_t>(std::lround(factor * 32768.0F)));
  }
  if (golden.has(call, "encoder_attention_mask") &&
      golden.shape(call, "encoder_attention_mask").size() == 3) {
    const std::vector<std::int32_t> mask = golden.ints(call, "encoder_attention_mask");
    const std::size_t keys = mask.size() / (batch * input.length);
    input.cross_mask = to_bytes(take_rows(mask, input.lengths, input.length, keys));
  }
  return input;
}

GoldenSource golden_source(const GoldenCase& golden, const std::string& call, Padding padding) {
  const std::vector<std::uint64_t> shape = golden.shape(call, "encoder_hidden_states");
  GoldenSource source;
  source.length = static_cast<std::size_t>(shape[1]);
  source.lengths.assign(static_cast<std::size_t>(shape[0]), static_cast<std::uint32_t>(shape[1]));
  if (golden.has(call, "encoder_attention_mask") &&
      golden.shape(call, "encoder_attention_mask").size() == 2) {
    source.mask = take_mask(golden.ints(call, "encoder_attention_mask"), source.lengths, padding);
  }
  source.states = take_rows(to_int16(golden.floats(call, "encoder_hidden_states"), source.scale),
                            source.lengths, source.length, static_cast<std::size_t>(shape[2]));
  return source;
}

GoldenInput golden_slice(const GoldenInput& input, const std::vector<std::size_t>& begin,
                         const std::vector<std::size_t>& end) {
  GoldenInput out;
  std::size_t first = 0;
  for (std::size_t text = 0; text < input.lengths.size(); ++text) {
    const auto take = [&](const auto& from, auto& to) {
      if (from.empty()) return;
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(first + begin[text]),
                from.begin() + static_cast<std::ptrdiff_t>(first + end[text]));
    };
    take(input.ids, out.ids);
    take(input.type_ids, out.type_ids);
    take(input.key_mask, out.key_mask);
    out.lengths.push_back(static_cast<std::uint32_t>(end[text] - begin[text]));
    out.length = std::max(out.length, end[text] - begin[text]);
    first += input.lengths[text];
  }
  return out;
}

}  // namespace embert::test
