// SPDX-License-Identifier: Apache-2.0
#include "converter/integer_model.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <string>

#include "converter/convert_error.hpp"
#include "runtime/format/blob_format.hpp"

namespace embert::convert {
namespace {

void check(embert_status status, const char* what) {
  if (status != EMBERT_STATUS_OK) {
    throw ConvertError(std::string(what) + " gave " + embert_status_name(status));
  }
}

/// Gets a piece of a batch.
using RunPiece =
    std::function<void(const embert_input& input, std::size_t first_text, std::size_t tokens)>;

/// Hands `batch` to `run` in pieces of up to `max_batch` texts.
void for_pieces(const TokenBatch& batch, std::size_t max_batch, const RunPiece& run) {
  std::vector<std::uint32_t> lengths(batch.lengths.begin(), batch.lengths.end());
  std::size_t token = 0;
  for (std::size_t text = 0; text < lengths.size();) {
    const std::size_t count = std::min(max_batch, lengths.size() - text);
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < count; ++i) tokens += lengths[text + i];
    embert_input input = {};
    input.ids = batch.ids.data() + token;
    input.type_ids = batch.type_ids.empty() ? nullptr : batch.type_ids.data() + token;
    input.lengths = lengths.data() + text;
    input.batch = static_cast<std::uint32_t>(count);
    run(input, text, tokens);
    text += count;
    token += tokens;
  }
}

}  // namespace

void IntegerModel::AlignedDelete::operator()(std::uint8_t* bytes) const {
  ::operator delete[](bytes, std::align_val_t{kBlobAlignment});
}

IntegerModel::AlignedBytes IntegerModel::allocate(std::size_t bytes) {
  return AlignedBytes(
      static_cast<std::uint8_t*>(::operator new[](bytes, std::align_val_t{kBlobAlignment})));
}

IntegerModel::IntegerModel(std::span<const std::uint8_t> blob, const Options& options) {
  const std::uint8_t* bytes = blob.data();
  if (reinterpret_cast<std::uintptr_t>(bytes) % kBlobAlignment != 0) {
    copy_ = allocate(blob.size());
    std::memcpy(copy_.get(), bytes, blob.size());
    bytes = copy_.get();
  }
  check(embert_model_open(bytes, blob.size(), options.isa_mask, &model_), "embert_model_open");
  check(embert_model_get_info(&model_, &info_), "embert_model_get_info");
  options_ = embert_options_default(&model_);
  if (options.max_tokens != 0)
    options_.max_tokens = std::min(options.max_tokens, info_.max_positions);
  options_.max_batch = options.max_batch;
  if (options.threads > 1) {
    pool_.reset(embert_thread_pool_create(options.threads));
    if (pool_ == nullptr) throw ConvertError("can not start a thread pool");
    options_.threads = embert_thread_pool_threads(pool_.get());
    options_.parallel_for = embert_thread_pool_parallel_for;
    options_.parallel_context = pool_.get();
  }
  check(embert_arena_bytes(&model_, &options_, &arena_bytes_), "embert_arena_bytes");
  arena_ = allocate(arena_bytes_);
  restart();
}

IntegerModel::~IntegerModel() = default;

void IntegerModel::restart() {
  check(embert_engine_init(&model_, &options_, arena_.get(), arena_bytes_, &engine_),
        "embert_engine_init");
}

TokenBatch IntegerModel::tokenize(std::span<const std::string_view> texts) const {
  embert_tokenize_options options = embert_tokenize_options_default(&model_);
  options.max_tokens = static_cast<std::int32_t>(options_.max_tokens);
  TokenBatch batch;
  std::vector<std::int32_t> ids(options_.max_tokens), types(options_.max_tokens);
  for (const std::string_view text : texts) {
    embert_encoding encoding = {};
    encoding.capacity = ids.size();
    encoding.ids = ids.data();
    encoding.type_ids = types.data();
    check(embert_tokenize(&model_, text.data(), text.size(), nullptr, 0, &options, &encoding),
          "embert_tokenize");
    const auto length = static_cast<std::ptrdiff_t>(encoding.length);
    batch.ids.insert(batch.ids.end(), ids.begin(), ids.begin() + length);
    batch.type_ids.insert(batch.type_ids.end(), types.begin(), types.begin() + length);
    batch.lengths.push_back(static_cast<std::int32_t>(length));
  }
  return batch;
}

template <typename Call>
TextVectors IntegerModel::rows_of(const TokenBatch& batch, const char* name, const Call& call) {
  TextVectors result;
  result.width = info_.hidden_size;
  result.values.reserve(batch.lengths.size() * result.width);
  std::vector<std::int16_t> rows(options_.max_batch * result.width);
  for_pieces(batch, options_.max_batch, [&](const embert_input& input, std::size_t, std::size_t) {
    embert_scale scale = {};
    check(call(input, rows.data(), &scale), name);
    result.scale = static_cast<double>(embert_scale_to_float(scale));
    result.values.insert(result.values.end(), rows.begin(),
                         rows.begin() + static_cast<std::ptrdiff_t>(input.batch * result.width));
  });
  return result;
}

TextVectors IntegerModel::embed(const TokenBatch& batch) {
  return rows_of(batch, "embert_embed",
                 [&](const embert_input& input, std::int16_t* rows, embert_scale* scale) {
                   return embert_embed(engine_, &input, EMBERT_POOLING_MODEL, rows, scale);
                 });
}

TextVectors IntegerModel::pool(const TokenBatch& batch) {
  return rows_of(batch, "embert_pool",
                 [&](const embert_input& input, std::int16_t* rows, embert_scale* scale) {
                   return embert_pool(engine_, &input, rows, scale);
                 });
}

TextVectors IntegerModel::classify(const TokenBatch& batch) {
  TextVectors result;
  result.width = info_.num_labels;
  result.values.resize(batch.lengths.size() * result.width);
  for_pieces(batch, options_.max_batch,
             [&](const embert_input& input, std::size_t first_text, std::size_t) {
               embert_scale scale = {};
               check(embert_classify(engine_, &input,
                                     result.values.data() + first_text * result.width, &scale),
                     "embert_classify");
               result.scale = static_cast<double>(embert_scale_to_float(scale));
             });
  return result;
}

TextVectors IntegerModel::encode(const TokenBatch& batch) {
  TextVectors result;
  result.width = info_.hidden_size;
  result.values.reserve(batch.ids.size() * result.width);
  for_pieces(batch, options_.max_batch,
             [&](const embert_input& input, std::size_t, std::size_t tokens) {
               embert_scale scale = {};
               const std::int16_t* hidden = nullptr;
               check(embert_encode(engine_, &input, &hidden, &scale), "embert_encode");
               result.scale = static_cast<double>(embert_scale_to_float(scale));
               result.values.insert(result.values.end(), hidden, hidden + tokens * result.width);
             });
  return result;
}

}  // namespace embert::convert
