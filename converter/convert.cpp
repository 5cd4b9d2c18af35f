// SPDX-License-Identifier: Apache-2.0
#include "converter/convert.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "converter/calibration_text.hpp"
#include "converter/calibration_tokens.hpp"
#include "converter/read_model_folder.hpp"
#include "converter/read_tokenizer.hpp"
#include "converter/verify.hpp"
#include "converter/write_tokenizer_section.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kRandomTexts = 512, kRandomCertificateTexts = 64;
constexpr std::uint64_t kSeed = 0x656d62657274;
constexpr std::size_t kHeldOutOf = 7;  // one in so many texts of an id file is for the certificate

struct Tokenizer {
  std::vector<std::uint8_t> section;  // empty: the folder has none
  std::uint32_t unknown_id = 0;
  std::optional<std::uint32_t> max_tokens;
  int special_tokens = 0;  // that its template adds to one text
};

Tokenizer read_section(const ModelFolder& folder, std::vector<std::string>& warnings) {
  Tokenizer out;
  const std::optional<TokenizerSpec> spec = read_tokenizer(folder.transformer_folder, warnings);
  if (!spec) return out;
  if (spec->tokens.size() > static_cast<std::size_t>(folder.config.first().vocab_size)) {
    throw ConvertError("tokenizer: " + std::to_string(spec->tokens.size()) +
                       " tokens, but config.json says vocab_size " +
                       std::to_string(folder.config.first().vocab_size));
  }
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
  const int positions = folder.config.first().max_position_embeddings;
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

// Texts to calibrate on, and texts kept back for the certificate of a model without tokenizer;
// others are compared on the built-in texts.
struct Tokens {
  TokenBatch calibration, certificate;
};

Tokens gather_tokens(const ConvertOptions& options, const ModelFolder& folder,
                     const Tokenizer& tokenizer, ConvertResult& result) {
  Tokens tokens;
  if (options.calibration_ids) {
    result.source = CalibrationSource::kIdFile;
    TokenBatch all =
        read_id_file(*options.calibration_ids, folder.config.first(), result.max_tokens);
    if (!tokenizer.section.empty()) {
      tokens.calibration = std::move(all);
      return tokens;
    }
    tokens.certificate = every_nth(all, kHeldOutOf, kHeldOutOf - 1, false);
    tokens.calibration = every_nth(all, kHeldOutOf, kHeldOutOf - 1, true);
    if (options.certify && tokens.certificate.lengths.empty()) {
      result.warnings.push_back("calibration ids: fewer than " + std::to_string(kHeldOutOf) +
                                " texts; none held back, so the certificate compares nothing");
    }
    return tokens;
  }
  if (tokenizer.section.empty()) {
    if (options.calibration_texts) {
      throw ConvertError("--calibration: the folder has no tokenizer; give --calibration-ids");
    }
    result.source = CalibrationSource::kRandomIds;
    result.warnings.push_back(
        "no tokenizer: calibrated on random ids; text calls on this blob get a status");
    tokens.calibration = random_ids(folder.config.first(), result.max_tokens, kRandomTexts, kSeed);
    tokens.certificate =
        random_ids(folder.config.first(), result.max_tokens, kRandomCertificateTexts, kSeed + 1);
    return tokens;
  }
  std::vector<std::string> lines;
  std::vector<std::string_view> texts;
  if (options.calibration_texts) {
    result.source = CalibrationSource::kTextFile;
    lines = read_text_lines(*options.calibration_texts);
    texts.assign(lines.begin(), lines.end());
  } else {
    const auto builtin = builtin_calibration_texts();
    texts.assign(builtin.begin(), builtin.end());
  }
  const std::vector<std::string> documents = join_texts(texts, result.max_tokens);
  texts.insert(texts.end(), documents.begin(), documents.end());
  tokens.calibration =
      tokenize_texts(tokenizer.section, folder.config.first(), result.max_tokens, texts);
  const double unknown = unknown_share(tokens.calibration.ids, tokens.calibration.lengths,
                                       static_cast<std::int32_t>(tokenizer.unknown_id));
  if (unknown >= kMostlyUnknownShare) {
    result.warnings.push_back(std::to_string(static_cast<int>(unknown * 100)) +
                              " % of the calibration text is unknown to the vocabulary; give text "
                              "of the model's language "
                              "with --calibration FILE");
  }
  return tokens;
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

// `measured` may be null: nothing to compare on.
std::string make_certificate(const ConvertOptions& options, const ConvertResult& result,
                             const nlohmann::ordered_json& measured) {
  nlohmann::ordered_json json;
  json["rounding"] = options.rounding == Rounding::kNearest ? "nearest" : "gptq";
  json["calibration"] = calibration_source_name(result.source);
  json["calibration_texts"] = result.calibration_texts;
  json["calibration_tokens"] = result.calibration_tokens;
  if (!measured.is_null()) json["held_out"] = measured;
  return json.dump();
}

}  // namespace

const char* calibration_source_name(CalibrationSource source) {
  switch (source) {
    case CalibrationSource::kBuiltinText:
      return "built-in text";
    case CalibrationSource::kTextFile:
      return "text file";
    case CalibrationSource::kIdFile:
      return "id file";
    case CalibrationSource::kRandomIds:
      return "random ids";
  }
  return "";
}

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
  const Tokens tokens = gather_tokens(options, folder, tokenizer, result);
  result.calibration_texts = tokens.calibration.lengths.size();
  result.calibration_tokens = tokens.calibration.ids.size();

  FloatModel floats(folder.config, folder.weights, options.threads);
  Workers workers(options.threads);
  QuantizeOptions quantize_options;
  quantize_options.rounding = options.rounding;
  constexpr double kBefore = 0.03, kAfter = 0.9;  // of the whole, by time
  const QuantizeResult quantized =
      quantize_model(folder.config, folder.weights, floats, tokens.calibration, quantize_options,
                     workers, [&](const std::string& step, double done) {
                       report(step.c_str(), kBefore + done * (kAfter - kBefore));
                     });
  result.layers = quantized.layers;
  result.pooler_error = quantized.pooler_error;
  result.classifier_error = quantized.classifier_error;
  result.has_pooler = quantized.model.pooler.has_value();
  result.has_classifier = quantized.model.classifier.has_value();
  result.warnings.insert(result.warnings.end(), quantized.warnings.begin(),
                         quantized.warnings.end());

  BlobExtras extras;
  extras.max_tokens = static_cast<std::uint32_t>(result.max_tokens);
  extras.pooling = blob_pooling(folder.pooling.kind);
  extras.normalize = folder.pooling.normalize;
  extras.tokenizer = tokenizer.section;
  extras.labels = folder.config.label_names;
  if (options.certify) {
    report("certifying", kAfter);
    nlohmann::ordered_json measured;
    if (!tokenizer.section.empty() || !tokens.certificate.lengths.empty()) {
      measured = embert::convert::certify(
          folder, floats, write_blob(quantized.model, extras), options.isa_mask,
          static_cast<std::uint32_t>(options.threads), tokens.certificate);
    }
    result.certificate = make_certificate(options, result, measured);
    extras.certificate = result.certificate;
  }
  report("packing", 0.98);
  result.blob = write_blob(quantized.model, extras, &result.sizes);
  report("done", 1);
  return result;
}

}  // namespace embert::convert
