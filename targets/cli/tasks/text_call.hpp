// SPDX-License-Identifier: Apache-2.0
// The arguments and options that all subcommands share which run a model on texts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "targets/cli/io/records.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/hosted/hosted_model.hpp"
#include "targets/hosted/tasks/common/text_task.hpp"
#include "targets/hosted/texts/text_list.hpp"

namespace embert::cli {

struct TextCall {
  std::string model;  ///< path
  RecordInput input;
  bool json = false;
  std::string on_long = "cut";
  RunOptions run;

  bool refuses_long() const { return on_long == "error"; }
  bool reads_windows() const { return on_long == "windows"; }
};

/// Adds MODEL, TEXT..., --jsonl, --max-line-bytes, --json and --output. `result` names the keys of
/// --json.
void add_record_options(CLI::App& command, TextCall& call, const RecordForm& form,
                        const ResultForm& result);
/// Adds these, --threads and --isa.
void add_text_call(CLI::App& command, TextCall& call, const RecordForm& form,
                   const ResultForm& result);

/// Adds --on-long to a task that cuts long texts.
void add_on_long_option(CLI::App& command, TextCall& call);
/// The same for a task that may also read them in windows; `mean` is what it takes the mean of.
void add_on_long_windows_option(CLI::App& command, TextCall& call, const std::string& mean);

/// Opens the model with the threads of the call; says so if there are fewer than --threads.
std::unique_ptr<HostedModel> open_model(const TextCall& call);

/// The texts of records for the hosted library: alone, or pairs.
TextList list_of(const std::vector<Record>& records);

/// Pairs of the record's first text with each of the others.
TextList list_with_first(const Record& record);

/// Uses records and returns how many of their texts were cut to the model's length. The progress
/// counts the records.
using RecordUse = std::function<size_t(const std::vector<Record>& records, Progress& progress)>;

/// Calls use() for as many records as are available at once, up to `most`, until there are none,
/// and shows the progress. A text that fails ends the tool with the record's line. In the end a
/// note says how many texts were cut.
void for_records(const TextCall& call, const RecordForm& form, size_t most, const RecordUse& use);

/// Makes the list of texts that a task reads.
using ListMaker = std::function<TextList(const std::vector<Record>& records)>;
/// Runs a task on the records of the call and writes its lines.
void run_text_task(const TextCall& call, const RecordForm& form, const TextTask& task,
                   const ListMaker& make_list = list_of);

}  // namespace embert::cli
