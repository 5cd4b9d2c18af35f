// SPDX-License-Identifier: Apache-2.0
// Places each trie node at the first base where its children find free units.
#include "converter/export/tokenizer/double_array.hpp"

#include <algorithm>

#include "converter/convert_error.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

// After so many misses the array up to here counts as full for nodes of this size.
constexpr std::size_t kPatience = 256;

}  // namespace

std::uint32_t DoubleArray::add(std::vector<Entry> entries, bool cut_tails) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  return add_node(entries, 0, cut_tails);
}

void DoubleArray::grow(std::size_t units) {
  while (units_.size() < units) {
    next_free_.push_back(static_cast<std::uint32_t>(units_.size()));
    units_.push_back(0);
    base_used_.push_back(false);
  }
}

void DoubleArray::take(std::size_t unit) {
  grow(unit + 2);
  next_free_[unit] = static_cast<std::uint32_t>(unit + 1);
}

std::size_t DoubleArray::free_from(std::size_t unit) {
  grow(unit + 1);
  std::size_t found = unit;
  while (next_free_[found] != found) found = next_free_[found];
  while (next_free_[unit] != found) {
    const std::size_t next = next_free_[unit];
    next_free_[unit] = static_cast<std::uint32_t>(found);
    unit = next;
  }
  return found;
}

std::uint32_t DoubleArray::find_base(const std::vector<std::uint8_t>& labels, bool has_value) {
  const std::size_t first = has_value || labels.empty() ? 0 : std::size_t{1} + labels.front();
  std::size_t& search_from =
      search_from_[std::min(labels.size() + (has_value ? 1 : 0), kSizes - 1)];
  std::size_t misses = 0;
  for (std::size_t at = std::max(search_from, first);; ++at) {
    at = free_from(at);
    const std::size_t base = at - first;
    grow(base + kUnitSpan + 1);
    bool fits = !base_used_[base];
    for (std::size_t i = 0; fits && i < labels.size(); ++i) {
      const std::size_t child = base + 1 + labels[i];
      fits = next_free_[child] == child;
    }
    if (fits) {
      base_used_[base] = true;
      last_base_ = std::max(last_base_, base);
      return static_cast<std::uint32_t>(base);
    }
    if (++misses == kPatience) search_from = at;
  }
}

std::uint32_t DoubleArray::add_node(std::span<const Entry> entries, std::size_t depth,
                                    bool cut_tails) {
  const bool has_value = !entries.empty() && entries.front().key.size() == depth;
  std::vector<std::uint8_t> labels;
  std::vector<std::size_t> starts;
  for (std::size_t i = has_value ? 1 : 0; i < entries.size(); ++i) {
    const std::uint8_t label = static_cast<std::uint8_t>(entries[i].key[depth]);
    if (labels.empty() || labels.back() != label) {
      labels.push_back(label);
      starts.push_back(i);
    }
  }
  starts.push_back(entries.size());
  const std::uint32_t base = find_base(labels, has_value);
  if (has_value) {
    take(base);
    units_[base] = entries.front().value << kUnitPayloadShift;
  }
  for (const std::uint8_t label : labels) take(base + 1 + label);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::span<const Entry> children = entries.subspan(starts[i], starts[i + 1] - starts[i]);
    const Entry& entry = children.front();
    std::uint32_t unit = labels[i] | kUnitIsChild;
    if (children.size() == 1 && (cut_tails || entry.key.size() == depth + 1)) {
      unit |= kUnitIsLeaf | (entry.value << kUnitPayloadShift);
    } else {
      if (entry.key.size() == depth + 1) unit |= kUnitHasValue;
      unit |= add_node(children, depth + 1, cut_tails) << kUnitPayloadShift;
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
