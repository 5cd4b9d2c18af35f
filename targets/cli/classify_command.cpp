// SPDX-License-Identifier: Apache-2.0
// embert classify: the labels of each text with their scores.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "targets/cli/commands.hpp"
#include "targets/cli/encoder_session.hpp"
#include "targets/cli/output.hpp"
#include "targets/cli/texts.hpp"

namespace embert::cli {
namespace {

constexpr uint32_t kTextsACall = 16;

struct ClassifyOptions {
  std::string model;
  std::vector<std::string> texts;
  uint32_t top = 0;  ///< 0: the best in text, all in JSON
  RunOptions run;
  bool json = false;
};

/// What the model's logits mean: probabilities, or the numbers themselves.
std::vector<double> scores_of(const int32_t* logits, size_t size, double step, uint32_t problem) {
  std::vector<double> scores(size);
  for (size_t i = 0; i < size; ++i) scores[i] = logits[i] * step;
  if (problem == EMBERT_PROBLEM_MULTI_LABEL) {
    for (double& score : scores) score = 1 / (1 + std::exp(-score));
  } else if (problem == EMBERT_PROBLEM_SINGLE_LABEL) {
    const double highest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - highest);
    for (double& score : scores) score /= sum;
  }
  return scores;
}

/// Labels by falling logit, equal ones in the model's order.
std::vector<uint32_t> ranking(const int32_t* logits, uint32_t size, uint32_t top) {
  std::vector<uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return logits[a] > logits[b]; });
  order.resize(std::min(top, size));
  return order;
}

std::string label_name(const ModelFile& file, uint32_t label) {
  const char* name = embert_model_label(file.model(), label);
  return name ? name : std::to_string(label);
}

void write_result(const ClassifyOptions& options, const ModelFile& file, const std::string& text,
                  uint32_t tokens, const int32_t* logits, double step) {
  const uint32_t labels = file.info().num_labels;
  const uint32_t top = options.top ? options.top : options.json ? labels : 1;
  const std::vector<double> scores = scores_of(logits, labels, step, file.info().problem);
  const std::vector<uint32_t> order = ranking(logits, labels, top);
  if (!options.json) {
    std::string line;
    for (const uint32_t label : order) {
      line += fixed(scores[label], 4) + '\t' + one_line(label_name(file, label)) + '\t';
    }
    output().line(line + one_line(text));
    return;
  }
  Json ranked = Json::array();
  for (const uint32_t label : order) {
    ranked.push_back({{"label", label_name(file, label)}, {"score", scores[label]}});
  }
  output().json({{"text", text},
                 {"tokens", tokens},
                 {"label", label_name(file, order[0])},
                 {"score", scores[order[0]]},
                 {"scores", std::move(ranked)}});
}

/// Of a text without tokens.
void write_no_result(const ClassifyOptions& options, const std::string& text) {
  if (!options.json) return output().line("");
  output().json(
      {{"text", text}, {"tokens", 0}, {"label", Json()}, {"score", Json()}, {"scores", Json()}});
}

void run_classify(const ClassifyOptions& options) {
  const ModelFile file(options.model, isa_mask_of(options.run.isa));
  file.require_tokenizer();
  file.require_classifier();
  TextSource source(options.texts);
  const auto most = static_cast<uint32_t>(
      options.texts.empty() ? kTextsACall : std::min<size_t>(kTextsACall, options.texts.size()));
  const EncoderSession session(file, options.run.threads, 0, most);
  const size_t labels = file.info().num_labels;
  std::vector<int32_t> logits(most * labels);

  for (auto texts = source.next(most); !texts.empty(); texts = source.next(most)) {
    const Batch batch = session.tokenize(texts);
    const embert_input input = batch.input();
    embert_scale scale = {};
    if (!batch.empty()) {
      check(embert_classify(session.engine(), &input, logits.data(), &scale), "embert_classify");
    }
    const auto step = static_cast<double>(embert_scale_to_float(scale));
    const int32_t* next = logits.data();
    for (size_t t = 0; t < texts.size(); ++t) {
      if (batch.lengths[t] == 0) {
        write_no_result(options, texts[t]);
        continue;
      }
      write_result(options, file, texts[t], batch.lengths[t], next, step);
      next += labels;
    }
  }
}

}  // namespace

void add_classify_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("classify", "The best labels for each text");
  auto options = std::make_shared<ClassifyOptions>();
  add_model_argument(*command, options->model);
  add_text_arguments(*command, options->texts);
  command->add_option("--top", options->top, "How many labels to show; default: 1, all with --json")
      ->check(CLI::Range(1, 4096))
      ->type_name("K");
  command->add_flag("--json", options->json, "JSON Lines: text, tokens, label, score, scores");
  options->run.add_to(*command);
  command->footer(
      "Without --json a line is: score, label (K times), text, with tabs between.\n"
      "A text without tokens, as an empty line where the model adds no special tokens, gets an\n"
      "empty line, with --json the label, score and scores null.\n"
      "Example:\n"
      "  embert classify intent.emb \"book me a flight to Paris\" --top 3\n"
      "  embert classify intent.emb --json < lines.txt > labels.jsonl");
  command->callback([options] { run_classify(*options); });
}

}  // namespace embert::cli
