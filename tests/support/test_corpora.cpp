// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_corpora.hpp"

#include <cstddef>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace embert::test {
namespace {

std::filesystem::path corpus_file(const std::filesystem::path& shared_dir, Corpus corpus) {
  switch (corpus) {
    case Corpus::kClinc150:
      return shared_dir / "data/intent/clinc150/data_full.json";
    case Corpus::kWnut17:
      return shared_dir / "data/ner/wnut17/emerging.test.annotated";
    case Corpus::kSquad:
      return shared_dir / "data/qa/squad11_dev/dev-v1.1.reconstructed.json";
    case Corpus::kWikitext2:
      return shared_dir / "data/text/wikitext2/wiki.test.raw";
  }
  throw std::runtime_error("no such corpus");
}

std::string strip(const std::string& text, const char* blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> read_clinc(std::istream& in) {
  std::vector<std::string> records;
  const nlohmann::json root = nlohmann::json::parse(in);
  for (const auto& row : root.at("test")) {
    records.push_back(row.at(0).get<std::string>());
  }
  return records;
}

std::vector<std::string> read_wnut(std::istream& in) {
  std::vector<std::string> records;
  std::string line, sentence;
  for (bool more = true; more;) {
    more = static_cast<bool>(std::getline(in, line));
    const std::string token = more ? strip(line.substr(0, line.find('\t')), " \r") : std::string();
    if (!token.empty()) {
      sentence += (sentence.empty() ? "" : " ") + token;
    } else if (!sentence.empty()) {
      records.push_back(std::move(sentence));
      sentence.clear();
    }
  }
  return records;
}

std::vector<std::string> read_squad(std::istream& in) {
  std::vector<std::string> records;
  const nlohmann::json root = nlohmann::json::parse(in);
  for (const auto& article : root.at("data")) {
    for (const auto& paragraph : article.at("paragraphs")) {
      records.push_back(paragraph.at("context").get<std::string>());
      for (const auto& qa : paragraph.at("qas")) {
        records.push_back(qa.at("question").get<std::string>());
      }
    }
  }
  return records;
}

std::vector<std::string> read_wikitext(std::istream& in) {
  std::vector<std::string> records;
  for (std::string line; std::getline(in, line);) {
    line = strip(line, " \r");
    if (!line.empty() && line[0] != '=') records.push_back(line);
  }
  return records;
}

/// CRC-32C, bit by bit.
std::uint32_t text_crc(const std::string& text) {
  std::uint32_t r = 0xFFFFFFFF;
  for (const char c : text) {
    r ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) r = (r >> 1) ^ ((r & 1) != 0 ? 0x82F63B78u : 0u);
  }
  return ~r;
}

}  // namespace

const char* corpus_name(Corpus corpus) {
  switch (corpus) {
    case Corpus::kClinc150:
      return "clinc150";
    case Corpus::kWnut17:
      return "wnut17";
    case Corpus::kSquad:
      return "squad";
    case Corpus::kWikitext2:
      return "wikitext2";
  }
  return "";
}

bool corpus_present(const std::filesystem::path& shared_dir, Corpus corpus) {
  return std::filesystem::exists(corpus_file(shared_dir, corpus));
}

std::vector<std::string> read_corpus(const std::filesystem::path& shared_dir, Corpus corpus) {
  const std::filesystem::path file = corpus_file(shared_dir, corpus);
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("can not read " + file.string());
  std::vector<std::string> records;
  switch (corpus) {
    case Corpus::kClinc150:
      records = read_clinc(in);
      break;
    case Corpus::kWnut17:
      records = read_wnut(in);
      break;
    case Corpus::kSquad:
      records = read_squad(in);
      break;
    case Corpus::kWikitext2:
      records = read_wikitext(in);
      break;
  }
  for (std::string& record : records) record = strip(record, " ");
  return records;
}

std::vector<ListedText> read_listed_texts(const std::filesystem::path& list,
                                          const std::filesystem::path& shared_dir) {
  std::ifstream in(list);
  if (!in) throw std::runtime_error("can not read " + list.string());
  std::map<std::string, std::pair<Corpus, std::vector<std::string>>> corpora;
  for (const Corpus corpus : kCorpora) {
    corpora[corpus_name(corpus)] = {corpus, read_corpus(shared_dir, corpus)};
  }
  std::vector<ListedText> texts;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string name, crc;
    ListedText text;
    fields >> name >> text.number >> text.kind >> crc;
    const auto found = corpora.find(name);
    if (!fields || found == corpora.end() || text.number >= found->second.second.size()) {
      throw std::runtime_error(list.string() + ": no such text: " + line);
    }
    text.corpus = found->second.first;
    text.text = found->second.second[text.number];
    if (text_crc(text.text) != std::stoul(crc, nullptr, 16)) {
      throw std::runtime_error(list.string() + ": the text is another one: " + line);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace embert::test
