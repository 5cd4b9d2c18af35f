// SPDX-License-Identifier: Apache-2.0
// libFuzzer: embert_tasks.h and embert_vector.h with any numbers. A call is refused with a status,
// or its result is in range and in the order that the header states. An input is the number of a
// function, a count, and the numbers that it takes; numbers behind the end are zero.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "embert/embert_tasks.h"
#include "embert/embert_vector.h"
#include "tests/fuzz/support/require.hpp"

using namespace embert;
using fuzz::require;

namespace {

/// An allocation of exactly this size, for AddressSanitizer; one of 0 values is not null.
template <typename T>
class Values {
 public:
  explicit Values(std::size_t count) : values_(new T[count]()), count_(count) {}
  T* data() { return values_.get(); }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return values_[i]; }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t count_;
};

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : next_(data), left_(size) {}

  template <typename T>
  T take() {
    T value = {};
    const std::size_t bytes = std::min(sizeof(value), left_);
    std::memcpy(&value, next_, bytes);
    next_ += bytes;
    left_ -= bytes;
    return value;
  }
  std::size_t below(std::size_t range) { return take<std::uint8_t>() % range; }
  template <typename T>
  Values<T> many(std::size_t count) {
    Values<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = take<T>();
    return values;
  }
  embert_scale scale() { return {take<std::uint32_t>()}; }

 private:
  const std::uint8_t* next_;
  std::size_t left_;
};

bool ok(embert_status status) { return status == EMBERT_STATUS_OK; }

void call_softmax(Input& in, std::size_t n) {
  const std::size_t rows = in.below(4);
  const embert_scale scale = in.scale();
  Values<std::int32_t> logits = in.many<std::int32_t>(rows * n);
  Values<embert_q30> scores(rows * n);
  if (!ok(embert_softmax_q30(logits.data(), rows, n, scale, scores.data()))) return;
  for (std::size_t row = 0; row < rows; ++row) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += scores[row * n + i];
    // Each score is within 2^-30 + p * 3e-8 of the true one.
    const std::uint64_t error = n + 40;
    require(sum + error >= EMBERT_Q30_ONE && sum <= EMBERT_Q30_ONE + error, "scores add up to 1");
  }
}

void call_sigmoid(Input& in, std::size_t n) {
  const embert_scale scale = in.scale();
  Values<std::int32_t> logits = in.many<std::int32_t>(n);
  Values<embert_q30> scores(n);
  if (!ok(embert_sigmoid_q30(logits.data(), n, scale, scores.data()))) return;
  for (std::size_t i = 0; i < n; ++i) require(scores[i] <= EMBERT_Q30_ONE, "a probability");
}

void call_top_k(Input& in, std::size_t n) {
  const std::size_t k = in.below(50);
  Values<std::int32_t> values = in.many<std::int32_t>(n);
  Values<std::uint32_t> indices(std::min(k, n));
  std::size_t count = 0;
  if (!ok(embert_top_k(values.data(), n, k, indices.data(), &count))) return;
  require(count == std::min(k, n), "as many as there are, up to k");
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::int32_t one = values[indices[i]], next = values[indices[i + 1]];
    require(one > next || (one == next && indices[i] < indices[i + 1]), "the largest first");
  }
}

void call_labels(Input& in, std::size_t n) {
  const embert_scale scale = in.scale();
  const auto function = static_cast<embert_score_function>(in.below(4));
  const std::size_t top = in.below(50);
  Values<embert_label_score> items(in.below(50));
  Values<std::int32_t> values = in.many<std::int32_t>(n);
  const embert_logits logits = {values.data(), n, scale};
  embert_labels labels = {items.data(), items.size(), 0, {}};
  if (!ok(embert_rank_labels(&logits, function, top, &labels))) return;
  require(labels.count <= items.size() && labels.count <= n, "no more labels than there is room");
  for (std::size_t i = 0; i < labels.count; ++i) {
    require(items[i].label < n && values[items[i].label] == items[i].logit, "a label of the row");
    require(items[i].score <= EMBERT_Q30_ONE, "a probability");
    require(i == 0 || items[i - 1].logit >= items[i].logit, "the best first");
  }
}

