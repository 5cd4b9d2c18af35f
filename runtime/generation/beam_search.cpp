// SPDX-License-Identifier: Apache-2.0
// Beam search as in transformers (BeamSearchScorer with length_penalty 1, early_stopping false).
//
// The sequences share a trellis. It has one row for each step: the token of each running sequence,
// and its parent, the sequence of the row before that it continues. Sequences are read back from
// their last token, so none is copied. A row's parents reorder the KV cache, and the decoder runs
// on its tokens next.
#include "runtime/engine/engine.hpp"
#include "runtime/generation/generate.hpp"
#include "runtime/tasks/ranking.hpp"

namespace embert {
namespace {

/// A running sequence with one more token.
struct Choice {
  embert_log2_q26 log2_score;
  uint32_t parent;
  int32_t id;
};

/// A finished sequence.
struct Hypothesis {
  embert_log2_q26 log2_score;
  uint32_t tokens;  ///< rows of the trellis
  uint32_t last;    ///< index of its sequence in the last of them
  uint32_t ended;   ///< 1: followed by the end token

  uint32_t length() const { return tokens + ended; }
};

/// a / a_length > b / b_length. No overflow: logarithms are above -2^50, lengths at most 512.
bool mean_above(embert_log2_q26 a, uint32_t a_length, embert_log2_q26 b, uint32_t b_length) {
  return a * b_length > b * a_length;
}

struct Beams {
  size_t width;                  ///< beams: most running sequences
  embert_candidate* candidates;  ///< [2 width] of one sequence
  Choice* choices;               ///< [2 width], best first
  Hypothesis* hypotheses;        ///< [width], best first
  embert_log2_q26* scores;       ///< [width] of the running sequences
  int32_t* ids;                  ///< [steps][width] the trellis
  uint32_t* parents;             ///< [steps][width]
  uint32_t* ones;                ///< [width] of 1: tokens that a step appends to each sequence
  size_t choice_count, hypothesis_count;
  uint32_t running;  ///< sequences
  uint32_t steps;    ///< rows of the trellis
};

template <typename T>
void take(uintptr_t& at, size_t count, T*& part) {
  part = reinterpret_cast<T*>(at);
  at += count * sizeof(T);
}

/// Places the parts one after another from address `at` on. Afterwards `at` is their end.
Beams place_beams(const embert_generate_options& options, uintptr_t& at) {
  Beams beams = {};
  beams.width = options.beams;
  const size_t steps =
      options.max_new_tokens < kMaxPositions ? options.max_new_tokens : kMaxPositions;
  take(at, 2 * beams.width, beams.candidates);
  take(at, 2 * beams.width, beams.choices);
  take(at, beams.width, beams.hypotheses);
  take(at, beams.width, beams.scores);
  take(at, steps * beams.width, beams.ids);
  take(at, steps * beams.width, beams.parents);
  take(at, beams.width, beams.ones);
  return beams;
}

/// Ranks the best 2 * width continuations by the logits of the last step; sequence i has row
/// first_row + i. Even if half of them end, `width` are left.
embert_status rank_choices(embert_engine* engine, uint32_t first_row, Beams& beams) {
  const auto better = [](const Choice& a, const Choice& b) { return a.log2_score > b.log2_score; };
  beams.choice_count = 0;
  for (uint32_t i = 0; i < beams.running; ++i) {
    embert_candidates best = {.items = beams.candidates, .capacity = 2 * beams.width};
    const embert_status status = embert_lm_top(engine, first_row + i, &best, nullptr, nullptr);
    if (status != EMBERT_STATUS_OK) return status;
    for (size_t c = 0; c < best.count; ++c) {
      const embert_candidate& token = best.items[c];
      insert_ranked(beams.choices, 2 * beams.width, &beams.choice_count,
                    {beams.scores[i] + token.log2_score, i, token.id}, better);
    }
  }
  return EMBERT_STATUS_OK;
}

void add_hypothesis(const Hypothesis& hypothesis, Beams& beams) {
  insert_ranked(beams.hypotheses, beams.width, &beams.hypothesis_count, hypothesis,
                [](const Hypothesis& a, const Hypothesis& b) {
                  return mean_above(a.log2_score, a.length(), b.log2_score, b.length());
                });
}

/// Writes the next row of the trellis. A choice that ends becomes a hypothesis if it is among the
/// best `width`.
void take_choices(uint32_t end_id, Beams& beams) {
  int32_t* ids = beams.ids + beams.steps * beams.width;
  uint32_t* parents = beams.parents + beams.steps * beams.width;
  uint32_t taken = 0;
  for (size_t rank = 0; rank < beams.choice_count && taken < beams.width; ++rank) {
    const Choice& choice = beams.choices[rank];
    if (static_cast<uint32_t>(choice.id) != end_id) {
      ids[taken] = choice.id;
      parents[taken] = choice.parent;
      beams.scores[taken] = choice.log2_score;
      ++taken;
    } else if (rank < beams.width) {
      add_hypothesis({choice.log2_score, beams.steps, choice.parent, 1}, beams);
    }
  }
  beams.running = taken;
  ++beams.steps;
}

/// Whether the list of hypotheses is full and the best choice is no better than the worst of them.
bool is_decided(const Beams& beams) {
  if (beams.hypothesis_count < beams.width) return false;
  const Hypothesis& worst = beams.hypotheses[beams.width - 1];
  return !mean_above(beams.choices[0].log2_score, beams.steps, worst.log2_score, worst.length());
}

void write_best(const Prompt& prompt, const Beams& beams, embert_generation* generation) {
  const Hypothesis& best = beams.hypotheses[0];
  uint32_t sequence = best.last;
  for (size_t step = best.tokens; step-- > 0;) {
    generation->ids[step] = beams.ids[step * beams.width + sequence];
    sequence = beams.parents[step * beams.width + sequence];
  }
  if (best.ended != 0) generation->ids[best.tokens] = static_cast<int32_t>(prompt.options.end_id);
  generation->count = best.length();
  generation->finish = best.ended != 0 ? EMBERT_FINISH_END : prompt.at_most;
  generation->log2_score = best.log2_score;
}

}  // namespace

size_t beam_bytes(const embert_generate_options& options) {
  uintptr_t end = 0;
  place_beams(options, end);
  return end;
}

embert_status search_beams(const Prompt& prompt, void* workspace, embert_generation* generation) {
  uintptr_t at = reinterpret_cast<uintptr_t>(workspace);
  Beams beams = place_beams(prompt.options, at);
  for (size_t i = 0; i < beams.width; ++i) beams.ones[i] = 1;
  beams.scores[0] = 0;
  beams.running = 1;

  embert_status status = append_tokens(prompt.engine, prompt.ids, &prompt.length, 1);
  uint32_t first_row = prompt.length - 1;
  while (status == EMBERT_STATUS_OK) {
    status = rank_choices(prompt.engine, first_row, beams);
    if (status != EMBERT_STATUS_OK) break;
    take_choices(prompt.options.end_id, beams);
    if (is_decided(beams) || beams.running == 0) break;
    const size_t row = (beams.steps - 1) * beams.width;
    if (beams.steps == prompt.most_new) {
      for (uint32_t i = 0; i < beams.running; ++i) {
        add_hypothesis({beams.scores[i], beams.steps, i, 0}, beams);
      }
      break;
    }
    status = embert_cache_reorder(prompt.engine, beams.parents + row, beams.running);
    if (status != EMBERT_STATUS_OK) break;
    status = append_tokens(prompt.engine, beams.ids + row, beams.ones, beams.running);
    first_row = 0;
  }
  if (status == EMBERT_STATUS_OK) write_best(prompt, beams, generation);
  return status;
}

}  // namespace embert
