// SPDX-License-Identifier: Apache-2.0
// embert tag: the entities of each text, with scores and offsets.
#include <CLI/CLI.hpp>
#include <memory>

#include "embert/embert_inspect.h"
#include "embert/embert_tasks.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/model/model_session.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/cli/tasks/text_windows.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/logit_scores.hpp"

namespace embert::cli {
namespace {

// By embert_aggregation.
constexpr const char* kAggregations[] = {"none", "simple", "first", "average", "max"};

struct TagOptions {
  TextCall call;
  WindowOptions windows;
  std::string aggregation = "simple";

  embert_aggregation aggregation_value() const {
    uint32_t i = 0;
    while (aggregation != kAggregations[i]) ++i;
    return static_cast<embert_aggregation>(i);
  }
};

std::vector<embert_entity> find_entities(const ModelSession& session,
                                         const embert_tag_options& options,
                                         const std::vector<TextTokens>& windows) {
  std::vector<embert_entity> entities;
  size_t count = 0;
  for (const TextTokens& tokens : windows) {
    const size_t size = tokens.ids.size();
    if (size == 0) continue;
    const Rows<int32_t> logits = session.classify_tokens(tokens);
    std::vector<embert_q30> scores(logits.values.size());
    check(embert_softmax_q30(logits.values.data(), size, logits.width, logits.scale, scores.data()),
          "embert_softmax_q30");
    embert_tag_window window = {.size = sizeof(window)};
    window.scores = scores.data();
    window.word_ids = tokens.word_ids.data();
    window.byte_offsets = tokens.byte_offsets.data();
    window.char_offsets = tokens.char_offsets.data();
    window.tokens = size;
    entities.resize(count + size);
    check(embert_find_entities(&options, &window, entities.data(), entities.size(), &count),
          "embert_find_entities");
  }
  if (windows.size() > 1 && count > 0) {
    check(embert_merge_entities(entities.data(), &count), "embert_merge_entities");
  }
  entities.resize(count);
  return entities;
}

void write_entities(const TagOptions& options, const embert_tag_options& tags,
                    const std::string& text, size_t windows,
                    const std::vector<embert_entity>& entities) {
  Json list = Json::array();
  for (const embert_entity& entity : entities) {
    const char* name = tags.labels[entity.label];
    const std::string label =
        tags.aggregation == EMBERT_AGGREGATION_NONE ? name : embert_label_group(name);
    const std::string piece = text.substr(entity.byte_begin, entity.byte_end - entity.byte_begin);
    const double score = score_of(entity.score);
    if (options.call.json) {
      list.push_back({{"label", label},
                      {"score", score},
                      {"text", piece},
                      {"words", {entity.first_word, entity.last_word}},
                      {"byte_offsets", {entity.byte_begin, entity.byte_end}},
                      {"char_offsets", {entity.char_begin, entity.char_end}}});
    } else {
      output().line(fixed(score, 4) + '\t' + one_line(label) + '\t' +
                    std::to_string(entity.byte_begin) + '-' + std::to_string(entity.byte_end) +
                    '\t' + one_line(piece));
    }
  }
  if (!options.call.json) return output().line("");
  output().json({{"text", text}, {"windows", windows}, {"entities", std::move(list)}});
}

void run_tag(const TagOptions& options) {
  const ModelFile file(options.call.model, isa_mask_of(options.call.run.isa));
  file.require_tokenizer();
  require_task(file, Task::kTag);
  RecordSource source(options.call.input, kTextForm);
  const ModelSession session(file, options.call.run.threads, options.windows.window, 1);

  std::vector<const char*> labels;
  for (uint32_t i = 0; i < file.info().num_token_labels; ++i) {
    labels.push_back(embert_model_token_label(file.model(), i));
  }
  const embert_tag_options tags = {.size = sizeof(tags),
                                   .labels = labels.data(),
                                   .num_labels = labels.size(),
                                   .aggregation = options.aggregation_value(),
                                   .ignored = "O"};
  for (auto records = source.next(1); !records.empty(); records = source.next(1)) {
    const auto windows =
        windows_of(*file.model(), records[0], session.options().max_tokens, options.windows.stride);
    write_entities(options, tags, records[0].texts[0], windows.size(),
                   find_entities(session, tags, windows));
  }
}

}  // namespace

void add_tag_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tag", "Find the entities in each text");
  auto options = std::make_shared<TagOptions>();
  add_text_call(*command, options->call, kTextForm,
                "text, windows, entities with label, score, text, words, byte_offsets, "
                "char_offsets");
  command
      ->add_option("--aggregation", options->aggregation,
                   "What becomes one entity: none, each token; simple, neighbours of one kind; "
                   "first, average, max, neighbouring words, labelled by their first token, their "
                   "mean scores or their surest token")
      ->check(CLI::IsMember({"none", "simple", "first", "average", "max"}))
      ->type_name("NAME")
      ->capture_default_str();
  options->windows.add_to(*command);
  command->footer(
      "Without --json a line is: score, label, bytes from-to, text, with tabs between, and an\n"
      "empty line ends a text. Texts longer than a window are read in overlapping ones. The\n"
      "label O is no entity.\n"
      "Example:\n"
      "  embert tag names.emb \"John Smith lives in Hamburg\" --aggregation first --json");
  command->callback([options] { run_tag(*options); });
}

}  // namespace embert::cli