void call_entities(Input& in, std::size_t n) {
  static const char* const kNames[] = {"O", "B-a", "I-a", "B-", "-", "", "x-y-z", "I-b"};
  embert_tag_options options = {.size = sizeof(options)};
  options.labels = kNames;
  options.num_labels = in.below(9);
  options.aggregation = static_cast<std::uint32_t>(in.below(6));
  options.ignored = in.below(2) == 0 ? nullptr : "O";
  Values<embert_entity> entities(in.below(50));
  std::size_t count = std::min(in.below(8), entities.size());
  for (std::size_t i = 0; i < count; ++i) {
    entities[i].char_begin = in.take<std::uint16_t>();
    entities[i].char_end = in.take<std::uint32_t>();
    entities[i].score = in.take<embert_q30>();
  }
  const bool words = in.below(2) == 0;
  Values<std::int32_t> word_ids = in.many<std::int32_t>(n);
  Values<std::uint8_t> is_subword = in.many<std::uint8_t>(n);
  Values<std::uint32_t> byte_offsets = in.many<std::uint32_t>(2 * n);
  Values<std::uint32_t> char_offsets = in.many<std::uint32_t>(2 * n);
  Values<embert_q30> scores = in.many<embert_q30>(n * options.num_labels);
  embert_tag_window window = {.size = sizeof(window)};
  window.scores = scores.data();
  window.word_ids = word_ids.data();
  window.byte_offsets = byte_offsets.data();
  window.char_offsets = char_offsets.data();
  window.tokens = n;
  window.is_subword = words ? nullptr : is_subword.data();
  const std::size_t before = count;
  if (!ok(embert_find_entities(&options, &window, entities.data(), entities.size(), &count))) {
    return;
  }
  require(count <= entities.size(), "no more entities than there is room for");
  for (std::size_t i = before; i < count; ++i) {
    require(entities[i].label < options.num_labels && entities[i].first_token < n &&
                entities[i].last_token < n && entities[i].first_token <= entities[i].last_token,
            "an entity of the window");
  }
  const std::size_t found = count;
  if (ok(embert_merge_entities(entities.data(), &count))) {
    require(count <= found, "merging adds nothing");
  }
}

void call_answers(Input& in, std::size_t n) {
  Values<embert_answer> answers(in.below(10));
  embert_answer_options options = embert_answer_options_default();
  options.max_answer_tokens = in.below(70) == 69 ? SIZE_MAX : in.below(70);
  options.align_to_words = static_cast<std::uint32_t>(in.below(3));
  options.allow_no_answer = static_cast<std::uint32_t>(in.below(3));
  embert_answers list = {};
  const embert_scale scale = in.scale();
  if (!ok(embert_answers_begin(&list, &options, scale, answers.data(), answers.size()))) return;
  for (std::size_t window_count = in.below(4); window_count > 0; --window_count) {
    Values<std::int32_t> sequence_ids(n);
    for (std::size_t i = 0; i < n; ++i) sequence_ids[i] = in.take<std::int8_t>();
    Values<std::int32_t> logits = in.many<std::int32_t>(2 * n), words = in.many<std::int32_t>(n);
    Values<std::uint32_t> byte_offsets = in.many<std::uint32_t>(2 * n);
    Values<std::uint32_t> char_offsets = in.many<std::uint32_t>(2 * n);
    embert_answer_window window = {.size = sizeof(window)};
    window.logits = logits.data();
    window.sequence_ids = sequence_ids.data();
    window.word_ids = words.data();
    window.byte_offsets = byte_offsets.data();
    window.char_offsets = char_offsets.data();
    window.tokens = n;
    embert_answers_add(&list, &window);
    require(list.count <= answers.size(), "no more answers than there is room for");
  }
  if (!ok(embert_answers_finish(&list))) return;
  require(list.count <= answers.size(), "no more answers than there is room for");
  for (std::size_t i = 0; i < list.count; ++i) {
    require(answers[i].score <= EMBERT_Q30_ONE && answers[i].log2_score <= 0, "a probability");
    require(i == 0 || answers[i - 1].log2_score >= answers[i].log2_score, "the best first");
  }
}

void sample(Input& in, const embert_candidates& candidates, embert_scale scale) {
  embert_sample_options options = embert_sample_options_default();
  options.temperature_q16 = in.take<std::uint32_t>();
  options.top_p = in.take<embert_q30>();
  options.top_k = in.take<std::uint8_t>();
  std::size_t index = 0;
  if (ok(embert_sample_candidate(&candidates, scale, &options, in.take<std::uint32_t>(), &index))) {
    require(index < candidates.count, "one of the candidates");
  }
}

