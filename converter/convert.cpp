// SPDX-License-Identifier: Apache-2.0
#include "converter/convert.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "converter/calibrate/tokens/builtin_texts.hpp"
#include "converter/calibrate/tokens/calibration_files.hpp"
#include "converter/calibrate/tokens/gather_tokens.hpp"
#include "converter/convert_error.hpp"
#include "converter/export/write_blob.hpp"
#include "converter/export/write_tokenizer_section.hpp"
#include "converter/import/read_model_folder.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "converter/quantize/embeddings_4bit.hpp"
#include "converter/quantize/quantize_model.hpp"
#include "converter/quantize/task_heads/quantize_vector.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/reference/float_vector.hpp"
#include "converter/verify/choose_planes.hpp"
#include "converter/verify/make_selftest.hpp"
#include "converter/verify/tokenize_texts.hpp"
#include "converter/verify/verify.hpp"
#include "converter/verify/vocabulary/compare_vocabularies.hpp"
#include "converter/vocabulary/choose_tokens.hpp"
#include "converter/vocabulary/prune_vocabulary.hpp"
#include "converter/workers.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

// Headroom of LayerNorms' outputs after random ids, which show less of a model's range than text.
// converter/README.md, "Ranges", has the measurement.
constexpr double kRandomHeadroom = 0.025;

struct ImportedTokenizer {
  std::optional<TokenizerSpec> spec;
  std::vector<std::uint8_t> section;  // empty: the folder has none
  std::uint32_t unknown_id = kNoToken;
  std::optional<std::uint32_t> max_tokens, model_max_length;
  int special_tokens = 0;  // that its template adds to one text
};

// A language head can name tokens that the tokenizer does not have.
void warn_of_missing_tokens(const ModelConfig& config, std::size_t tokens,
                            std::vector<std::string>& warnings) {
  if (config.language_head == LanguageHeadKind::kNone) return;
  const int vocabulary = config.last().vocab_size;
  if (config.first().vocab_size != vocabulary) {
    warnings.push_back("the decoder has a vocabulary of its own, " + std::to_string(vocabulary) +
                       " tokens: what it generates shows as ids");
  } else if (tokens < static_cast<std::size_t>(vocabulary)) {
    warnings.push_back("tokenizer: " + std::to_string(tokens) + " tokens of vocab_size " +
                       std::to_string(vocabulary) + ": the tokens behind them have no text");
  }
}

// DistilBERT and MPNet have tokenizers of two segments, but models of none: transformers leaves the
// segments out.
void use_one_segment(TokenizerSpec& spec) {
  for (auto* pieces : {&spec.single, &spec.pair}) {
    for (TemplatePieceSpec& piece : *pieces) piece.type_id = 0;
  }
}

// Static embeddings are trained without them.
void leave_out_special_tokens(TokenizerSpec& spec) {
  using Kind = TemplatePieceSpec::Kind;
  spec.single = {{.kind = Kind::kFirstText}};
  spec.pair = {{.kind = Kind::kFirstText}, {.kind = Kind::kSecondText}};
}

// Whether letter case makes no difference to the tokens of a text.
bool ignores_case(const TokenizerSpec& spec) {
  if (const auto* wordpiece = std::get_if<WordPieceSpec>(&spec.model)) return wordpiece->lowercase;
  const auto* unigram = std::get_if<UnigramSpec>(&spec.model);
  return unigram != nullptr &&
         std::ranges::any_of(unigram->normalizer, [](const NormalizerStep& step) {
           return step.kind == NormalizerStep::Kind::kLowercase ||
                  (step.kind == NormalizerStep::Kind::kBert && step.bert.lowercase);
         });
}

