// SPDX-License-Identifier: Apache-2.0
// What a subcommand is called with: texts, or records of a few texts that belong together, such as
// a question and its context. The arguments are one record; else each line of stdin is one, with a
// tab between its texts, or with --jsonl as a JSON object.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "targets/cli/io/texts.hpp"
#include "targets/cli/session/run_options.hpp"

namespace embert::cli {

/// The options of all subcommands that run a model on texts.
struct TextCall {
  std::string model;
  std::vector<std::string> arguments;
  bool jsonl = false, json = false;
  RunOptions run;
};

/// What the texts of a record are called, which are also the keys of --jsonl. A form of one text
/// makes each argument a record.
struct RecordForm {
  std::vector<std::string> names;
  bool ends_in_list = false;  ///< the last name is of any number of texts, in JSON an array
};

/// json_keys: of the results, for --help.
void add_text_call(CLI::App& command, TextCall& call, const RecordForm& form,
                   const std::string& json_keys);

struct Record {
  std::vector<std::string> texts;  ///< by name, those of the list last
  size_t line = 0;                 ///< of stdin; 0: arguments

  /// Ends the tool with one line: InputError of a line, UsageError of arguments.
  [[noreturn]] void refuse(const std::string& problem) const;
};

class RecordSource {
 public:
  RecordSource(const TextCall& call, const RecordForm& form);

  /// As TextSource::next(). A line that is no record throws when those before it are out.
  std::vector<Record> next(size_t most);
  /// How many are there at most, of `most`: all where stdin is read.
  uint32_t limit(uint32_t most) const;

 private:
  std::vector<Record> argument_records();
  Record record_of_line(std::string line);
  void read_json(const std::string& line, Record& record) const;

  const TextCall& call_;
  const RecordForm form_;
  TextSource lines_;
  size_t line_ = 0, next_argument_ = 0;
  std::vector<Record> from_arguments_;
  std::exception_ptr failure_;
};

}  // namespace embert::cli