void call_top_candidates(Input& in, std::size_t n) {
  const embert_scale scale = in.scale();
  Values<embert_candidate> items(in.below(50));
  Values<std::int32_t> values = in.many<std::int32_t>(n);
  const embert_logits logits = {values.data(), n, scale};
  embert_candidates best = {items.data(), items.size(), 0};
  embert_log_sum log_sum = {};
  if (!ok(embert_top_candidates(&logits, &best, in.below(2) == 0 ? nullptr : &log_sum))) return;
  require(best.count == std::min(items.size(), n), "as many as there are and have room");
  for (std::size_t i = 0; i < best.count; ++i) {
    require(items[i].score <= EMBERT_Q30_ONE && items[i].log2_score <= 0, "a probability");
    require(i == 0 || items[i - 1].logit >= items[i].logit, "the best first");
  }
  sample(in, best, scale);
}

void call_own_candidates(Input& in, std::size_t n) {
  const embert_scale scale = in.scale();
  const embert_log_sum log_sum = {in.take<std::int32_t>(), in.take<std::uint32_t>()};
  Values<embert_candidate> items(n);
  for (std::size_t i = 0; i < n; ++i) {
    items[i].id = in.take<std::int32_t>();
    items[i].logit = in.take<std::int32_t>();
  }
  embert_candidates candidates = {items.data(), n, n};
  embert_score_candidates(&candidates, &log_sum, scale);
  if (ok(embert_rank_candidates(&candidates))) {
    require(candidates.count <= n, "ranking adds nothing");
    for (std::size_t i = 0; i + 1 < candidates.count; ++i) {
      require(items[i].logit >= items[i + 1].logit, "the best first");
    }
  }
  sample(in, candidates, scale);
}

void call_vector(Input& in, std::size_t n) {
  Values<std::int16_t> vector = in.many<std::int16_t>(n), unit(n);
  Values<std::int8_t> bytes(n);
  Values<std::uint8_t> bits((n + 7) / 8);
  embert_normalize_int16(vector.data(), n, unit.data());
  if (ok(embert_quantize_int8(vector.data(), n, bytes.data()))) {
    for (std::size_t i = 0; i < n; ++i) require(bytes[i] >= -127, "a symmetric byte");
  }
  embert_quantize_bits(vector.data(), n, bits.data());
}

void call_cosines(Input& in, std::size_t n) {
  Values<std::int16_t> a = in.many<std::int16_t>(n), b = in.many<std::int16_t>(n);
  Values<std::int8_t> c = in.many<std::int8_t>(n), d = in.many<std::int8_t>(n);
  Values<std::uint8_t> e = in.many<std::uint8_t>((n + 7) / 8),
                       f = in.many<std::uint8_t>((n + 7) / 8);
  const auto one = static_cast<std::int32_t>(EMBERT_Q30_ONE);
  std::int32_t cosine = 0;
  if (ok(embert_cosine_int16(a.data(), b.data(), n, &cosine))) {
    require(cosine >= -one && cosine <= one, "a cosine");
  }
  if (ok(embert_cosine_int8(c.data(), d.data(), n, &cosine))) {
    require(cosine >= -one && cosine <= one, "a cosine");
  }
  std::uint32_t distance = 0;
  if (ok(embert_hamming(e.data(), f.data(), n, &distance))) require(distance <= n, "bits of n");
}

void call_names(Input& in, std::size_t n) {
  Values<char> label = in.many<char>(n + 1);
  label[n] = '\0';
  const char* group = embert_label_group(label.data());
  require(group >= label.data() && group <= label.data() + n, "a part of the label");
  require(embert_q30_of_log2(in.take<std::int64_t>()) <= EMBERT_Q30_ONE, "a probability");
  const auto problem = static_cast<embert_problem>(in.below(4));
  embert_default_score_function(problem, in.take<std::uint32_t>());
}

using Call = void (*)(Input& in, std::size_t n);
constexpr Call kCalls[] = {call_softmax,  call_sigmoid, call_top_k,          call_labels,
                           call_entities, call_answers, call_top_candidates, call_own_candidates,
                           call_vector,   call_cosines, call_names};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  const Call call = kCalls[in.below(std::size(kCalls))];
  call(in, in.below(40));
  return 0;
}
