// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/tokens/gather_tokens.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "converter/calibrate/tokens/builtin_texts.hpp"
#include "converter/calibrate/tokens/calibration_files.hpp"
#include "converter/calibrate/tokens/random_tokens.hpp"
#include "converter/convert_error.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kRandomTexts = 512, kRandomCertificateTexts = 64;
constexpr std::uint64_t kTokenSeed = 0x656d62657274;
constexpr std::uint64_t kPairSeed = kTokenSeed + 2;  // of targets and encoder states

// Six long texts that fill max_tokens, joined from texts, so that calibration sees the later
// positions too. None where max_tokens is at most 128, which single texts reach anyway.
std::vector<std::string> join_texts(std::span<const std::string_view> texts, int max_tokens) {
  constexpr std::size_t kDocuments = 6;
  constexpr int kShort = 128;                // tokens that single texts reach anyway
  constexpr std::size_t kBytesPerToken = 8;  // more than enough: the tokenizer cuts
  std::vector<std::string> documents;
  if (max_tokens <= kShort || texts.empty()) return documents;
  for (std::size_t d = 0; d < kDocuments; ++d) {
    std::string document;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      document += texts[(d * texts.size() / kDocuments + i) % texts.size()];
      document += ' ';
      if (document.size() > kBytesPerToken * static_cast<std::size_t>(max_tokens)) break;
    }
    documents.push_back(std::move(document));
  }
  return documents;
}

constexpr std::size_t kMostHeldOut = 256;
constexpr const char* kBuiltinTexts = "built-in texts";

// One text in so many of a file of `texts` is held out.
std::size_t held_out_of(std::size_t texts) { return std::max(kHeldOutOf, texts / kMostHeldOut); }
std::string describe_held_out(std::size_t of, const char* what) {
  return "one in " + std::to_string(of) + " of the calibration " + what + ", held out";
}

// A batch in two parts: of every `n` texts the last is held out.
struct SplitBatch {
  TokenBatch kept, held_out;
};
SplitBatch hold_out_every(std::size_t n, const TokenBatch& batch) {
  SplitBatch out;
  std::size_t token = 0;
  for (std::size_t text = 0; text < batch.lengths.size(); ++text) {
    TokenBatch& part = text % n == n - 1 ? out.held_out : out.kept;
    const auto length = static_cast<std::size_t>(batch.lengths[text]);
    part.lengths.push_back(batch.lengths[text]);
    for (std::size_t i = token; i < token + length; ++i) {
      part.ids.push_back(batch.ids[i]);
      if (!batch.type_ids.empty()) part.type_ids.push_back(batch.type_ids[i]);
    }
    token += length;
  }
  return out;
}

// Adds the targets or encoder states that the model needs beside the texts of its first stack.
ModelBatch complete(const TokenRequest& request, TokenBatch texts, bool repeat_texts,
                    std::uint64_t seed) {
  if (texts.lengths.empty()) return {};
  return complete_batch(request.config, std::move(texts), repeat_texts, request.max_tokens, seed);
}

GatheredTokens from_ids(const TokenRequest& request) {
  GatheredTokens out;
  out.source = CalibrationSource::kIdFile;
  TokenBatch all = read_id_file(*request.ids, request.config.first(), request.max_tokens);
  if (request.tokenize) {
    out.certificate_texts = kBuiltinTexts;
    out.calibration = complete(request, std::move(all), true, kPairSeed);
    return out;
  }
  const std::size_t of = held_out_of(all.lengths.size());
  SplitBatch parts = hold_out_every(of, all);
  out.certificate_texts = describe_held_out(of, "ids");
  out.certificate = complete(request, std::move(parts.held_out), true, kPairSeed + 1);
  out.calibration = complete(request, std::move(parts.kept), true, kPairSeed);
  return out;
}

GatheredTokens from_nothing(const TokenRequest& request, std::vector<std::string>& warnings) {
  GatheredTokens out;
  out.source = CalibrationSource::kRandomIds;
  out.certificate_texts = "random ids";
  warnings.push_back(
      "the folder has no tokenizer: calibrated on random token ids, and the model takes token ids, "
      "not text; add tokenizer.json or vocab.txt and convert again to give it texts");
  const StackConfig& first = request.config.first();
  out.calibration = complete(
      request, random_ids(first, request.max_tokens, kRandomTexts, kTokenSeed), false, kPairSeed);
  out.certificate = complete(
      request, random_ids(first, request.max_tokens, kRandomCertificateTexts, kTokenSeed + 1),
      false, kPairSeed + 1);
  return out;
}

GatheredTokens from_texts(const TokenRequest& request, std::vector<std::string>& warnings) {
  GatheredTokens out;
  std::vector<std::string> lines;
  std::vector<std::string_view> texts, held_out;
  out.certificate_texts = kBuiltinTexts;
  if (request.texts) {
    out.source = CalibrationSource::kTextFile;
    lines = read_text_lines(*request.texts);
    const std::size_t of = held_out_of(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      (i % of == of - 1 ? held_out : texts).push_back(lines[i]);
    }
    if (!held_out.empty()) out.certificate_texts = describe_held_out(of, "lines");
  } else {
    const auto builtin = builtin_calibration_texts();
    texts.assign(builtin.begin(), builtin.end());
  }
  const std::vector<std::string> documents = join_texts(texts, request.max_tokens);
  texts.insert(texts.end(), documents.begin(), documents.end());
  TokenBatch tokens = request.tokenize(texts);
  const double unknown =
      unknown_share(tokens.ids, tokens.lengths, static_cast<std::int32_t>(request.unknown_id));
  if (unknown >= kMostlyUnknownShare) {
    warnings.push_back(std::to_string(static_cast<int>(unknown * 100)) +
                       " % of the calibration text is unknown to the vocabulary; give text of the "
                       "model's language with --calibration FILE");
  }
  out.calibration = complete(request, std::move(tokens), true, kPairSeed);
  if (!held_out.empty()) {
    out.certificate = complete(request, request.tokenize(held_out), true, kPairSeed + 1);
  }
  return out;
}

}  // namespace

GatheredTokens gather_tokens(const TokenRequest& request, std::vector<std::string>& warnings) {
  if (request.config.stacks.size() == 1 && request.config.last().cross_attention) {
    warnings.push_back(
        "no encoder: cross-attention calibrated on random states of mean 0 and variance 1");
  }
  if (request.ids) return from_ids(request);
  if (request.tokenize) return from_texts(request, warnings);
  if (request.texts) {
    throw ConvertError("--calibration: the folder has no tokenizer; give --calibration-ids");
  }
  return from_nothing(request, warnings);
}

}  // namespace embert::convert
