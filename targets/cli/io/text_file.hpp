// SPDX-License-Identifier: Apache-2.0
// Files with a text a line, or with a text, a tab and its label. The path "-" is stdin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "targets/hosted/model/model_file.hpp"

namespace embert::cli {

/// Reads a regular file or stdin, of at most 256 MB. Throws InputError, also for a file without
/// lines.
std::vector<std::string> read_text_lines(const std::string& path);

/// The same as one text; an empty one is refused, too.
std::string read_whole_text(const std::string& path);

/// Line i of a labelled file is entry i - 1.
struct LabelledText {
  std::string text;
  std::optional<std::string> pair;
  std::string label;
};

/// The columns of a line, with tabs between.
enum class LabelledForm {
  kText,   ///< text, label
  kPair,   ///< text, pair, label
  kEither  ///< the one or the other, as in the first line
};
/// Throws InputError for a line with other columns.
std::vector<LabelledText> read_labelled(const std::string& path, LabelledForm form);

/// Throws InputError if all texts have the same label: then there is nothing to measure.
void require_several_labels(const std::string& path, const std::vector<LabelledText>& texts);

/// "FILE: line 7", for a message about entry 6.
std::string line_of(const std::string& path, size_t entry);

/// Returns the index of a label among the classifier's; nothing if it has no such label.
std::optional<uint32_t> label_index(const hosted::ModelFile& file, const std::string& label);

/// Returns the indices of all labels. Throws InputError with the line of one that the classifier
/// does not have.
std::vector<int32_t> label_indices(const hosted::ModelFile& file, const std::string& path,
                                   const std::vector<LabelledText>& texts);

/// Whether all lines are a text, a tab and one of few labels, or a label of the classifier.
bool seem_labelled(const hosted::ModelFile& file, const std::vector<std::string>& lines);

}  // namespace embert::cli
