// SPDX-License-Identifier: Apache-2.0
#include "tests/accuracy/accuracy_models.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "converter/convert.hpp"

namespace embert::test {

bool full_tests() { return std::getenv("EMBERT_FULL") != nullptr; }

std::vector<std::uint8_t> convert_folder(const std::filesystem::path& folder,
                                         convert::Rounding rounding) {
  convert::ConvertOptions options;
  options.folder = folder;
  options.rounding = rounding;
  options.threads = kAccuracyThreads;
  options.certify = false;  // the tests measure more
  return convert::convert(options).blob;
}

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("can not read " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::filesystem::path intent_folder() {
  return std::filesystem::path(EMBERT_SOURCE_DIR) / "targets/demo/tiny-intent";
}

std::vector<LabelledText> intent_test_texts() {
  const std::filesystem::path path =
      std::filesystem::path(EMBERT_SOURCE_DIR) / "tests/data/tiny-intent/test.tsv";
  std::ifstream in(path);
  if (!in) throw std::runtime_error("can not read " + path.string());
  std::vector<LabelledText> texts;
  std::string line;
  std::getline(in, line);  // names of the columns
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string id;
    LabelledText text;
    std::getline(fields, id, '\t');
    std::getline(fields, text.text, '\t');
    std::getline(fields, text.label, '\t');
    std::getline(fields, text.predicted, '\t');
    texts.push_back(std::move(text));
  }
  return texts;
}

bool shared_data_present() {
  for (const Corpus corpus : kCorpora) {
    if (!corpus_present(EMBERT_SHARED_DIR, corpus)) return false;
  }
  return true;
}

std::vector<ListedText> listed_texts() {
  return read_listed_texts(std::filesystem::path(EMBERT_SOURCE_DIR) / "tests/accuracy/texts.tsv",
                           EMBERT_SHARED_DIR);
}

}  // namespace embert::test
