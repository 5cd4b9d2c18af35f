// SPDX-License-Identifier: Apache-2.0
#include "converter/convert.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "converter/convert_error.hpp"
#include "converter/export/selftest_section.hpp"
#include "converter/export/write_tokenizer_section.hpp"
#include "converter/import/read_model_folder.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "converter/verify/verify.hpp"

namespace embert::convert {
namespace {

// Random ids show less of what a model can reach than text does.
constexpr double kRandomHeadroom = 0.025;

struct Tokenizer {
  std::vector<std::uint8_t> section;  // empty: the folder has none
  std::uint32_t unknown_id = 0;
  std::optional<std::uint32_t> max_tokens;
  int special_tokens = 0;  // that its template adds to one text
};

// Where words come out, those beyond the tokenizer's tokens have no text.
void warn_of_words(const ModelConfig& config, std::size_t tokens,
                   std::vector<std::string>& warnings) {
  if (config.language_head == LanguageHeadKind::kNone) return;
  const int words = config.last().vocab_size;
  if (config.first().vocab_size != words) {
    warnings.push_back("the decoder has a vocabulary of its own, " + std::to_string(words) +
                       " words: what it generates shows as ids");
  } else if (tokens < static_cast<std::size_t>(words)) {
    warnings.push_back("tokenizer: " + std::to_string(tokens) + " tokens of vocab_size " +
                       std::to_string(words) + ": the words behind them have no text");
  }
}

Tokenizer read_section(const ModelFolder& folder, std::vector<std::string>& warnings) {
  Tokenizer out;
  const std::optional<TokenizerSpec> spec = read_tokenizer(folder.transformer_folder, warnings);
  if (!spec) return out;
  if (spec->tokens.size() > static_cast<std::size_t>(folder.config.first().vocab_size)) {
    throw ConvertError("tokenizer: " + std::to_string(spec->tokens.size()) +
                       " tokens, but config.json says vocab_size " +
                       std::to_string(folder.config.first().vocab_size));
  }
  warn_of_words(folder.config, spec->tokens.size(), warnings);
  out.section = write_tokenizer_section(*spec);
  out.unknown_id = spec->unk_id;
  out.max_tokens = spec->max_tokens;
  out.special_tokens =
      static_cast<int>(std::ranges::count_if(spec->single, [](const TemplatePieceSpec& piece) {
        return piece.kind == TemplatePieceSpec::Kind::kToken;
      }));
  return out;
}

int choose_max_tokens(const ConvertOptions& options, const ModelFolder& folder,
                      const Tokenizer& tokenizer) {
  // Of the shorter stack: a source and its target have one default length.
  const int positions = std::min(folder.config.first().max_position_embeddings,
                                 folder.config.last().max_position_embeddings);
  const int least = tokenizer.special_tokens + 1;
  // A value of the folder may be larger than the model, but not too small for any text.
  const auto take = [&](const std::string& name, std::int64_t value) {
    if (value < least) {
      throw ConvertError(name + " " + std::to_string(value) + " leaves no room for text beside " +
                         std::to_string(tokenizer.special_tokens) + " special tokens; at least " +
                         std::to_string(least) + " is needed");
    }
    return static_cast<int>(std::min<std::int64_t>(value, positions));
  };
  take("config.json: max_position_embeddings", positions);
  if (options.max_tokens) {
    if (*options.max_tokens < least || *options.max_tokens > positions) {
      throw ConvertError("--max-tokens " + std::to_string(*options.max_tokens) +
                         ": the model takes " + std::to_string(least) + " to " +
                         std::to_string(positions) +
                         (tokenizer.special_tokens > 0 ? ", special tokens included" : ""));
    }
    return *options.max_tokens;
  }
  if (folder.pooling.max_seq_length) {
    return take("sentence_bert_config.json: max_seq_length", *folder.pooling.max_seq_length);
  }
  if (tokenizer.max_tokens) {
    return take("tokenizer.json: truncation: max_length", *tokenizer.max_tokens);
  }
  return positions;
}

std::uint32_t blob_pooling(PoolingKind kind) {
  switch (kind) {
    case PoolingKind::kMean:
      return kPoolingMean;
    case PoolingKind::kCls:
      return kPoolingCls;
    case PoolingKind::kMax:
      return kPoolingMax;
  }
  return kPoolingMean;
}

// The certificate's part that says how the model was made.
nlohmann::ordered_json describe_calibration(const ConvertOptions& options,
                                            const ConvertResult& result) {
  nlohmann::ordered_json json;
  json["rounding"] = options.rounding == Rounding::kNearest ? "nearest" : "gptq";
  json["calibration"] = calibration_source_name(result.source);
  json["calibration_texts"] = result.calibration_texts;
  json["calibration_tokens"] = result.calibration_tokens;
  return json;
}

}  // namespace

ConvertResult convert(const ConvertOptions& options) {
  const auto report = [&](const char* step, double done) {
    if (options.progress) options.progress(step, done);
  };
  if (options.calibration_texts && options.calibration_ids) {
    throw ConvertError("--calibration and --calibration-ids exclude each other");
  }
  ConvertResult result;
  report("reading", 0);
  ModelFolder folder = read_model_folder(options.folder);
  result.warnings = folder.warnings;
  const Tokenizer tokenizer = read_section(folder, result.warnings);
  result.max_tokens = choose_max_tokens(options, folder, tokenizer);
  const GatheredTokens tokens =
      gather_tokens({folder.config, tokenizer.section, tokenizer.unknown_id, result.max_tokens,
                     options.calibration_texts, options.calibration_ids},
                    result.warnings);
  result.source = tokens.source;
  result.calibration_texts = tokens.calibration.texts.lengths.size();
  result.calibration_tokens = tokens.calibration.tokens();

  FloatModel floats(folder.config, folder.weights, options.threads);
  Workers workers(options.threads);
  QuantizeOptions quantize_options;
  quantize_options.rounding = options.rounding;
  if (result.source == CalibrationSource::kRandomIds) quantize_options.headroom = kRandomHeadroom;
  constexpr double kBefore = 0.03, kAfter = 0.9;  // of the whole, by time
  const QuantizeResult quantized =
      quantize_model(folder.config, folder.weights, floats, tokens.calibration, quantize_options,
                     workers, [&](const std::string& step, double done) {
                       report(step.c_str(), kBefore + done * (kAfter - kBefore));
                     });
  result.layers = quantized.layers;
  result.heads = quantized.heads;
  result.warnings.insert(result.warnings.end(), quantized.warnings.begin(),
                         quantized.warnings.end());

  BlobExtras extras;
  extras.max_tokens = static_cast<std::uint32_t>(result.max_tokens);
  extras.pooling = blob_pooling(folder.pooling.kind);
  extras.normalize = folder.pooling.normalize;
  extras.tokenizer = tokenizer.section;
  (quantized.model.token_classifier ? extras.token_labels : extras.labels) =
      folder.config.label_names;
  if (options.certify) {
    report("certifying", kAfter);
    nlohmann::ordered_json certificate = describe_calibration(options, result);
    if (tokenizer.section.empty() && tokens.certificate.texts.lengths.empty()) {
      certificate["not_compared"] = "of fewer than " + std::to_string(kHeldOutOf) +
                                    " texts of calibration ids none is held back";
    } else {
      certificate["held_out"] =
          certify(folder, floats, write_blob(quantized.model, extras), options.isa_mask,
                  static_cast<std::uint32_t>(options.threads), tokens.certificate);
    }
    result.certificate = certificate.dump();
    extras.certificate = result.certificate;
  }
  extras.selftest = make_selftest(quantized.model, folder.config, extras);
  report("packing", 0.98);
  result.blob = write_blob(quantized.model, extras, &result.sizes);
  report("done", 1);
  return result;
}

}  // namespace embert::convert
