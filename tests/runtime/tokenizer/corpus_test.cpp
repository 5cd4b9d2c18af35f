// SPDX-License-Identifier: Apache-2.0
// Checksums of the token ids of whole corpora in all 15 settings; under the sanitizer, where that
// takes long, one setting a vocabulary unless EMBERT_FULL is set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "tests/runtime/tokenizer/corpora.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::test {
namespace {

struct Row {
  std::string file, rule, setting, rows, lines, ids, crc;
};

TEST(TokenizerCorpora, Checksums) {
  EMBERT_NEED_SHARED_DIR();
#if defined(__SANITIZE_ADDRESS__)
  const bool full = std::getenv("EMBERT_FULL") != nullptr;
#else
  const bool full = true;
#endif
  const std::set<std::string> quick = {"uncased:lower:unset", "cased:keep:unset",
                                       "multilingual-cased:keep:true", "chinese:lower:false"};
  std::istringstream table(read_file(shared_dir() + "/reference/tokenizer/corpus_crc.tsv"));
  std::map<std::string, std::vector<std::string>> corpora;
  std::map<std::string, std::vector<std::uint32_t>> counts;
  int compared = 0;
  std::size_t lines = 0;
  std::vector<std::int32_t> ids;
  std::map<std::pair<std::string, std::string>, std::pair<std::uint32_t, std::size_t>> whole;
  for (std::string line; std::getline(table, line);) {
    const std::vector<std::string> f = split_at(line, '\t');
    if (line[0] == '#' || f[0] == "file") continue;
    ASSERT_EQ(f.size(), 7u) << line;
    const Row row = {f[0], f[1], f[2], f[3], f[4], f[5], f[6]};
    if (!full && quick.count(row.setting) == 0) continue;
    if (corpora.count(row.file) == 0) {
      corpora[row.file] = corpus_lines(read_file(shared_dir() + "/data/" + row.file), row.rule);
      lines += corpora[row.file].size();
    }
    const std::vector<std::string>& corpus = corpora[row.file];
    auto& [whole_crc, whole_ids] = whole[{row.file, row.setting}];
    std::ostringstream actual;
    if (row.rows == "all") {
      // The pieces stand before it in the table; their ids are not computed again.
      actual << corpus.size() << ' ' << whole_ids << ' ' << std::hex << whole_crc;
    } else {
      const std::size_t from = std::stoul(row.rows);
      const std::size_t to = std::stoul(row.rows.substr(row.rows.find(':') + 1));
      ASSERT_LE(to, corpus.size()) << row.file;
      std::uint32_t crc = 0;
      std::size_t count = 0;
      for (std::size_t i = from; i < to; ++i) {
        reference_tokenizer(row.setting).ids(corpus[i], &ids);
        crc = crc32_of_ids(crc, ids);
        whole_crc = crc32_of_ids(whole_crc, ids);
        count += ids.size();
      }
      whole_ids += count;
      actual << to - from << ' ' << count << ' ' << std::hex << crc;
    }
    std::ostringstream expected;
    expected << row.lines << ' ' << row.ids << ' ' << std::hex << std::stoul(row.crc, nullptr, 16);
    ASSERT_EQ(actual.str(), expected.str()) << line;
    ++compared;
  }
  std::printf("%d checksums over %zu lines of %zu files\n", compared, lines, corpora.size());
  EXPECT_EQ(corpora.size(), 15u);
  EXPECT_EQ(lines, 76491u);
}

}  // namespace
}  // namespace embert::test
