// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/records.hpp"

#include <algorithm>

#include "converter/files/read_file.hpp"
#include "embert/embert.h"
#include "targets/cli/io/columns.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/tasks/common/text_task.hpp"

namespace embert::cli {
namespace {

void check_text_count(const Record& record, const RecordForm& form) {
  const size_t texts = record.texts.size(), names = form.names.size();
  if (form.ends_in_list && texts + 1 == names) {
    record.refuse("no " + form.names.back() + " (" + embert_status_name(EMBERT_STATUS_NO_CHOICES) +
                  "); expected " + form.listed_names());
  }
  if (texts < names || (texts > names && !form.ends_in_list)) {
    record.refuse(
        "found " + std::to_string(texts) + (texts == 1 ? " text" : " texts") + ", expected " +
        std::to_string(names) + (form.ends_in_list ? " or more: " : ": ") + form.listed_names() +
        (record.line > 0 ? ", with a tab between them (--jsonl for texts with tabs)" : ""));
  }
}

}  // namespace

std::string RecordForm::listed_names() const {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
  return result + (ends_in_list ? " ..." : "");
}

std::string ResultForm::listed() const {
  std::string result;
  for (const std::string& key : keys) result += (result.empty() ? "" : ", ") + key;
  return items.empty() ? result : result + " with " + items;
}

std::string Record::with_carried(std::string object) const {
  object.insert(object.size() - 1, carried);
  return object;
}

void Record::refuse(const std::string& problem) const {
  if (line == 0) throw UsageError(problem);
  throw InputError("stdin line " + std::to_string(line) + ": " + problem);
}

RecordSource::RecordSource(const RecordInput& input, const RecordForm& form)
    : input_(input), form_(form), lines_({}, input.max_line_bytes) {
  if (input.jsonl && !input.arguments.empty()) {
    throw UsageError("--jsonl is for stdin: leave out the texts");
  }
  if (!input.arguments.empty()) from_arguments_ = argument_records();
}

std::vector<Record> RecordSource::argument_records() {
  std::vector<Record> records;
  if (form_.is_single_text()) {
    for (const std::string& text : input_.arguments) records.push_back({{text}});
    return records;
  }
  Record record = {input_.arguments};
  if (form_.ends_in_list && record.texts.size() + 1 == form_.names.size()) {
    uint64_t bytes = 0;
    for (auto more = lines_.next(1); !more.empty(); more = lines_.next(1)) {
      bytes += more[0].size() + sizeof(more[0]);
      if (bytes > convert::kMostTextBytes) {
        throw InputError("stdin: has more texts than one record may hold, " +
                         std::to_string(convert::kMostTextBytes) + " bytes in memory; give fewer");
      }
      record.texts.push_back(std::move(more[0]));
    }
  }
  check_text_count(record, form_);
  return {std::move(record)};
}

std::optional<double> RecordSource::share_read() const {
  if (from_arguments_.empty()) return lines_.share_read();
  return static_cast<double>(next_argument_) / static_cast<double>(from_arguments_.size());
}

std::vector<Record> RecordSource::next(size_t most) {
  std::vector<Record> records;
  if (!from_arguments_.empty()) {
    while (records.size() < most && next_argument_ < from_arguments_.size()) {
      records.push_back(std::move(from_arguments_[next_argument_++]));
    }
    return records;
  }
  if (failure_) std::rethrow_exception(failure_);
  try {
    for (std::string& line : lines_.next(most)) records.push_back(record_of_line(std::move(line)));
  } catch (const InputError&) {
    if (records.empty()) throw;
    failure_ = std::current_exception();
  }
  return records;
}

Record RecordSource::record_of_line(std::string line) {
  Record record = {{}, ++line_};
  if (input_.jsonl) {
    read_json(line, record);
  } else if (form_.is_single_text()) {
    record.texts.push_back(std::move(line));
  } else {
    record.texts = split_columns(line);
  }
  check_text_count(record, form_);
  return record;
}

void RecordSource::read_json(const std::string& line, Record& record) {
  const Json object = parse_json(line);
  if (!object.is_object()) {
    record.refuse(std::string("is no JSON object ") + kJsonLimits + json_fault(line));
  }
  if (form_.is_single_text() && object.contains("pair")) {
    record.refuse("has a \"pair\", and one text is taken: classify takes two with --pairs");
  }
  for (const std::string& name : form_.names) {
    const bool is_list = form_.ends_in_list && name == form_.names.back();
    const auto found = object.find(name);
    const bool ok = found != object.end() && (is_list ? found->is_array() : found->is_string());
    if (!ok) record.refuse("has no \"" + name + "\" that is " + (is_list ? "an array" : "a text"));
    if (!is_list) {
      record.texts.push_back(found->get<std::string>());
      continue;
    }
    for (const Json& text : *found) {
      if (!text.is_string()) record.refuse("\"" + name + "\" has something that is no text");
      record.texts.push_back(text.get<std::string>());
    }
  }
  carry(object, record);
}

void RecordSource::carry(const Json& object, Record& record) {
  const auto has = [](const std::vector<std::string>& names, const std::string& key) {
    return std::find(names.begin(), names.end(), key) != names.end();
  };
  for (const auto& [key, value] : object.items()) {
    if (has(form_.names, key)) continue;
    if (!has(input_.result.keys, key) && key != kTruncatedKey) {
      record.carried += "," + hosted::json_line(key) + ":" + hosted::json_line(value);
    } else if (!left_out_key_) {
      left_out_key_ = true;
      note("stdin line " + std::to_string(record.line) + ": the input's \"" + key +
           "\" is left out, as the result has a key of this name");
    }
  }
}

}  // namespace embert::cli