ImportedTokenizer import_tokenizer(const ModelFolder& folder, std::vector<std::string>& warnings) {
  ImportedTokenizer out;
  std::optional<TokenizerSpec> spec = read_tokenizer(folder.transformer_folder, warnings);
  if (!spec) return out;
  if (folder.config.first().type_vocab_size == 1) use_one_segment(*spec);
  if (folder.config.first().is_static) leave_out_special_tokens(*spec);
  if (spec->tokens.size() > static_cast<std::size_t>(folder.config.first().vocab_size)) {
    throw ConvertError("tokenizer: " + std::to_string(spec->tokens.size()) +
                       " tokens, but config.json says vocab_size " +
                       std::to_string(folder.config.first().vocab_size));
  }
  if (folder.pooling.lowercases_texts && !ignores_case(*spec)) {
    throw ConvertError(folder.pooling.sequence_file +
                       ": do_lower_case true is not supported with a tokenizer that keeps letter "
                       "case; set it to false, and give texts in lower case");
  }
  warn_of_missing_tokens(folder.config, spec->tokens.size(), warnings);
  out.section = write_tokenizer_section(*spec);
  out.unknown_id = spec->unk_id.value_or(kNoToken);
  out.max_tokens = spec->max_tokens;
  // sentence-transformers does not cut the texts of static embeddings.
  if (!folder.config.first().is_static) out.model_max_length = spec->model_max_length;
  out.special_tokens =
      static_cast<int>(std::ranges::count_if(spec->single, [](const TemplatePieceSpec& piece) {
        return piece.kind == TemplatePieceSpec::Kind::kToken;
      }));
  out.spec = std::move(spec);
  return out;
}

// The rows of the word embeddings that stay.
std::optional<KeptIds> choose_vocabulary(const VocabularyOptions& options,
                                         const ModelFolder& folder,
                                         const ImportedTokenizer& tokenizer) {
  if (!options.prune()) return std::nullopt;
  if (!tokenizer.spec) {
    throw ConvertError(
        "--keep-vocabulary, --scripts and --vocabulary-size need a tokenizer, and the folder has "
        "none");
  }
  TokenChoice choice;
  choice.scripts = options.scripts;
  choice.needed = ids_of_model(folder.config);
  if (options.size) choice.size = static_cast<std::size_t>(std::max(*options.size, 0));
  if (options.texts) {
    std::vector<std::string> prompts = {""};
    for (const auto& [name, text] : folder.prompts.texts) {
      if (!text.empty()) prompts.push_back(text);
    }
    choice.counts = count_tokens(tokenizer.section, folder.config.first(),
                                 read_filled_lines(*options.texts), prompts);
    choice.counts.resize(tokenizer.spec->tokens.size());
  }
  std::vector<bool> kept = choose_tokens(*tokenizer.spec, choice);
  // Rows without a token are of no use but to the model itself.
  kept.resize(static_cast<std::size_t>(folder.config.first().vocab_size));
  for (const std::uint32_t id : choice.needed) kept[id] = true;
  return KeptIds(kept);
}

int choose_max_tokens(const ConvertOptions& options, const ModelFolder& folder,
                      const ImportedTokenizer& tokenizer) {
  // The shorter stack decides, because a source and its target have one default length.
  const int positions = std::min(folder.config.first().max_position_embeddings,
                                 folder.config.last().max_position_embeddings);
  const int least = tokenizer.special_tokens + 1;
  // The folder may state more tokens than the model has positions, but not too few for any text.
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
    return take(folder.pooling.sequence_file + ": max_seq_length", *folder.pooling.max_seq_length);
  }
  int most = positions;
  if (tokenizer.max_tokens) {
    most = take("tokenizer.json: truncation: max_length", *tokenizer.max_tokens);
  }
  if (tokenizer.model_max_length) {
    most = std::min(most,
                    take("tokenizer_config.json: model_max_length", *tokenizer.model_max_length));
  }
  return most;
}

// A head that is tied to the word embeddings reads them as rows of 8 bits.
void require_4bit_possible(const ModelFolder& folder) {
  if (folder.config.stacks.size() > 1) {
    throw ConvertError(
        "--embeddings 4bit: the folder has an encoder and a decoder, whose word embeddings have 8 "
        "bits; leave the option out");
  }
  const auto& head = folder.weights.language_head;
  if (head && !head->output_embeddings) {
    throw ConvertError(
        "--embeddings 4bit: the model predicts tokens with its word embeddings, which have 8 bits "
        "there; leave the option out");
  }
}

