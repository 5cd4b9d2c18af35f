// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/integer_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <string>

#include "converter/convert_error.hpp"
#include "embert/embert_host.h"
#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "embert/embert_tokenizer.h"
#include "runtime/format/blob_format.hpp"

namespace embert::convert {
namespace {

void require_ok(embert_status status, const char* what) {
  if (status != EMBERT_STATUS_OK) {
    throw ConvertError(std::string(what) + " gave " + embert_status_name(status));
  }
}

double real_scale(embert_scale scale) { return static_cast<double>(embert_scale_to_float(scale)); }

// Appends rows of zeros; the pointer to them is valid until the next call.
std::int32_t* append_rows(TextVectors& vectors, std::size_t rows) {
  const std::size_t before = vectors.values.size();
  vectors.values.resize(before + rows * vectors.width);
  return vectors.values.data() + before;
}

// A batch as the runtime takes it; refers to `batch`.
struct RuntimeInput {
  explicit RuntimeInput(const TokenBatch& batch)
      : lengths(batch.lengths.begin(), batch.lengths.end()) {
    input.ids = batch.ids.data();
    input.type_ids = batch.type_ids.empty() ? nullptr : batch.type_ids.data();
    input.lengths = lengths.data();
    input.batch = static_cast<std::uint32_t>(lengths.size());
  }
  RuntimeInput(const RuntimeInput&) = delete;
  RuntimeInput& operator=(const RuntimeInput&) = delete;

