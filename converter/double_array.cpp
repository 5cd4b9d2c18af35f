// SPDX-License-Identifier: Apache-2.0
// First-fit placement of trie nodes into a double array.
#include "converter/double_array.hpp"

#include <algorithm>

#include "converter/convert_error.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

// So many misses in a row mean that the front of the array is as good as full.
constexpr std::size_t kPatience = 2048;

}  // namespace

std::uint32_t DoubleArray::add(Entries entries, bool cut_tails) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  return add_node(entries, 0, entries.size(), 0, cut_tails);
}

void DoubleArray::grow(std::size_t units) {
  if (units_.size() >= units) return;
  units_.resize(units, 0);
  used_.resize(units, false);
  base_used_.resize(units, false);
}

std::uint32_t DoubleArray::find_base(const std::vector<std::uint8_t>& labels, bool has_value) {
  const std::size_t first = has_value ? 0 : labels.empty() ? 0 : std::size_t{1} + labels.front();
  std::size_t misses = 0;
  for (std::size_t at = search_from_;; ++at) {
    grow(at + kUnitSpan + 1);
    if (at < first || used_[at]) continue;
    const std::size_t base = at - first;
    bool fits = !base_used_[base];
    for (std::size_t i = 0; fits && i < labels.size(); ++i) fits = !used_[base + 1 + labels[i]];
    if (fits) {
      base_used_[base] = true;
      last_base_ = std::max(last_base_, base);
      return static_cast<std::uint32_t>(base);
    }
    if (++misses == kPatience) search_from_ = at - first;
  }
}

std::uint32_t DoubleArray::add_node(const Entries& entries, std::size_t begin, std::size_t end,
                                    std::size_t depth, bool cut_tails) {
  const bool has_value = begin < end && entries[begin].key.size() == depth;
  std::vector<std::uint8_t> labels;
  std::vector<std::size_t> starts;
  for (std::size_t i = begin + (has_value ? 1 : 0); i < end; ++i) {
    const std::uint8_t label = static_cast<std::uint8_t>(entries[i].key[depth]);
    if (labels.empty() || labels.back() != label) {
      labels.push_back(label);
      starts.push_back(i);
    }
  }
  starts.push_back(end);
  const std::uint32_t base = find_base(labels, has_value);
  if (has_value) {
    used_[base] = true;
    units_[base] = entries[begin].value << kUnitPayloadShift;
  }
  for (const std::uint8_t label : labels) used_[base + 1 + label] = true;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Entry& entry = entries[starts[i]];
    const bool alone = starts[i + 1] - starts[i] == 1;
    std::uint32_t unit = labels[i] | kUnitIsChild;
    if (alone && (cut_tails || entry.key.size() == depth + 1)) {
      unit |= kUnitIsLeaf | (entry.value << kUnitPayloadShift);
    } else {
      if (entry.key.size() == depth + 1) unit |= kUnitHasValue;
      unit |= add_node(entries, starts[i], starts[i + 1], depth + 1, cut_tails)
              << kUnitPayloadShift;
    }
    units_[base + 1 + labels[i]] = unit;
  }
  return base;
}

std::vector<std::uint32_t> DoubleArray::finish() const {
  std::vector<std::uint32_t> units = units_;
  units.resize(last_base_ + kUnitSpan, 0);
  if (units.size() > kMaxTokenizerUnits) {
    throw ConvertError("tokenizer: the vocabulary needs " + std::to_string(units.size()) +
                       " trie units, at most " + std::to_string(kMaxTokenizerUnits) +
                       " can be stored");
  }
  return units;
}

}  // namespace embert::convert
