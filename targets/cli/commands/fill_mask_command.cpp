// SPDX-License-Identifier: Apache-2.0
// embert fill-mask: the most probable tokens for each mask of a text.
#include <CLI/CLI.hpp>
#include <memory>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/model/model_session.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/logit_scores.hpp"

namespace embert::cli {
namespace {

struct FillMaskOptions {
  TextCall call;
  uint32_t top = 5;
  std::vector<std::string> targets;
};

/// The mask token and the tokens of --targets.
struct MaskTokens {
  int32_t mask_id;
  std::vector<embert_candidate> targets;  ///< empty: the whole vocabulary
};

/// Returns the id of the mask token; throws if the vocabulary has none.
int32_t mask_id_of(const ModelFile& file) {
  embert_tokenizer_info info = {.size = sizeof(info)};
  check(embert_model_get_tokenizer(file.model(), &info), "embert_model_get_tokenizer");
  if (info.mask_id == UINT32_MAX) {
    throw UsageError(quoted_path(file.path()) + ": the vocabulary has no mask token (" +
                     embert_status_name(EMBERT_STATUS_NO_MASK_TOKEN) + ")");
  }
  return static_cast<int32_t>(info.mask_id);
}

/// Returns the tokens of --targets.
std::vector<embert_candidate> target_tokens(const ModelFile& file,
                                            const std::vector<std::string>& words) {
  embert_tokenizer_info info = {.size = sizeof(info)};
  check(embert_model_get_tokenizer(file.model(), &info), "embert_model_get_tokenizer");
  std::vector<embert_candidate> candidates;
  for (const std::string& word : words) {
    const std::vector<int32_t> ids = plain_ids(*file.model(), word);
    if (ids.size() != 1 || static_cast<uint32_t>(ids[0]) == info.unk_id) {
      throw UsageError("--targets \"" + word + "\": a mask stands for one token of the vocabulary" +
                       (ids.size() == 1 ? "" : ", this is " + std::to_string(ids.size())));
    }
    candidates.push_back({ids[0], 0, 0, 0});
  }
  return candidates;
}

/// Returns the best tokens for a position of the last run; only among `targets` if there are any.
std::vector<embert_candidate> best_tokens(const ModelSession& session, uint32_t row, uint32_t top,
                                          std::vector<embert_candidate> targets) {
  const bool is_free = targets.empty();
  if (is_free) targets.resize(top);
  embert_candidates list = {
      .items = targets.data(), .capacity = targets.size(), .count = targets.size()};
  if (is_free) {
    check(embert_lm_top(session.engine(), row, &list, nullptr, nullptr), "embert_lm_top");
  } else {
    check(embert_lm_score(session.engine(), row, &list, nullptr, nullptr), "embert_lm_score");
    check(embert_rank_candidates(&list), "embert_rank_candidates");
  }
  targets.resize(std::min<size_t>(list.count, top));
  return targets;
}

/// Returns the JSON value for the candidates of one mask. The only mask of a text shows its
/// sequences without special tokens.
Json candidates_json(const embert_model& model, const TextTokens& tokens, uint32_t position,
                     bool is_only_mask, const std::vector<embert_candidate>& candidates) {
  Json list = Json::array();
  std::vector<int32_t> ids = tokens.ids;
  for (const embert_candidate& candidate : candidates) {
    ids[position] = candidate.id;
    const std::string text = text_of(model, {candidate.id}, false);
    list.push_back({{"word", text.empty() ? Json() : Json(text)},
                    {"score", score_of_log2(candidate.log2_score)},
                    {"id", candidate.id},
                    {"sequence", text_of(model, ids, is_only_mask)}});
  }
  return list;
}

/// Writes the candidates of one mask, as candidates_json() returns them, on a line of text.
void write_mask_line(const std::string& text, const Json& words) {
  std::string line;
  for (const Json& word : words) {
    const std::string name = word["word"].is_null() ? "id " + word["id"].dump()
                                                    : one_line(word["word"].get<std::string>());
    line += fixed(word["score"].get<double>(), 4) + '\t' + name + '\t';
  }
  output().line(line + one_line(text));
}

void fill_masks(const FillMaskOptions& options, const ModelSession& session,
                const MaskTokens& mask_tokens, const Record& record) {
  const embert_model& model = *session.file().model();
  const TextTokens tokens = session.tokenize(record.texts[0]);
  std::vector<uint32_t> positions;
  for (uint32_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.ids[i] == mask_tokens.mask_id) positions.push_back(i);
  }
  if (positions.empty()) {
    record.refuse("no mask token " + std::string(token_string(model, mask_tokens.mask_id)) +
                  " in the first " + std::to_string(session.options().max_tokens) +
                  " tokens of the text (" + embert_status_name(EMBERT_STATUS_NO_MASK_TOKEN) + ")");
  }
  session.run(tokens);
  Json masks = Json::array();
  for (const uint32_t position : positions) {
    Json words = candidates_json(model, tokens, position, positions.size() == 1,
                                 best_tokens(session, position, options.top, mask_tokens.targets));
    if (!options.call.json) write_mask_line(record.texts[0], words);
    masks.push_back({{"position", position}, {"words", std::move(words)}});
  }
  if (!options.call.json) return;
  output().json(
      {{"text", record.texts[0]}, {"tokens", tokens.ids.size()}, {"masks", std::move(masks)}});
}

void run_fill_mask(const FillMaskOptions& options) {
  const ModelFile file(options.call.model, isa_mask_of(options.call.run.isa));
  file.require_tokenizer();
  require_task(file, Task::kFillMask);
  const MaskTokens mask_tokens = {mask_id_of(file), target_tokens(file, options.targets)};
  RecordSource source(options.call.input, kTextForm);
  const ModelSession session(file, options.call.run.threads, 0, 1);
  for (auto records = source.next(1); !records.empty(); records = source.next(1)) {
    fill_masks(options, session, mask_tokens, records[0]);
  }
}

}  // namespace

void add_fill_mask_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("fill-mask", "Fill the masks of a text with words");
  auto options = std::make_shared<FillMaskOptions>();
  add_text_call(*command, options->call, kTextForm,
                "text, tokens, masks with position and words with word, score, id, sequence");
  command->add_option("--top", options->top, "How many words to show for a mask")
      ->check(CLI::Range(1, 1000))
      ->type_name("K")
      ->capture_default_str();
  command->add_option("--targets", options->targets, "Only these words, each a token")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("WORD,WORD,...");
  command->footer(
      "Without --json a line, one a mask, is: score, word (K times), text, with tabs between.\n"
      "Scores are shares of the whole vocabulary.\n"
      "Example:\n"
      "  embert fill-mask bert.emb \"Paris is the [MASK] of France.\"\n"
      "  embert fill-mask bert.emb \"The [MASK] sat on the mat.\" --targets cat,dog --json");
  command->callback([options] { run_fill_mask(*options); });
}

}  // namespace embert::cli
