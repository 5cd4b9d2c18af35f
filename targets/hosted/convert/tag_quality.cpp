// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/tag_quality.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace embert::hosted {
namespace {

/// Entities of a sentence, or of many.
struct Counts {
  double right = 0, found = 0, both = 0;

  void operator+=(const Counts& other) {
    right += other.right;
    found += other.found;
    both += other.both;
  }
  static double share(double part, double whole) { return whole == 0 ? 0 : part / whole; }
  double precision() const { return share(both, found); }
  double recall() const { return share(both, right); }
  double f1() const { return share(2 * both, right + found); }
};

Counts count(const std::vector<TaggedEntity>& right, const std::vector<TaggedEntity>& found) {
  return {static_cast<double>(right.size()), static_cast<double>(found.size()),
          static_cast<double>(convert::common_entities(found, right))};
}

}  // namespace

TagQuality tag_quality(const std::vector<std::string>& names,
                       const std::vector<TaggedSentence>& sentences) {
  std::vector<std::array<Counts, 2>> counts;  // [sentences] of float32 and int8
  for (const TaggedSentence& sentence : sentences) {
    const std::vector<TaggedEntity> right = tagged_entities(names, sentence.right);
    counts.push_back({count(right, tagged_entities(names, sentence.float32)),
                      count(right, tagged_entities(names, sentence.int8))});
  }
  const auto sum_of = [&counts](std::span<const size_t> sample) {
    std::array<Counts, 2> sum;
    for (const size_t sentence : sample) {
      for (const size_t model : {0u, 1u}) sum[model] += counts[sentence][model];
    }
    return sum;
  };
  const Loss loss = bootstrapped_loss(sentences.size(), [&](std::span<const size_t> sample) {
    const std::array<Counts, 2> sum = sum_of(sample);
    return sum[0].f1() - sum[1].f1();
  });
  std::vector<size_t> every(sentences.size());
  std::iota(every.begin(), every.end(), size_t{0});
  const std::array<Counts, 2> all = sum_of(every);
  return {{all[0].precision(), all[1].precision()},
          {all[0].recall(), all[1].recall()},
          {all[0].f1(), all[1].f1()},
          loss};
}

}  // namespace embert::hosted
