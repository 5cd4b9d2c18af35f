// SPDX-License-Identifier: Apache-2.0
// libFuzzer: the lines that the tool reads from stdin, as JSON objects or as texts with tabs. A bad
// line is refused in one printable line; a record has the texts that its form asks for, and its
// other members are JSON. How many lines are read at once changes nothing. An input is ReadBytes,
// then the lines.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/records.hpp"
#include "targets/cli/usage/command_line.hpp"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/json_mutator.hpp"
#include "tests/fuzz/support/require.hpp"
#include "tests/fuzz/support/word_mutator.hpp"

// The parts of the command line that reading texts refers to, and that need all subcommands.
namespace embert::cli {
std::string without_mark(const std::string& value) { return value; }
void Output::flush() {}
Output& output() {
  static Output none;
  return none;
}
}  // namespace embert::cli

using namespace embert;

namespace {

struct ReadBytes {
  std::uint8_t form;   ///< 0 to 2, of kForms; bit 7: lines of texts with tabs
  std::uint8_t most;   ///< records that are read at once, 1 to 8
  std::uint8_t limit;  ///< 0: the tool's; else the longest line, 4 times this
};

const cli::RecordForm kForms[] = {
    {{"text"}}, {{"text", "pair"}}, {{"query", "documents"}, /*ends_in_list=*/true}};

struct ReadRecords {
  std::vector<cli::Record> records;
  std::string refusal;
};

ReadRecords read_all(const cli::RecordInput& input, const cli::RecordForm& form, size_t most) {
  lseek(STDIN_FILENO, 0, SEEK_SET);
  ReadRecords result;
  try {
    cli::RecordSource source(input, form);
    for (auto records = source.next(most); !records.empty(); records = source.next(most)) {
      fuzz::require(records.size() <= most, "no more records than asked for");
      for (cli::Record& record : records) result.records.push_back(std::move(record));
    }
  } catch (const cli::InputError& error) {
    result.refusal = error.what();
    fuzz::check_message(result.refusal);
  }
  return result;
}

void check_record(const cli::Record& record, const cli::RecordForm& form, bool jsonl) {
  const size_t names = form.names.size();
  fuzz::require(form.ends_in_list ? record.texts.size() >= names : record.texts.size() == names,
                "a record has the texts of its form");
  const auto json = cli::Json::parse(record.with_carried("{\"result\":0}"), nullptr, false);
  fuzz::require(json.is_object(), "a result with the record's other members is a JSON object");
  fuzz::require(jsonl || json.size() == 1, "a line of texts has no other members");
  for (const std::string& name : form.names) {
    fuzz::require(!json.contains(name), "the texts are no other members");
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  cli::be_quiet();
  return dup2(memfd_create("stdin", 0), STDIN_FILENO) == STDIN_FILENO ? 0 : 1;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  fuzz::Random random(seed);
  if (size <= sizeof(ReadBytes) || random.below(4) == 0) {
    return fuzz::mutate_bytes(data, size, max_size);
  }
  // One line, as JSON; what is behind it stays.
  std::size_t begin = sizeof(ReadBytes) + random.below(size - sizeof(ReadBytes)), end = begin;
  while (begin > sizeof(ReadBytes) && data[begin - 1] != '\n') --begin;
  while (end < size && data[end] != '\n') ++end;
  std::vector<std::uint8_t> line(data + begin, data + end), rest(data + end, data + size);
  line.resize(max_size - begin - rest.size());
  const std::size_t bytes = fuzz::mutate_json(line.data(), end - begin, line.size(), seed);
  std::copy_n(line.begin(), bytes, data + begin);
  std::copy(rest.begin(), rest.end(), data + begin + bytes);
  return begin + bytes + rest.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ReadBytes read;
  if (size < sizeof(read)) return 0;
  std::memcpy(&read, data, sizeof(read));
  if (ftruncate(STDIN_FILENO, 0) != 0 ||
      pwrite(STDIN_FILENO, data + sizeof(read), size - sizeof(read), 0) < 0) {
    return 0;
  }
  cli::RecordInput input;
  input.jsonl = (read.form & 0x80) == 0;
  if (read.limit != 0) input.max_line_bytes = size_t{4} * read.limit;
  input.result = {{"vector", "score"}, ""};
  const cli::RecordForm& form = kForms[(read.form & 0x7F) % 3];
  const ReadRecords one = read_all(input, form, 1), many = read_all(input, form, 1 + read.most % 8);
  fuzz::require(one.refusal == many.refusal, "the same refusal");
  fuzz::require(one.records.size() == many.records.size(), "as many records");
  for (size_t i = 0; i < one.records.size(); ++i) {
    fuzz::require(one.records[i].texts == many.records[i].texts, "the same texts");
    fuzz::require(one.records[i].carried == many.records[i].carried, "the same other members");
    fuzz::require(one.records[i].line == i + 1, "the number of the line");
    check_record(one.records[i], form, input.jsonl);
  }
  return 0;
}
