// SPDX-License-Identifier: Apache-2.0
// The test texts of shared/data, read where they lie: some are under share-alike licences and none
// is part of the repository.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace embert::test {

enum class Corpus { kClinc150, kWnut17, kSquad, kWikitext2 };
inline constexpr Corpus kCorpora[] = {Corpus::kClinc150, Corpus::kWnut17, Corpus::kSquad,
                                      Corpus::kWikitext2};

/// "clinc150", "wnut17", "squad", "wikitext2"
const char* corpus_name(Corpus corpus);

/// Its file is below `shared_dir`.
bool corpus_present(const std::filesystem::path& shared_dir, Corpus corpus);

/// The records of a corpus in file order, without blanks at their ends. CLINC150: the test
/// sentences; WNUT17: those of its test set, tokens joined with spaces; SQuAD 1.1 dev: of each
/// paragraph the context, then the questions; WikiText-2 test: lines that are neither empty nor
/// headings. Throws std::runtime_error where the file can not be read as such.
std::vector<std::string> read_corpus(const std::filesystem::path& shared_dir, Corpus corpus);

/// One line of tests/accuracy/texts.tsv, with its text.
struct ListedText {
  Corpus corpus;
  std::size_t number = 0;  ///< record of the corpus
  std::string kind;
  std::string text;
};

/// Reads the list and the texts that it names. Throws std::runtime_error, also for a text whose
/// CRC-32C is not the list's.
std::vector<ListedText> read_listed_texts(const std::filesystem::path& list,
                                          const std::filesystem::path& shared_dir);

}  // namespace embert::test
