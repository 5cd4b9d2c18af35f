// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/vocabulary/compare_vocabularies.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "converter/verify/comparison.hpp"
#include "converter/verify/verify.hpp"

namespace embert::convert {
namespace {

double rounded(double value, double units) { return std::round(value * units) / units; }

// The texts whose tokens differ.
std::vector<std::string_view> changed_texts(const KeptIds& kept,
                                            std::span<const std::string_view> texts,
                                            const TokenBatch& before, const TokenBatch& after) {
  std::vector<std::string_view> changed;
  std::size_t at_before = 0, at_after = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto of_before = static_cast<std::size_t>(before.lengths[i]);
    const auto of_after = static_cast<std::size_t>(after.lengths[i]);
    const bool same = std::ranges::equal(
        std::span(before.ids).subspan(at_before, of_before),
        std::span(after.ids).subspan(at_after, of_after), {}, {}, [&](std::int32_t id) {
          return static_cast<std::int32_t>(kept.old_ids()[static_cast<std::size_t>(id)]);
        });
    if (!same) changed.push_back(texts[i]);
    at_before += of_before;
    at_after += of_after;
  }
  return changed;
}

TextVectors vectors_of(const BlobOfConfig& made, IntegerModel& model,
                       std::span<const std::string_view> texts) {
  return model.embed(batch_of_texts(made.config, model, texts));
}

}  // namespace

nlohmann::ordered_json compare_vocabularies(const VocabularyPair& pair,
                                            const IntegerModel::Options& options,
                                            std::span<const std::string_view> texts) {
  IntegerModel whole(pair.whole.blob, options);
  IntegerModel pruned(pair.pruned.blob, options);
  const TokenBatch before = whole.tokenize(texts);
  const TokenBatch after = pruned.tokenize(texts);
  const std::vector<std::string_view> changed = changed_texts(pair.kept, texts, before, after);
  const auto per_text = [&](std::size_t tokens) {
    return rounded(static_cast<double>(tokens) / static_cast<double>(texts.size()), 100);
  };
  nlohmann::ordered_json json = {{"texts", texts.size()},
                                 {"changed_texts", changed.size()},
                                 {"tokens_before", per_text(before.ids.size())},
                                 {"tokens_after", per_text(after.ids.size())}};
  if (changed.empty()) return json;
  const TextVectors vectors = vectors_of(pair.whole, whole, changed);
  const TextVectors others = vectors_of(pair.pruned, pruned, changed);
  double sum = 0, least = 1;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const auto row = vectors.row(i);
    const double similarity = cosine(std::vector<double>(row.begin(), row.end()), others.row(i));
    sum += similarity;
    least = std::min(least, similarity);
  }
  json["cosine_mean"] = rounded(sum / static_cast<double>(changed.size()), 1e5);
  json["cosine_min"] = rounded(least, 1e5);
  return json;
}

}  // namespace embert::convert