  std::vector<std::uint32_t> lengths;
  embert_input input = {.size = sizeof(input)};
};

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
  require_ok(embert_model_open(bytes, blob.size(), options.isa_mask, &model_), "embert_model_open");
  require_ok(embert_model_get_info(&model_, &info_), "embert_model_get_info");
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
  require_ok(embert_arena_bytes(&model_, &options_, &arena_bytes_), "embert_arena_bytes");
  arena_ = allocate(arena_bytes_);
  restart();
}

IntegerModel::~IntegerModel() = default;

void IntegerModel::restart() {
  require_ok(embert_engine_init(&model_, &options_, arena_.get(), arena_bytes_, &engine_),
             "embert_engine_init");
}

TokenBatch IntegerModel::tokenize(std::span<const std::string_view> texts) const {
  embert_tokenize_options options = embert_tokenize_options_default(&model_);
  options.max_tokens = static_cast<std::int32_t>(options_.max_tokens);
  TokenBatch batch;
  std::vector<std::int32_t> ids(options_.max_tokens), types(options_.max_tokens);
  for (const std::string_view text : texts) {
    embert_tokens tokens = {.size = sizeof(tokens)};
    tokens.capacity = ids.size();
    tokens.ids = ids.data();
    tokens.type_ids = types.data();
    const embert_text one = {.text = text.data(), .text_bytes = text.size()};
    require_ok(embert_tokenize(&model_, &one, &options, &tokens), "embert_tokenize");
    const auto length = static_cast<std::ptrdiff_t>(tokens.length);
    batch.ids.insert(batch.ids.end(), ids.begin(), ids.begin() + length);
    batch.type_ids.insert(batch.type_ids.end(), types.begin(), types.begin() + length);
    batch.lengths.push_back(static_cast<std::int32_t>(length));
  }
  return batch;
}

std::vector<std::int32_t> IntegerModel::tokenize_whole(std::string_view text) const {
  embert_tokenize_options options = embert_tokenize_options_default(&model_);
  options.max_tokens = 0;
  const embert_text one = {.text = text.data(), .text_bytes = text.size()};
  embert_tokens tokens = {.size = sizeof(tokens)};
  std::vector<std::int32_t> ids(text.size() / 2 + 16);  // enough for most texts
  tokens.capacity = ids.size();
  tokens.ids = ids.data();
  embert_status status = embert_tokenize(&model_, &one, &options, &tokens);
  ids.resize(tokens.length);
  if (status == EMBERT_STATUS_BUFFER_TOO_SMALL) {
    tokens.capacity = ids.size();
    tokens.ids = ids.data();
    status = embert_tokenize(&model_, &one, &options, &tokens);
  }
  require_ok(status, "embert_tokenize");
  return ids;
}

std::uint32_t IntegerModel::selftest() {
  std::uint32_t checksum = 0;
  const embert_status status = embert_selftest(engine_, &checksum);
  if (status != EMBERT_STATUS_SELFTEST_FAILED) require_ok(status, "embert_selftest");
  return checksum;
}

void IntegerModel::set_sources(const ModelBatch& part) {
  if (!part.sources.lengths.empty()) {
    const RuntimeInput sources(part.sources);
    return require_ok(embert_encode_source(engine_, &sources.input, nullptr),
                      "embert_encode_source");
  }
  const std::vector<float>& states = part.texts.encoder_states;
  float most = 0;
  for (const float value : states) most = std::max(most, std::fabs(value));
  const float scale = most > 0 ? most / 32767 : 1;
  std::vector<std::int16_t> codes;
  codes.reserve(states.size());
  for (const float value : states) {
    codes.push_back(static_cast<std::int16_t>(std::floor(value / scale + 0.5F)));
  }
  const std::vector<std::uint32_t> lengths(part.texts.source_lengths.begin(),
                                           part.texts.source_lengths.end());
  const embert_source source = {.size = sizeof(source),
                                .states = codes.data(),
                                .lengths = lengths.data(),
                                .batch = static_cast<std::uint32_t>(lengths.size()),
                                .scale = {std::bit_cast<std::uint32_t>(scale)}};
  require_ok(embert_set_source(engine_, &source), "embert_set_source");
}

template <typename Run>
void IntegerModel::for_parts(const ModelBatch& batch, const Run& run) {
  for (const ModelBatch& part : cut_batch(batch, options_.max_batch)) {
    if (info_.cross_hidden_size != 0) {
      set_sources(part);
    } else if (info_.is_decoder != 0) {
      require_ok(embert_cache_clear(engine_), "embert_cache_clear");
    }
    const RuntimeInput texts(part.texts);
    run(texts.input, part.texts.ids.size());
  }
}

template <typename Call>
TextVectors IntegerModel::rows_of(const ModelBatch& batch, const char* name, std::size_t width,
                                  const Call& call) {
  TextVectors result;
  result.width = width;
  std::vector<std::int16_t> rows(options_.max_batch * result.width);
  for_parts(batch, [&](const embert_input& input, std::size_t) {
    embert_scale scale = {};
    require_ok(call(input, rows.data(), &scale), name);
    result.scale = real_scale(scale);
    std::copy_n(rows.begin(), input.batch * result.width, append_rows(result, input.batch));
  });
  return result;
}

TextVectors IntegerModel::embed(const ModelBatch& batch) {
  return rows_of(batch, "embert_embed", info_.vector_size,
                 [&](const embert_input& input, std::int16_t* rows, embert_scale* scale) {
                   return embert_embed(engine_, &input, EMBERT_POOLING_MODEL, rows, scale);
                 });
}

TextVectors IntegerModel::pooler_output(const ModelBatch& batch) {
  return rows_of(batch, "embert_pooler_output", info_.hidden_size,
                 [&](const embert_input& input, std::int16_t* rows, embert_scale* scale) {
                   return embert_pooler_output(engine_, &input, rows, scale);
                 });
}

TextVectors IntegerModel::classify(const ModelBatch& batch) {
  TextVectors result;
  result.width = info_.num_labels;
  for_parts(batch, [&](const embert_input& input, std::size_t) {
    embert_scale scale = {};
    require_ok(embert_classify(engine_, &input, append_rows(result, input.batch), &scale),
               "embert_classify");
    result.scale = real_scale(scale);
  });
  return result;
}

TextVectors IntegerModel::last_hidden_state(const ModelBatch& batch) {
  TextVectors result;
  result.width = info_.hidden_size;
  for_parts(batch, [&](const embert_input& input, std::size_t tokens) {
    embert_scale scale = {};
    const std::int16_t* hidden = nullptr;
    require_ok(embert_last_hidden_state(engine_, &input, &hidden, &scale),
               "embert_last_hidden_state");
    result.scale = real_scale(scale);
    std::copy_n(hidden, tokens * result.width, append_rows(result, tokens));
  });
  return result;
}

std::vector<TextVectors> IntegerModel::hidden_states(const ModelBatch& batch) {
  const std::size_t count = info_.num_layers + 1, width = info_.hidden_size;
  std::vector<TextVectors> result(count);
  std::vector<embert_scale> scales(count);
  for_parts(batch, [&](const embert_input& input, std::size_t tokens) {
    std::vector<std::int16_t> states(count * tokens * width);  // [count][tokens][width]
    embert_output output = {.size = sizeof(output)};
    output.hidden_states = states.data();
    output.hidden_state_scales = scales.data();
    require_ok(embert_run(engine_, &input, &output), "embert_run");
    for (std::size_t l = 0; l < count; ++l) {
      result[l].width = width;
      result[l].scale = real_scale(scales[l]);
      std::copy_n(states.data() + l * tokens * width, tokens * width,
                  append_rows(result[l], tokens));
    }
  });
  return result;
}

TextVectors IntegerModel::classify_tokens(const ModelBatch& batch) {
  TextVectors result;
  result.width = info_.num_token_labels;
  for_parts(batch, [&](const embert_input& input, std::size_t tokens) {
    embert_output output = {.size = sizeof(output)};
    output.token_logits = append_rows(result, tokens);
    require_ok(embert_run(engine_, &input, &output), "embert_run");
    result.scale = real_scale(output.token_logits_scale);
  });
  return result;
}

TextVectors IntegerModel::lm_logits(const ModelBatch& batch, std::span<const std::size_t> asked) {
  TextVectors result;
  result.width = info_.vocab_size;
  std::size_t text = 0;
  for_parts(batch, [&](const embert_input& input, std::size_t) {
    const std::int16_t* hidden = nullptr;
    embert_output output = {.size = sizeof(output)};
    output.hidden = &hidden;
    require_ok(embert_run(engine_, &input, &output), "embert_run");
    std::size_t first_row = 0;
    for (std::uint32_t i = 0; i < input.batch; ++i) {
      embert_scale scale = {};
      const auto row = static_cast<std::uint32_t>(first_row + asked[text++]);
      require_ok(embert_lm_logits(engine_, row, append_rows(result, 1), &scale),
                 "embert_lm_logits");
      result.scale = real_scale(scale);
      first_row += input.lengths[i];
    }
  });
  return result;
}

}  // namespace embert::convert
