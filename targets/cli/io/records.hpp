// SPDX-License-Identifier: Apache-2.0
// Records: the texts that belong together, such as a question and its context. The arguments make
// one record. Without arguments each line of stdin makes one: texts with tabs between them, or with
// --jsonl a JSON object, whose other keys come out again with the result.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "targets/cli/io/texts.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {

/// A result as JSON.
struct ResultForm {
  std::vector<std::string> keys;
  std::string items;  ///< for --help: the keys of what is in the last key's array

  /// "query, documents with document, index, score".
  std::string listed() const;
};

/// Where the records come from.
struct RecordInput {
  std::vector<std::string> arguments;  ///< empty: read stdin
  bool jsonl = false;                  ///< lines of stdin are JSON objects
  size_t max_line_bytes = kMaxLineBytes;
  ResultForm result;  ///< of the lines that the records get
};

/// The names of a record's texts, which are also the keys of --jsonl.
struct RecordForm {
  std::vector<std::string> names;
  bool ends_in_list = false;  ///< the last name stands for any number of texts, in JSON an array

  /// Each argument is then a record of its own.
  bool is_single_text() const { return names.size() == 1; }
  /// "question, context" or "prompt, choices ...".
  std::string listed_names() const;
};

inline const RecordForm kTextForm = {{"text"}};
inline const RecordForm kPairForm = {{"text", "pair"}};

struct Record {
  std::vector<std::string> texts;  ///< in the order of the form's names, those of the list last
  size_t line = 0;                 ///< of stdin, from 1; 0: the record comes from arguments
  std::string carried = {};        ///< its other JSON members, as ",\"id\":7"

  /// Appends the carried members to the JSON object of the record's result.
  std::string with_carried(std::string object) const;

  /// Ends the tool with one line: InputError for a line of stdin, UsageError for arguments.
  [[noreturn]] void refuse(const std::string& problem) const;
};

class RecordSource {
 public:
  RecordSource(const RecordInput& input, const RecordForm& form);

  /// Like TextSource::next(). A bad line throws only after the records before it were returned.
  std::vector<Record> next(size_t most);
  /// The share of the input that is read, 0 to 1; nothing where its size is not known.
  std::optional<double> share_read() const;

 private:
  std::vector<Record> argument_records();
  Record record_of_line(std::string line);
  void read_json(const std::string& line, Record& record);
  void carry(const Json& object, Record& record);

  const RecordInput& input_;
  const RecordForm form_;
  TextSource lines_;
  size_t line_ = 0, next_argument_ = 0;
  bool left_out_key_ = false;
  std::vector<Record> from_arguments_;
  std::exception_ptr failure_;  ///< of a bad line, thrown by the next call of next()
};

}  // namespace embert::cli
