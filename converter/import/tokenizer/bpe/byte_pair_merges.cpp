// SPDX-License-Identifier: Apache-2.0
// Finds the merges of a file that can happen, and their order. A token is made in a text exactly
// where it is made of its own bytes alone: until then no merge crosses its ends, so those inside
// happen in the same order. So each token has one merge that makes it, and is never made if its
// bytes alone merge to something else.
#include "converter/import/tokenizer/bpe/byte_pair_merges.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "converter/convert_error.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

constexpr std::uint32_t kBytes = 256;

// The printable character that stands for each byte (GPT-2's bytes_to_unicode): itself where it is
// printable, otherwise the next one from U+0100 on. In UTF-8.
std::vector<std::string> byte_alphabet() {
  std::vector<std::string> alphabet;
  std::uint32_t next = 0x100;
  for (std::uint32_t byte = 0; byte < kBytes; ++byte) {
    const bool printable_byte =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    const std::uint32_t c = printable_byte ? byte : next++;
    std::string utf8;
    if (c < 0x80) {
      utf8 = static_cast<char>(c);
    } else {
      utf8 = {static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))};
    }
    alphabet.push_back(utf8);
  }
  return alphabet;
}

class MergeResolver {
 public:
  MergeResolver(const TokenTable& table, const std::vector<MergeEntry>& entries)
      : table_(table), entries_(entries) {}

  void run(BpeSpec* spec) {
    read_alphabet();
    for (std::size_t i = 0; i < entries_.size(); ++i) read_entry(i);
    std::vector<std::optional<std::uint32_t>> symbol_of(table_.tokens().size());
    for (std::uint32_t byte = 0; byte < kBytes; ++byte) symbol_of[byte_ids_[byte]] = byte;
    spec->symbol_ids = byte_ids_;
    for (std::size_t i = 0; i < merges_.size(); ++i) {
      const Merge& merge = merges_[i];
      if (!happens(i)) continue;
      const auto& left = symbol_of[merge.left];
      const auto& right = symbol_of[merge.right];
      if (!left || !right) {
        table_.fail(name(i) + " comes before the one that makes \"" +
                    printable(table_.tokens()[left ? merge.right : merge.left], 40) +
                    "\"; embert reads merges in an order in which parts come first, as training "
                    "gives it");
      }
      symbol_of[merge.token] = static_cast<std::uint32_t>(spec->symbol_ids.size());
      spec->symbol_ids.push_back(merge.token);
      spec->merges.push_back({*left, *right});
    }
  }

 private:
  // Token ids.
  struct Merge {
    std::uint32_t left, right, token;
  };

  static std::uint64_t key(std::uint32_t left, std::uint32_t right) {
    return std::uint64_t{left} << 32 | right;
  }

  std::string name(std::size_t i) const {
    return "merge " + std::to_string(i + 1) + " (\"" + printable(entries_[i].left, 40) + "\", \"" +
           printable(entries_[i].right, 40) + "\")";
  }

  void read_alphabet() {
    const std::vector<std::string> alphabet = byte_alphabet();
    for (std::uint32_t byte = 0; byte < kBytes; ++byte) {
      const auto id = table_.find(alphabet[byte]);
      if (!id) {
        table_.fail("model: \"vocab\" has no token \"" + alphabet[byte] + "\" for byte " +
                    std::to_string(byte) + "; a byte-level BPE needs one for each of 256 bytes");
      }
      byte_ids_.push_back(*id);
      byte_of_.emplace(alphabet[byte], static_cast<std::uint8_t>(byte));
    }
  }

  std::uint32_t find_part(std::size_t i, const std::string& token) const {
    const auto id = table_.find(token);
    if (!id) {
      table_.fail(name(i) + ": \"" + printable(token, 40) + "\" is not in the vocabulary");
    }
    return *id;
  }

  void read_entry(std::size_t i) {
    const MergeEntry& entry = entries_[i];
    if (entry.left.empty() || entry.right.empty()) {
      table_.fail(name(i) + ": expected two tokens, found an empty one");
    }
    const Merge merge = {find_part(i, entry.left), find_part(i, entry.right),
                         find_part(i, entry.left + entry.right)};
    const auto [first, is_new] =
        rank_of_.emplace(key(merge.left, merge.right), static_cast<std::uint32_t>(i));
    if (!is_new) {
      table_.fail(name(i) + " stands there twice, as number " + std::to_string(first->second + 1) +
                  ", too");
    }
    merges_.push_back(merge);
  }

  // The tokens of a token's bytes; nothing if it is no string of the byte alphabet.
  std::vector<std::uint32_t> bytes_of(std::uint32_t token) const {
    const std::string& string = table_.tokens()[token];
    std::vector<std::uint32_t> parts;
    for (std::size_t at = 0; at < string.size();) {
      const std::size_t length = utf8_length(std::string_view(string).substr(at));
      const auto byte = byte_of_.find(string.substr(at, length));
      if (length == 0 || byte == byte_of_.end()) return {};
      parts.push_back(byte_ids_[byte->second]);
      at += length;
    }
    return parts;
  }

  // Whether merge i is the last one of those that make its token of the token's bytes.
  bool happens(std::size_t i) const {
    std::vector<std::uint32_t> parts = bytes_of(merges_[i].token);
    if (parts.size() > kMaxTokenBytes) {
      table_.fail(name(i) + " makes a token of " + std::to_string(parts.size()) +
                  " bytes; at most " + std::to_string(kMaxTokenBytes) + " are supported");
    }
    std::uint32_t last = UINT32_MAX;
    while (parts.size() > 1) {
      std::uint32_t rank = UINT32_MAX;
      std::size_t at = 0;
      for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
        const auto found = rank_of_.find(key(parts[k], parts[k + 1]));
        if (found == rank_of_.end() || found->second >= rank) continue;
        rank = found->second;
        at = k;
      }
      if (rank == UINT32_MAX) return false;
      parts[at] = merges_[rank].token;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      last = rank;
    }
    return last == i;
  }

  const TokenTable& table_;
  const std::vector<MergeEntry>& entries_;
  std::vector<std::uint32_t> byte_ids_;
  std::unordered_map<std::string, std::uint8_t> byte_of_;
  std::vector<Merge> merges_;
  std::unordered_map<std::uint64_t, std::uint32_t> rank_of_;
};

}  // namespace

void resolve_merges(const std::vector<MergeEntry>& entries, const TokenTable& table,
                    BpeSpec* spec) {
  MergeResolver(table, entries).run(spec);
}

}  // namespace embert::convert
