// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/tasks/text_call.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/progress_bar.hpp"

namespace embert::cli {

void add_record_options(CLI::App& command, TextCall& call, const RecordForm& form,
                        const ResultForm& result) {
  call.input.result = result;
  add_model_argument(command, call.model);
  add_text_arguments(command, call.input.arguments,
                     form.is_single_text()
                         ? "Texts; without any, the lines of stdin; behind -- any text"
                         : form.listed_names() +
                               "; without any, the lines of stdin with tabs between; behind -- "
                               "any text");
  command.add_flag("--jsonl", call.input.jsonl,
                   "Lines of stdin are JSON objects with the keys " + form.listed_names() +
                       "; --json shows their other keys again");
  add_line_limit(command, call.input.max_line_bytes);
  command.add_flag("--json", call.json, "JSON Lines: " + result.listed());
  add_output_option(command);
}

void add_text_call(CLI::App& command, TextCall& call, const RecordForm& form,
                   const ResultForm& result) {
  add_record_options(command, call, form, result);
  call.run.add_to(command);
}

static void add_on_long(CLI::App& command, TextCall& call, const std::string& description,
                        const std::set<std::string>& names) {
  command.add_option("--on-long", call.on_long, description)
      ->check(CLI::IsMember(names))
      ->type_name("NAME")
      ->capture_default_str();
}

void add_on_long_option(CLI::App& command, TextCall& call) {
  add_on_long(command, call, "A text longer than the model's length: cut it, or end with an error",
              {"cut", "error"});
}

void add_on_long_windows_option(CLI::App& command, TextCall& call, const std::string& mean) {
  add_on_long(command, call,
              "A text longer than the model's length: cut it, end with an error, or windows: take "
              "the mean of the " +
                  mean + " of its parts, each weighed by its tokens",
              {"cut", "error", "windows"});
}

std::unique_ptr<HostedModel> open_model(const TextCall& call) {
  auto model =
      std::make_unique<HostedModel>(call.model, ModelOptions{.threads = call.run.threads,
                                                             .isa = call.run.isa,
                                                             .refuse_long = call.refuses_long()});
  if (model->threads() < call.run.threads) {
    note("--threads " + std::to_string(call.run.threads) + ": this process may use " +
         std::to_string(model->threads()));
  }
  return model;
}

TextList list_of(const std::vector<Record>& records) {
  TextList list;
  for (const Record& record : records) {
    record.texts.size() > 1 ? list.add(record.texts[0], record.texts[1])
                            : list.add(record.texts[0]);
  }
  return list;
}

TextList list_with_first(const Record& record) {
  TextList list;
  for (size_t i = 1; i < record.texts.size(); ++i) list.add(record.texts[0], record.texts[i]);
  return list;
}

namespace {

/// The progress of all records. No bar cuts through results on the same terminal.
class RecordProgress {
 public:
  explicit RecordProgress(const RecordSource& source)
      : source_(source), on_terminal_(output().is_on_terminal()) {}

  /// The progress of the next records of the source.
  Progress of_next(size_t count) {
    done_ += next_;
    next_ = count;
    return Progress(on_terminal_ ? nullptr : &RecordProgress::show, this, count);
  }

 private:
  static int show(void* context, size_t done, size_t) {
    auto* self = static_cast<RecordProgress*>(context);
    const size_t count = self->done_ + std::min(done, self->next_);
    std::optional<double> share = self->source_.share_read();
    if (share) {
      *share *= static_cast<double>(count) / static_cast<double>(self->done_ + self->next_);
    }
    self->bar_.show({"records", share, count});
    return 0;
  }

  const RecordSource& source_;
  bool on_terminal_;
  ProgressBar bar_;
  size_t done_ = 0, next_ = 0;
};

}  // namespace

void for_records(const TextCall& call, const RecordForm& form, size_t most, const RecordUse& use) {
  RecordSource source(call.input, form);
  size_t truncated = 0;
  {
    RecordProgress all(source);
    for (auto records = source.next(most); !records.empty(); records = source.next(most)) {
      Progress progress = all.of_next(records.size());
      try {
        truncated += use(records, progress);
      } catch (const TextError& error) {
        // Of a record with a list of texts, the index is that of a text in it.
        const size_t failed = std::min(error.text, records.size() - 1);
        Progress no_progress(nullptr, nullptr, 0);
        if (failed > 0) {  // those before it get their results
          use({records.begin(), records.begin() + static_cast<std::ptrdiff_t>(failed)},
              no_progress);
        }
        records[failed].refuse(error.what());
      }
    }
  }
  if (truncated > 0) {
    note(grouped(truncated) + (truncated == 1 ? " text was" : " texts were") +
         " cut to the model's length; --json marks each as \"" + kTruncatedKey +
         "\", --on-long error refuses them");
  }
}

void run_text_task(const TextCall& call, const RecordForm& form, const TextTask& task,
                   const ListMaker& make_list) {
  const LineForm line_form = call.json ? LineForm::kJson : LineForm::kPlain;
  for_records(
      call, form, task.texts_at_once, [&](const std::vector<Record>& records, Progress& progress) {
        const TextList list = make_list(records);
        const TaskLines result = task.run(list.view(), line_form, progress);
        if (result.failure) throw *result.failure;
        for (size_t i = 0; i < result.lines.size(); ++i) {
          output().line(call.json ? records[i].with_carried(result.lines[i]) : result.lines[i]);
        }
        return result.truncated;
      });
}

}  // namespace embert::cli
