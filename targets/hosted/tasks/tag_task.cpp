// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/tag_task.hpp"

#include <memory>

#include "embert/embert_inspect.h"
#include "embert/embert_tasks.h"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/tasks/common/token_logits.hpp"

namespace embert::hosted {
namespace {

embert_aggregation aggregation_of(const std::string& name) {
  constexpr const char* kNames[] = {"none", "simple", "first", "average", "max"};
  for (uint32_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<embert_aggregation>(i);
  }
  throw UsageError("aggregation \"" + one_line(name) +
                   "\": there are none, simple, first, average and max");
}

/// The options point to the names, so an object stays where it is. The labels stay in the model
/// file.
struct TagLabels {
  std::vector<const char*> names;
  embert_tag_options options;
};

std::shared_ptr<const TagLabels> tag_labels(const ModelFile& file, const TagOptions& options) {
  const auto made = std::make_shared<TagLabels>();
  TagLabels& labels = *made;
  for (uint32_t i = 0; i < file.info().num_token_labels; ++i) {
    labels.names.push_back(embert_model_token_label(file.model(), i));
  }
  labels.options = {.size = sizeof(labels.options),
                    .labels = labels.names.data(),
                    .num_labels = labels.names.size(),
                    .aggregation = aggregation_of(options.aggregation),
                    .ignored = "O"};
  return made;
}

std::vector<embert_entity> find_entities(const ModelFile& file, WorkSlot& slot,
                                         const embert_tag_options& options,
                                         const std::vector<TextTokens>& windows) {
  std::vector<embert_entity> entities;
  size_t count = 0;
  for (const TextTokens& tokens : windows) {
    const size_t size = tokens.ids.size();
    if (size == 0) continue;
    const TokenLogits logits = classify_tokens(file, slot, tokens);
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

std::string entities_text(const embert_tag_options& tags, std::string_view text, size_t windows,
                          const std::vector<embert_entity>& entities, LineForm form) {
  Json list = Json::array();
  std::string lines;
  for (const embert_entity& entity : entities) {
    const char* name = tags.labels[entity.label];
    const std::string label =
        tags.aggregation == EMBERT_AGGREGATION_NONE ? name : embert_label_group(name);
    const std::string_view piece =
        text.substr(entity.byte_begin, entity.byte_end - entity.byte_begin);
    const double score = score_of(entity.score);
    if (form == LineForm::kJson) {
      list.push_back({{"label", label},
                      {"score", score},
                      {"text", piece},
                      {"words", {entity.first_word, entity.last_word}},
                      {"byte_offsets", {entity.byte_begin, entity.byte_end}},
                      {"char_offsets", {entity.char_begin, entity.char_end}}});
    } else {
      lines += fixed(score, 4) + '\t' + one_line(label) + '\t' + std::to_string(entity.byte_begin) +
               '-' + std::to_string(entity.byte_end) + '\t' + one_line(piece) + '\n';
    }
  }
  if (form == LineForm::kPlain) return lines;
  return json_line({{"text", text}, {"windows", windows}, {"entities", std::move(list)}});
}

}  // namespace

TextTask prepare_tag(HostedModel& model, const TagOptions& options) {
  const ModelFile& file = model.file();
  file.require_tokenizer();
  require_task(file, Task::kTag);
  const uint32_t most = window_size(file, options.windows, model.max_tokens());
  return {
      [&model, &file, labels = tag_labels(file, options), most, stride = options.windows.stride](
          const embert_hosted_texts& texts, LineForm form, Progress& progress) {
        if (texts.pair_offsets != nullptr) {
          throw UsageError("tag takes single texts, as an entity's offsets are those of one text");
        }
        return lines_one_by_one(model, texts.count, progress, [&](WorkSlot& slot, size_t i) {
          const TextItem item = text_at(texts, i);
          const auto windows = windows_of(*file.model(), item, {most, stride});
          return entities_text(labels->options, item.text, windows.size(),
                               find_entities(file, slot, labels->options, windows), form);
        });
      },
      kSingleTextsAtOnce};
}

}  // namespace embert::hosted
