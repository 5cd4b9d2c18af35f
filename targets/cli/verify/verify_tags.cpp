// SPDX-License-Identifier: Apache-2.0
// Lines of a word and its tag, with empty lines between sentences, as CoNLL files have them: F1 of
// entities. A word has the tag that the model gives its first token.
#include <algorithm>
#include <memory>
#include <numeric>

#include "targets/cli/io/columns.hpp"
#include "targets/cli/io/text_file.hpp"
#include "targets/cli/verify/labelled_task.hpp"
#include "targets/hosted/convert/tag_quality.hpp"
#include "targets/hosted/tasks/common/text_windows.hpp"

namespace embert::cli {
namespace {

constexpr int32_t kUntagged = -1;

/// A sentence of the file: its words with spaces between.
struct Sentence {
  std::string text;
  std::vector<size_t> begins, ends;  ///< [words] bytes in `text`
  std::vector<size_t> lines;         ///< [words] of the file, from 1
  std::vector<TextTokens> windows;

  std::string word(size_t i) const { return text.substr(begins[i], ends[i] - begins[i]); }
};

struct TagState {
  std::vector<std::string> names;  ///< of the model's tags
  std::vector<Sentence> sentences;
  std::vector<TaggedSentence> tags;  ///< [sentences]
  size_t sentence = 0, window = 0;   ///< that is seen next
};

/// Words and tag of a line; columns have tabs between, or spaces in a line without tabs.
std::vector<std::string> columns_of(const std::string& line) {
  if (line.find('\t') != std::string::npos) return split_columns(line);
  std::vector<std::string> columns;
  for (size_t begin = 0; (begin = line.find_first_not_of(' ', begin)) != std::string::npos;) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    columns.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return columns;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t") == std::string::npos;
}

/// The tag of each word that begins in a window: that of its first token. Words whose first token
/// stood in a window before keep theirs.
template <typename T>
void take_tags(const Sentence& sentence, const TextTokens& window, std::span<const T> logits,
               std::vector<int32_t>& tags) {
  const size_t width = logits.size() / window.ids.size();
  for (size_t token = 0; token < window.ids.size(); ++token) {
    const size_t begin = window.byte_offsets[2 * token], end = window.byte_offsets[2 * token + 1];
    if (window.sequence_ids[token] < 0 || begin == end) continue;
    // The first word that ends behind the token's beginning.
    const auto word =
        static_cast<size_t>(std::upper_bound(sentence.ends.begin(), sentence.ends.end(), begin) -
                            sentence.ends.begin());
    if (word == tags.size() || sentence.begins[word] >= end || tags[word] != kUntagged) continue;
    const auto row = logits.subspan(token * width, width);
    tags[word] = static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }
}

void see_window(const convert::ComparedText& text, TagState& state) {
  const Sentence& sentence = state.sentences[state.sentence];
  TaggedSentence& tags = state.tags[state.sentence];
  const TextTokens& window = sentence.windows[state.window];
  take_tags(sentence, window, text.float32, tags.float32);
  take_tags(sentence, window, text.int8, tags.int8);
  if (++state.window < sentence.windows.size()) return;
  state.window = 0;
  ++state.sentence;
}

TaskMeasure measure_tags(const TagState& state) {
  const TagQuality quality = tag_quality(state.names, state.tags);
  const auto name = [&](int32_t tag) {
    return tag == kUntagged ? "O" : state.names[static_cast<size_t>(tag)];
  };
  Json differing = Json::array();
  size_t entities = 0, differing_entities = 0;
  for (size_t i = 0; i < state.sentences.size(); ++i) {
    const TaggedSentence& tags = state.tags[i];
    const std::vector<TaggedEntity> by_float = tagged_entities(state.names, tags.float32),
                                    by_int8 = tagged_entities(state.names, tags.int8);
    const size_t common = convert::common_entities(by_float, by_int8);
    entities += by_float.size() + by_int8.size() - common;
    differing_entities += by_float.size() + by_int8.size() - 2 * common;
    for (size_t word = 0; word < tags.right.size(); ++word) {
      if (tags.float32[word] == tags.int8[word]) continue;
      differing.push_back({{"line", state.sentences[i].lines[word]},
                           {"text", state.sentences[i].word(word)},
                           {"right", name(tags.right[word])},
                           {"float32", name(tags.float32[word])},
                           {"int8", name(tags.int8[word])}});
    }
  }
  return {{{"agreement", agreement_of(entities, differing_entities)},
           {"answers", answers_json("entities", entities, differing_entities)},
           {"precision", both_json(quality.precision)},
           {"recall", both_json(quality.recall)},
           {"f1", both_json(quality.f1)},
           {"differing", std::move(differing)}},
          quality.loss};
}

/// The index of a tag, kUntagged for an "O" that the model does not have.
int32_t tag_index(const std::vector<std::string>& names, const std::string& tag,
                  const std::string& where) {
  const auto found = std::find(names.begin(), names.end(), tag);
  if (found != names.end()) return static_cast<int32_t>(found - names.begin());
  if (tag == "O") return kUntagged;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + one_line(name);
  throw InputError(where + ": the model has no tag \"" + one_line(tag) + "\"; it has " + list);
}

void add_word(TagState& state, const std::vector<std::string>& columns, size_t line,
              const std::string& where) {
  Sentence& sentence = state.sentences.back();
  if (!sentence.text.empty()) sentence.text += ' ';
  sentence.begins.push_back(sentence.text.size());
  sentence.text += columns.front();
  sentence.ends.push_back(sentence.text.size());
  sentence.lines.push_back(line);
  state.tags.back().right.push_back(tag_index(state.names, columns.back(), where));
}

/// Reads the sentences with their right tags. Throws InputError.
void read_sentences(TagState& state, const std::string& path) {
  size_t columns_of_file = 0, line_number = 0;
  bool between = true;
  for (const std::string& line : read_text_lines(path)) {
    const std::string where = line_of(path, line_number++);
    // CoNLL-2003 begins its documents so.
    if (is_blank(line) || line.starts_with("-DOCSTART-")) {
      between = true;
      continue;
    }
    const std::vector<std::string> columns = columns_of(line);
    if (columns_of_file == 0) columns_of_file = std::max<size_t>(columns.size(), 2);
    if (columns.size() != columns_of_file || columns.front().empty()) {
      throw InputError(where + ": expected " + std::to_string(columns_of_file) +
                       " columns, the word first and its tag last; found \"" +
                       one_line(line.substr(0, 60)) + '"');
    }
    if (between) {
      state.sentences.emplace_back();
      state.tags.emplace_back();
    }
    between = false;
    add_word(state, columns, line_number, where);
  }
  const bool any_entity =
      std::any_of(state.tags.begin(), state.tags.end(), [&](const TaggedSentence& sentence) {
        return !tagged_entities(state.names, sentence.right).empty();
      });
  if (!any_entity) {
    throw InputError(quoted_path(path) +
                     ": has no entity: each tag is O; give sentences with some");
  }
}

}  // namespace

LabelledTask tag_task(const ModelFile& file, const std::string& path) {
  const auto state = std::make_shared<TagState>();
  for (uint32_t i = 0; i < file.info().num_token_labels; ++i) {
    const char* name = embert_model_token_label(file.model(), i);
    state->names.push_back(name != nullptr ? name : "LABEL_" + std::to_string(i));
  }
  read_sentences(*state, path);
  LabelledTask task;
  for (size_t i = 0; i < state->sentences.size(); ++i) {
    Sentence& sentence = state->sentences[i];
    TaggedSentence& tags = state->tags[i];
    tags.float32.assign(tags.right.size(), kUntagged);
    tags.int8.assign(tags.right.size(), kUntagged);
    sentence.windows = windows_of(*file.model(), {sentence.text, {}}, {file.info().max_tokens});
    for (const TextTokens& window : sentence.windows) {
      if (window.ids.empty()) {
        throw InputError(line_of(path, sentence.lines[0] - 1) + ": the sentence has no token");
      }
      add_tokens(task.tokens, window);
      task.texts.add(sentence.text);
    }
  }
  task.see = [state](const convert::ComparedText& text) { see_window(text, *state); };
  task.measure = [state] { return measure_tags(*state); };
  return task;
}

}  // namespace embert::cli
