// SPDX-License-Identifier: Apache-2.0
#include "converter/export/tokenizer/charsmap_keys.hpp"

#include <cstddef>
#include <cstring>

#include "converter/convert_error.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw ConvertError("tokenizer: precompiled_charsmap: " + what);
}

class Trie {
 public:
  explicit Trie(const std::vector<std::uint8_t>& charsmap) {
    std::uint32_t bytes = 0;
    if (charsmap.size() < 9) fail("only " + std::to_string(charsmap.size()) + " bytes");
    std::memcpy(&bytes, charsmap.data(), 4);
    if (bytes % 4 != 0 || bytes < 4 || bytes > charsmap.size() - 5) {
      fail("the trie has " + std::to_string(bytes) + " of " + std::to_string(charsmap.size()) +
           " bytes");
    }
    if (charsmap.back() != 0) fail("the last replacement does not end");
    units_.resize(bytes / 4);
    std::memcpy(units_.data(), charsmap.data() + 4, bytes);
    strings_.assign(charsmap.begin() + 4 + static_cast<std::ptrdiff_t>(bytes), charsmap.end());
    seen_.resize(units_.size());
  }

  std::map<char, std::string> walk() {
    std::map<char, std::string> out;
    // Keys with one ending share its nodes, so each node is visited once.
    std::vector<std::uint32_t> nodes = {offset(0)};
    bool is_root = true;
    while (!nodes.empty()) {
      const std::uint32_t node = nodes.back();
      nodes.pop_back();
      for (std::uint32_t byte = 1; byte < 256; ++byte) {
        const std::uint32_t at = node ^ byte;
        if (at >= units_.size() || (units_[at] & 0x800000FF) != byte) continue;
        if (seen_[at]) continue;
        seen_[at] = true;
        const std::uint32_t child = at ^ offset(at);
        if (child >= units_.size()) fail("the trie leads outside itself");
        if ((units_[at] >> 8 & 1) != 0) {
          const std::string found = replacement(child);
          if (is_root) out.emplace(static_cast<char>(byte), found);
        }
        nodes.push_back(child);
      }
      is_root = false;
    }
    return out;
  }

 private:
  std::uint32_t offset(std::uint32_t at) const {
    return (units_[at] >> 10) << ((units_[at] & (1u << 9)) >> 6);
  }

  std::string replacement(std::uint32_t at) const {
    const std::uint32_t begin = units_[at] & 0x7FFFFFFF;
    if (begin >= strings_.size()) fail("a replacement lies outside the charsmap");
    std::string text(strings_.c_str() + begin);
    if (text.size() > kMaxTokenBytes || !is_utf8(text)) {
      fail("replacement \"" + printable(text, 40) + "\" is no UTF-8 text of at most " +
           std::to_string(kMaxTokenBytes) + " bytes");
    }
    return text;
  }

  std::vector<std::uint32_t> units_;
  std::vector<bool> seen_;
  std::string strings_;
};

}  // namespace

std::map<char, std::string> read_charsmap(const std::vector<std::uint8_t>& charsmap) {
  if (charsmap.size() > kMaxCharsmapBytes) {
    fail(std::to_string(charsmap.size()) + " bytes, at most " + std::to_string(kMaxCharsmapBytes) +
         " are supported");
  }
  return Trie(charsmap).walk();
}

}  // namespace embert::convert
