// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/text_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "converter/files/read_file.hpp"
#include "targets/cli/io/columns.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"

namespace embert::cli {
namespace {

std::string read_stdin() {
  std::string text;
  char part[1 << 16];
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, part, sizeof(part));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError(std::string("stdin cannot be read: ") + std::strerror(errno));
    if (count == 0) return text;
    text.append(part, static_cast<size_t>(count));
    if (text.size() > convert::kMostTextBytes) {
      throw InputError("stdin: has more than " + std::to_string(convert::kMostTextBytes) +
                       " bytes, give fewer texts");
    }
  }
}

}  // namespace

std::string read_whole_text(const std::string& path) {
  try {
    std::string text = path == "-"
                           ? read_stdin()
                           : convert::read_file(path, quoted_path(path), convert::kMostTextBytes);
    if (!text.empty()) return text;
  } catch (const convert::ConvertError& error) {
    throw InputError(error.what());
  }
  throw InputError(quoted_path(path) + ": has no text; put one on each line");
}

std::vector<std::string> read_text_lines(const std::string& path) {
  const std::string text = read_whole_text(path);
  try {
    return convert::split_lines(text, path == "-" ? "stdin" : quoted_path(path));
  } catch (const convert::ConvertError& error) {
    throw InputError(error.what());
  }
}

std::string line_of(const std::string& path, size_t entry) {
  return quoted_path(path) + ": line " + std::to_string(entry + 1);
}

std::vector<LabelledText> read_labelled(const std::string& path, LabelledForm form) {
  std::vector<LabelledText> texts;
  for (const std::string& line : read_text_lines(path)) {
    std::vector<std::string> columns = split_columns(line);
    if (form == LabelledForm::kEither) {
      form = columns.size() == 3 ? LabelledForm::kPair : LabelledForm::kText;
    }
    const bool pairs = form == LabelledForm::kPair;
    if (columns.size() != (pairs ? 3 : 2)) {
      throw InputError(line_of(path, texts.size()) +
                       (pairs ? ": expected text, a tab, its pair, a tab and a label"
                              : ": expected text, a tab and a label") +
                       "; found " + std::to_string(columns.size()) +
                       (columns.size() == 1 ? " column" : " columns"));
    }
    LabelledText entry = {std::move(columns[0]), {}, std::move(columns.back())};
    if (pairs) entry.pair = std::move(columns[1]);
    texts.push_back(std::move(entry));
  }
  return texts;
}

void require_several_labels(const std::string& path, const std::vector<LabelledText>& texts) {
  const bool differ = std::any_of(texts.begin(), texts.end(), [&](const LabelledText& entry) {
    return entry.label != texts[0].label;
  });
  if (differ) return;
  throw InputError(quoted_path(path) + ": all lines have the label \"" + one_line(texts[0].label) +
                   "\"; give texts of at least two labels");
}

std::optional<uint32_t> label_index(const ModelFile& file, const std::string& label) {
  for (uint32_t i = 0; i < file.info().num_labels; ++i) {
    if (label == label_name(file, i)) return i;
  }
  return {};
}

std::vector<int32_t> label_indices(const ModelFile& file, const std::string& path,
                                   const std::vector<LabelledText>& texts) {
  std::vector<int32_t> indices;
  for (const LabelledText& entry : texts) {
    const std::optional<uint32_t> index = label_index(file, entry.label);
    if (!index) {
      throw InputError(line_of(path, indices.size()) + ": the model has no label \"" +
                       one_line(entry.label) + "\" (`embert inspect` lists them)");
    }
    indices.push_back(static_cast<int32_t>(*index));
  }
  return indices;
}

bool seem_labelled(const hosted::ModelFile& file, const std::vector<std::string>& lines) {
  constexpr size_t kFewestTextsOfALabel = 4;  // on average
  std::set<std::string> labels;
  for (const std::string& line : lines) {
    const size_t tab = line.rfind('\t');
    if (tab == std::string::npos) return false;
    labels.insert(line.substr(tab + 1));
  }
  return labels.size() * kFewestTextsOfALabel <= lines.size() ||
         std::all_of(labels.begin(), labels.end(), [&file](const std::string& label) {
           return label_index(file, label).has_value();
         });
}

}  // namespace embert::cli