// The pooled vectors of the calibration texts.
VectorRows pool_batch(const ModelFolder& folder, FloatModel& floats, const ModelBatch& batch) {
  constexpr std::size_t kTogether = 64;  // bounds the memory of the hidden states
  VectorRows pooled;
  for (const ModelBatch& part : cut_batch(batch, kTogether)) {
    const VectorRows rows =
        pool_float(folder.pooling, static_cast<std::size_t>(folder.config.last().hidden_size),
                   floats.forward_batch(part).last_hidden_state, part.texts.lengths);
    pooled.width = rows.width;
    pooled.values.insert(pooled.values.end(), rows.values.begin(), rows.values.end());
  }
  return pooled;
}

// The part of the certificate that says how the model was made.
nlohmann::ordered_json describe_calibration(const ConvertOptions& options,
                                            const ConvertResult& result) {
  return {{"rounding", options.rounding == Rounding::kNearest ? "nearest" : "gptq"},
          {"calibration", calibration_source_name(result.source)},
          {"calibration_texts", result.calibration_texts},
          {"calibration_tokens", result.calibration_tokens}};
}

}  // namespace

ConvertResult convert(const ConvertOptions& options) {
  const auto report = [&](const char* step, double done) {
    if (options.progress) options.progress(step, done);
  };
  constexpr double kQuantizeStart = 0.03, kQuantizeEnd = 0.9;  // shares of the whole time
  if (options.calibration_texts && options.calibration_ids) {
    throw ConvertError("--calibration and --calibration-ids exclude each other");
  }
  ConvertResult result;

  // import: the folder's files, read and checked.
  report("reading", 0);
  const ModelFolder folder = read_model_folder(options.folder);
  if (options.embeddings == EmbeddingBits::k4) require_4bit_possible(folder);
  result.warnings = folder.warnings;
  result.prompts = folder.prompts;
  const ImportedTokenizer tokenizer = import_tokenizer(folder, result.warnings);
  result.max_tokens = choose_max_tokens(options, folder, tokenizer);
  const std::optional<KeptIds> kept = choose_vocabulary(options.vocabulary, folder, tokenizer);

  // calibrate: the token ids, so early because bad files are then refused at once. The passes over
  // them are part of quantize_model(): the second one needs scales that are chosen from the first.
  std::function<TokenBatch(std::span<const std::string_view>)> tokenize;
  if (!tokenizer.section.empty()) {
    tokenize = [&](std::span<const std::string_view> texts) {
      return tokenize_texts(tokenizer.section, folder.config.first(), result.max_tokens, texts);
    };
  }
  const GatheredTokens tokens = gather_tokens({.config = folder.config,
                                               .tokenize = tokenize,
                                               .unknown_id = tokenizer.unknown_id,
                                               .max_tokens = result.max_tokens,
                                               .texts = options.calibration_texts,
                                               .ids = options.calibration_ids},
                                              result.warnings);
  result.source = tokens.source;
  result.calibration_texts = tokens.calibration.texts.lengths.size();
  result.calibration_tokens = tokens.calibration.tokens();

  // reference: the float32 model that calibration and verification run.
  FloatModel floats(folder.config, folder.weights, options.threads);

  // quantize: float32 weights to integers.
  Workers workers(options.threads);
  QuantizeOptions quantize_options;
  quantize_options.rounding = options.rounding;
  quantize_options.precision = options.precision;
  if (result.source == CalibrationSource::kRandomIds) quantize_options.headroom = kRandomHeadroom;
  QuantizeResult quantized = quantize_model(
      {.config = folder.config,
       .weights = folder.weights,
       .floats = floats,
       .batch = tokens.calibration},
      quantize_options, workers, [&](const std::string& step, double done) {
        report(step.c_str(), kQuantizeStart + done * (kQuantizeEnd - kQuantizeStart));
      });
  if (!folder.pooling.is_one_pooling()) {
    quantized.model.vector = quantize_vector(
        {.pooling = folder.pooling,
         .pooled = pool_batch(folder, floats, tokens.calibration),
         .hidden_scale = static_cast<double>(
             std::bit_cast<float>(quantized.model.stacks.back().record.hidden_scale))},
        {.rounding = options.rounding, .errors = quantized.heads, .warnings = quantized.warnings});
  }
  result.layers = quantized.layers;
  result.heads = quantized.heads;
  result.ranges = quantized.ranges;
  result.warnings.insert(result.warnings.end(), quantized.warnings.begin(),
                         quantized.warnings.end());

  // export and verify: the finished blob carries a certificate, so a first one is verified.
  BlobExtras extras;
  extras.max_tokens = static_cast<std::uint32_t>(result.max_tokens);
  if (folder.pooling.is_one_pooling()) {
    extras.pooling = static_cast<std::uint32_t>(folder.pooling.kinds[0]);
  }
  extras.normalize = folder.pooling.normalize;
  extras.tokenizer = tokenizer.section;
  extras.prompts = folder.prompts;
  (quantized.model.token_classifier ? extras.token_labels : extras.labels) =
      folder.config.label_names;
  IntegerModel::Options integers;
  integers.isa_mask = options.isa_mask;
  integers.threads = static_cast<std::uint32_t>(options.threads);
  report("choosing planes", kQuantizeEnd);
  result.precision = choose_planes({.floats = {folder, floats},
                                    .extras = extras,
                                    .batch = tokens.calibration,
                                    .integers = integers},
                                   options.precision, quantized.model);
  if (!result.precision.not_applied.empty()) {
    result.warnings.push_back(std::string("--precision ") + precision_name(options.precision) +
                              ": " + result.precision.not_applied +
                              "; the model is that of --precision fast");
  }
  const bool has_texts = !tokenizer.section.empty() || !tokens.certificate.texts.lengths.empty();
  const auto held_out = [&](std::span<const std::uint8_t> blob) {
    return certify(folder, floats, blob, integers, tokens.certificate);
  };
  report("certifying", kQuantizeEnd);
  nlohmann::ordered_json certificate = describe_calibration(options, result);
  if (options.embeddings == EmbeddingBits::k4) {
    if (options.certify && has_texts) {
      certificate["with_8bit_embeddings"] =
          certificate_json(held_out(write_blob(quantized.model, extras)));
    }
    quantize_words_4bit(folder.weights.stacks[0].word_embeddings, workers,
                        quantized.model.stacks[0]);
  }
  std::vector<std::uint8_t> whole;  // with all tokens
  if (options.certify) {
    whole = write_blob(quantized.model, extras);
    if (has_texts) {
      certificate["held_out_texts"] = tokens.certificate_texts;
      result.held_out = held_out(whole);
      result.held_out_builtin = tokens.certificate.texts.lengths.empty();
      certificate["held_out"] = certificate_json(*result.held_out);
    } else {
      certificate["not_compared"] = "of fewer than " + std::to_string(kHeldOutOf) +
                                    " texts of calibration ids none is held back";
    }
  }
  ModelConfig config = folder.config;
  if (kept) {
    const TokenizerSpec pruned = prune_tokenizer(*tokenizer.spec, *kept);
    prune_model(*kept, quantized.model, config);
    extras.tokenizer = write_tokenizer_section(pruned);
    if (options.certify) {
      const std::vector<std::uint8_t> blob = write_blob(quantized.model, extras);
      nlohmann::ordered_json& json = certificate["vocabulary"];
      json = compare_vocabularies({.whole = {.blob = whole, .config = folder.config},
                                   .pruned = {.blob = blob, .config = config},
                                   .kept = *kept},
                                  integers, builtin_certificate_texts());
      json["tokens"] = tokenizer.spec->tokens.size();
      json["kept_tokens"] = pruned.tokens.size();
      json["saved_bytes"] =
          static_cast<std::int64_t>(whole.size()) - static_cast<std::int64_t>(blob.size());
    }
  }
  if (options.certify) {
    result.certificate = certificate.dump();
    extras.certificate = result.certificate;
  }
  extras.selftest = make_selftest(quantized.model, config, extras);
  report("packing", 0.98);
  extras.weight_order = options.weight_order;
  result.blob = write_blob(quantized.model, extras, &result.sizes);
  report("done", 1);
  return result;
}

}  // namespace embert::convert
