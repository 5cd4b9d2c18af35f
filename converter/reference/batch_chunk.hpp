// SPDX-License-Identifier: Apache-2.0
// A batch is checked against its stack and cut into chunks of whole texts that run together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace embert::convert {

struct StackConfig;
struct TokenBatch;

/// Throws ConvertError where the arrays of `batch` contradict each other or the stack.
void check_batch(const TokenBatch& batch, const StackConfig& config);

/// Texts that run together. Pointers lead to the chunk's part of the batch's arrays and are null
/// where the batch has no such array.
struct BatchChunk {
  std::span<const std::int32_t> lengths, source_lengths;
  std::size_t first_row = 0;  ///< the chunk's first row in the batch
  std::size_t rows = 0, source_rows = 0;
  const std::int32_t* ids = nullptr;
  const std::int32_t* type_ids = nullptr;
  const std::int32_t* position_ids = nullptr;
  const float* inputs_embeds = nullptr;
  const std::uint8_t* key_mask = nullptr;
  const std::uint8_t* query_key_mask = nullptr;
  const float* head_mask = nullptr;
  const float* encoder_states = nullptr;
  const std::uint8_t* source_key_mask = nullptr;
  const std::uint8_t* source_query_key_mask = nullptr;
};

/// The chunks of a checked batch, in order. `batch` must outlive them.
std::vector<BatchChunk> chunks_of(const TokenBatch& batch, const StackConfig& config);

}  // namespace embert::convert
