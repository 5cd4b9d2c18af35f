// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/span_quality.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "converter/model/code_points.hpp"

namespace embert::hosted {
namespace {

struct CodePointRange {
  uint32_t first, last;
};

/// What Python's str.split() splits at.
constexpr CodePointRange kSpaces[] = {
    {0x09, 0x0D},     {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

constexpr CodePointRange kPunctuation[] = {
    {'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}};  // Python's string.punctuation

/// Signs that end a word but stay in the answer.
constexpr CodePointRange kSigns[] = {
    {0x00, 0x1F},     {0x7F, 0xA9},     {0xAB, 0xB1},     {0xB4, 0xB4},     {0xB6, 0xB8},
    {0xBB, 0xBB},     {0xBF, 0xBF},     {0xD7, 0xD7},     {0xF7, 0xF7},     {0x2010, 0x206F},
    {0x20A0, 0x20CF}, {0x2190, 0x245F}, {0x2500, 0x2775}, {0x2794, 0x2BFF}, {0x3001, 0x3004},
    {0x3008, 0x3020}, {0xFE30, 0xFE6F}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF20}};

template <size_t N>
bool is_in(uint32_t code_point, const CodePointRange (&ranges)[N]) {
  return std::any_of(std::begin(ranges), std::end(ranges), [&](const CodePointRange& range) {
    return range.first <= code_point && code_point <= range.last;
  });
}

/// Capital letters and the distance to their small ones (Unicode's simple mappings). `step` 2:
/// every other letter is a capital one.
struct Capitals {
  uint32_t first, last, step;
  int32_t distance;
};
constexpr Capitals kCapitals[] = {
    {'A', 'Z', 1, 32},     {0xC0, 0xD6, 1, 32},    {0xD8, 0xDE, 1, 32},   {0x100, 0x12E, 2, 1},
    {0x132, 0x136, 2, 1},  {0x139, 0x147, 2, 1},   {0x14A, 0x176, 2, 1},  {0x178, 0x178, 1, -121},
    {0x179, 0x17D, 2, 1},  {0x218, 0x21E, 2, 1},   {0x386, 0x386, 1, 38}, {0x388, 0x38A, 1, 37},
    {0x38C, 0x38C, 1, 64}, {0x38E, 0x38F, 1, 63},  {0x391, 0x3A1, 1, 32}, {0x3A3, 0x3AB, 1, 32},
    {0x400, 0x40F, 1, 80}, {0x410, 0x42F, 1, 32},  {0x460, 0x480, 2, 1},  {0x48A, 0x4BE, 2, 1},
    {0x4D0, 0x52E, 2, 1},  {0x1E00, 0x1E94, 2, 1}, {0x1EA0, 0x1EFE, 2, 1}};

uint32_t small_letter(uint32_t code_point) {
  for (const Capitals& letters : kCapitals) {
    if (letters.first <= code_point && code_point <= letters.last &&
        (code_point - letters.first) % letters.step == 0) {
      return static_cast<uint32_t>(static_cast<int32_t>(code_point) + letters.distance);
    }
  }
  return code_point;
}

void append_utf8(std::string& text, uint32_t c) {
  const auto add = [&text](uint32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) return add(c);
  if (c < 0x800) {
    add(0xC0 | c >> 6);
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12);
    add(0x80 | (c >> 6 & 0x3F));
  } else {
    add(0xF0 | c >> 18);
    add(0x80 | (c >> 12 & 0x3F));
    add(0x80 | (c >> 6 & 0x3F));
  }
  add(0x80 | (c & 0x3F));
}

bool is_article(std::string_view word) { return word == "a" || word == "an" || word == "the"; }

double shared_words(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::vector<std::string> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return static_cast<double>(both.size());
}

using Score = double (*)(std::string_view right, std::string_view found);

double best_score(const std::vector<std::string>& right, std::string_view found, Score score) {
  double best = 0;
  for (const std::string& answer : right) best = std::max(best, score(answer, found));
  return best;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<std::string> answer_words(std::string_view answer) {
  std::vector<std::string> words;
  std::string word;               // between spaces
  size_t letters = 0;             // of `word`, where the run of letters and digits begins
  const auto end_letters = [&] {  // an article goes, and a space takes its place
    if (is_article(std::string_view(word).substr(letters))) {
      word.resize(letters);
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    }
    letters = word.size();
  };
  const auto end_word = [&] {
    end_letters();
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
    letters = 0;
  };
  for (const uint32_t c : convert::code_points(answer)) {
    if (is_in(c, kSpaces)) {
      end_word();
    } else if (is_in(c, kPunctuation)) {
      continue;
    } else if (is_in(c, kSigns)) {
      end_letters();
      append_utf8(word, c);
      letters = word.size();
    } else {
      append_utf8(word, small_letter(c));
    }
  }
  end_word();
  return words;
}

double exact_match(std::string_view right, std::string_view found) {
  return answer_words(right) == answer_words(found) ? 1 : 0;
}

double answer_f1(std::string_view right, std::string_view found) {
  const std::vector<std::string> a = answer_words(right), b = answer_words(found);
  if (a.empty() || b.empty()) return a.empty() && b.empty() ? 1 : 0;
  return 2 * shared_words(a, b) / static_cast<double>(a.size() + b.size());
}

SpanQuality span_quality(const std::vector<AnsweredQuestion>& questions) {
  std::vector<double> match[2], f1[2];
  for (const AnsweredQuestion& question : questions) {
    const std::string_view found[] = {question.float32, question.int8};
    for (const size_t model : {0u, 1u}) {
      match[model].push_back(best_score(question.right, found[model], exact_match));
      f1[model].push_back(best_score(question.right, found[model], answer_f1));
    }
  }
  const auto loss_of = [&](std::span<const size_t> sample) {
    double loss = 0;
    for (const size_t i : sample) loss += f1[0][i] - f1[1][i];
    return loss / static_cast<double>(sample.size());
  };
  return {{mean(match[0]), mean(match[1])},
          {mean(f1[0]), mean(f1[1])},
          bootstrapped_loss(questions.size(), loss_of)};
}

}  // namespace embert::hosted
