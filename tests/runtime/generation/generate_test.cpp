// SPDX-License-Identifier: Apache-2.0
// Generation, against loops that run each sequence again from its beginning.
#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "tests/runtime/generation/decoder_models.hpp"

namespace embert::test {
namespace {

using Ids = std::vector<std::int32_t>;

std::uint32_t next_random(void* context) {
  return static_cast<std::uint32_t>((*static_cast<std::mt19937_64*>(context))());
}

struct Text {
  Ids ids;
  embert_finish finish;
  embert_log2_q26 log2_score;

  bool operator==(const Text&) const = default;
  friend void PrintTo(const Text& text, std::ostream* out) {
    for (std::int32_t id : text.ids) *out << id << ' ';
    *out << "finish " << text.finish << " score " << text.log2_score;
  }
};

/// embert_generate in a workspace of exactly the needed size, between guard pages.
Text generate(embert_engine* engine, const embert_generate_options& options, const Ids& prompt) {
  std::size_t bytes = 0;
  EXPECT_EQ(embert_generate_bytes(&options, &bytes), EMBERT_STATUS_OK);
  GuardedBuffer<std::uint8_t> workspace(bytes, 8);
  Ids ids(std::min<std::size_t>(options.max_new_tokens, 48), -1);
  embert_generation generation = {.size = sizeof(generation)};
  generation.prompt = prompt.data();
  generation.prompt_length = prompt.size();
  generation.workspace = workspace.data();
  generation.workspace_bytes = bytes;
  generation.ids = ids.data();
  generation.capacity = ids.size();
  EXPECT_EQ(embert_generate(engine, &options, &generation), EMBERT_STATUS_OK);
  EXPECT_TRUE(workspace.surroundings_intact());
  ids.resize(generation.count);
  return {ids, static_cast<embert_finish>(generation.finish), generation.log2_score};
}

/// All tokens that may follow a sequence, best first, by a whole pass from its beginning.
std::vector<embert_candidate> words_after(const GuardedEngine& engine, const Ids& sequence,
                                          embert_scale* scale = nullptr) {
  embert_model_info info = {.size = sizeof(info)};
  EXPECT_EQ(embert_model_get_info(&engine.model(), &info), EMBERT_STATUS_OK);
  EXPECT_EQ(embert_cache_clear(engine), EMBERT_STATUS_OK);
  Call call;
  call.ids = {sequence};
  run(engine, call);
  std::vector<embert_candidate> words(info.vocab_size);
  embert_candidates best = {.items = words.data(), .capacity = words.size()};
  EXPECT_EQ(
      embert_lm_top(engine, static_cast<std::uint32_t>(sequence.size() - 1), &best, nullptr, scale),
      EMBERT_STATUS_OK);
  return words;
}

Ids appended(Ids sequence, std::int32_t id) {
  sequence.push_back(id);
  return sequence;
}

/// Greedy decoding, or sampling, with a whole pass for each token. room: of the cache.
Text follow(const GuardedEngine& engine, const embert_generate_options& options, const Ids& prompt,
            std::size_t room) {
  Text text = {{}, EMBERT_FINISH_LENGTH, 0};
  Ids sequence = prompt;
  for (;;) {
    embert_scale scale = {};
    std::vector<embert_candidate> words = words_after(engine, sequence, &scale);
    std::size_t taken = 0;
    if (options.random != nullptr) {
      words.resize(std::min(words.size(), options.top_k));
      const embert_candidates best = {
          .items = words.data(), .capacity = words.size(), .count = words.size()};
      const embert_sample_options sample = {.size = sizeof(sample),
                                            .temperature_q16 = options.temperature_q16,
                                            .top_p = options.top_p,
                                            .top_k = options.top_k};
      EXPECT_EQ(embert_sample_candidate(&best, scale, &sample,
                                        options.random(options.random_context), &taken),
                EMBERT_STATUS_OK);
    }
    text.ids.push_back(words[taken].id);
    text.log2_score += words[taken].log2_score;
    if (static_cast<std::uint32_t>(words[taken].id) == options.end_id) {
      text.finish = EMBERT_FINISH_END;
      return text;
    }
    if (text.ids.size() == options.max_new_tokens) return text;
    if (sequence.size() == room) {
      text.finish = EMBERT_FINISH_CACHE_FULL;
      return text;
    }
    sequence.push_back(words[taken].id);
  }
}

/// Beam search after transformers 4.44: BeamSearchScorer.process and finalize, BeamHypotheses.add
/// and is_done, with sequences as they are.
Text search(const GuardedEngine& engine, const embert_generate_options& options, const Ids& prompt,
            std::size_t room) {
  struct Beam {
    Ids ids;
    embert_log2_q26 score;
  };
  const auto mean = [](const Beam& beam) {
    return static_cast<double>(beam.score) / static_cast<double>(beam.ids.size());
  };
  const std::size_t width = options.beams,
                    most = std::min<std::size_t>(options.max_new_tokens, room - prompt.size() + 1);
  std::vector<Beam> running = {{{}, 0}}, done;
  const auto add = [&](const Beam& beam) {
    const auto worst = std::min_element(
        done.begin(), done.end(), [&](const Beam& a, const Beam& b) { return mean(a) < mean(b); });
    if (done.size() < width) {
      done.push_back(beam);
    } else if (mean(beam) > mean(*worst)) {
      *worst = beam;
    }
  };
  for (;;) {
    std::vector<Beam> next;
    for (const Beam& beam : running) {
      Ids sequence = prompt;
      sequence.insert(sequence.end(), beam.ids.begin(), beam.ids.end());
      for (const embert_candidate& word : words_after(engine, sequence)) {
        next.push_back({appended(beam.ids, word.id), beam.score + word.log2_score});
      }
    }
    std::stable_sort(next.begin(), next.end(),
                     [](const Beam& a, const Beam& b) { return a.score > b.score; });
    next.resize(std::min(next.size(), 2 * width));
    running.clear();
    for (std::size_t rank = 0; rank < next.size() && running.size() < width; ++rank) {
      if (static_cast<std::uint32_t>(next[rank].ids.back()) != options.end_id) {
        running.push_back(next[rank]);
      } else if (rank < width) {
        add(next[rank]);
      }
    }
    if (done.size() == width) {
      const bool over = std::all_of(done.begin(), done.end(),
                                    [&](const Beam& beam) { return mean(beam) >= mean(next[0]); });
      if (over) break;
    }
    if (running.empty()) break;
    if (running[0].ids.size() == most) {
      for (const Beam& beam : running) add(beam);
      break;
    }
  }
  const Beam best = *std::max_element(
      done.begin(), done.end(), [&](const Beam& a, const Beam& b) { return mean(a) < mean(b); });
  const bool ended = static_cast<std::uint32_t>(best.ids.back()) == options.end_id;
  return {best.ids,
          ended                            ? EMBERT_FINISH_END
          : most == options.max_new_tokens ? EMBERT_FINISH_LENGTH
                                           : EMBERT_FINISH_CACHE_FULL,
          best.score};
}

embert_generate_options default_options(std::uint32_t max_new_tokens) {
  embert_generate_options options = embert_generate_options_default(nullptr);
  options.max_new_tokens = max_new_tokens;
  return options;
}

class Generate : public testing::TestWithParam<NamedModel> {
 protected:
  AlignedBytes blob_ = AlignedBytes(make_synthetic_blob(GetParam().shape));
  const Ids prompt_ = {7, 3, 11, 30, 2};
  std::mt19937_64 random_;

  void set_source(embert_engine* engine) const {
    if (GetParam().has_source()) Source({9}, GetParam().shape.cross_hidden_size).set(engine);
  }
  /// Expects the same text for every variation of the engine, and the one that `expected` gives.
  template <typename Expected>
  Text expect(const embert_generate_options& options, const Ids& prompt, std::uint32_t room,
              Expected expected) {
    const GuardedEngine other(blob_, all_ways().back(), 1, room);
    set_source(other);
    random_.seed(1);
    const Text text = expected(other, options, prompt, room);
    for (const Way way : all_ways()) {
      const GuardedEngine engine(blob_, way, 4, room);
      set_source(engine);
      random_.seed(1);
      EXPECT_EQ(generate(engine, options, prompt), text) << embert_isa_name(way.isa_mask);
      random_.seed(1);
      EXPECT_EQ(generate(engine, options, prompt), text) << "again";
    }
    return text;
  }
};

TEST_P(Generate, GreedyTakesTheBestWord) {
  embert_generate_options options = default_options(12);
  const Text text = expect(options, prompt_, 48, follow);
  EXPECT_EQ(text.finish, EMBERT_FINISH_LENGTH);
  EXPECT_EQ(text.ids.size(), 12u);
  // With one of its tokens as end token the text ends at the first of these.
  options.end_id = static_cast<std::uint32_t>(text.ids[4]);
  const Text ended = expect(options, prompt_, 48, follow);
  EXPECT_EQ(ended.finish, EMBERT_FINISH_END);
  EXPECT_EQ(ended.ids.back(), text.ids[4]);
  EXPECT_LE(ended.ids.size(), 5u);
}

TEST_P(Generate, SamplesWhatTheCallersNumbersSay) {
  embert_generate_options options = default_options(12);
  options.random = next_random;
  options.random_context = &random_;
  options.temperature_q16 = 65536 * 3 / 2;
  options.top_k = 5;
  const Text text = expect(options, prompt_, 48, follow);
  options.temperature_q16 = 65536;
  options.top_p = EMBERT_Q30_ONE / 4 * 3;
  options.top_k = 1000;  // more than the vocabulary has
  const Text nucleus = expect(options, prompt_, 48, follow);
  options.top_k = 1;
  const Text greedy = expect(options, prompt_, 48, follow);
  EXPECT_NE(text.ids, greedy.ids);
  EXPECT_NE(text.ids, nucleus.ids);
  options.random = nullptr;
  EXPECT_EQ(expect(options, prompt_, 48, follow), greedy);
}

TEST_P(Generate, BeamsAreThoseOfTheReference) {
  constexpr std::uint32_t kEnd = 9;
  const auto* section = reinterpret_cast<const BlobSection*>(blob_.data() + sizeof(BlobHeader));
  while (section->kind != kSectionLmBias) ++section;
  auto* bias = reinterpret_cast<std::int32_t*>(blob_.data() + section->offset);
  embert_generate_options options = default_options(9);
  for (std::uint32_t beams : {2u, 4u}) {
    options.beams = beams;
    options.end_id = UINT32_MAX;
    bias[kEnd] = 0;
    seal_blob(blob_.data(), blob_.size());
    EXPECT_EQ(expect(options, prompt_, 48, search).ids.size(), 9u);
    options.end_id = kEnd;
    std::size_t shortest = 9;
    for (std::int32_t likely : {500000, 1000000, 1400000, 5000000}) {  // to 20 nats
      bias[kEnd] = likely;
      seal_blob(blob_.data(), blob_.size());
      shortest = std::min(shortest, expect(options, prompt_, 48, search).ids.size());
    }
    EXPECT_LT(shortest, 9u);
  }
}

TEST_P(Generate, StopsAtTheCachesRoom) {
  embert_generate_options options = default_options(100);
  for (std::uint32_t beams : {1u, 3u}) {
    options.beams = beams;
    for (std::uint32_t room : {5u, 6u, 12u}) {
      const Text text = beams == 1 ? expect(options, prompt_, room, follow)
                                   : expect(options, prompt_, room, search);
      EXPECT_EQ(text.finish, EMBERT_FINISH_CACHE_FULL);
      EXPECT_EQ(text.ids.size(), room - 5 + 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Generate, testing::ValuesIn(decoders()),
                         [](const auto& tested) { return tested.param.name; });

// A small vocabulary may have fewer tokens than there are candidates, and many of the best choices
// end the text.
TEST(GenerateSmall, BeamsOfSmallVocabularies) {
  for (std::uint32_t words : {1u, 2u, 3u, 5u, 8u}) {
    for (std::uint64_t seed : {1u, 2u, 3u, 4u}) {
      SyntheticModel shape = small_decoder(0, kPositionTable);
      shape.vocab_size = words;
      shape.num_layers = 1;
      shape.seed = seed;
      const AlignedBytes blob(make_synthetic_blob(shape));
      const GuardedEngine engine(blob, all_ways().back(), 4);
      embert_generate_options options = default_options(6);
      for (std::uint32_t beams : {2u, 3u, 4u}) {
        options.beams = beams;
        for (std::uint32_t end : std::vector<std::uint32_t>{0, words / 2, words - 1, UINT32_MAX}) {
          options.end_id = end;
          EXPECT_EQ(generate(engine, options, {0}), search(engine, options, {0}, 48))
              << words << " words, seed " << seed << ", " << beams << " beams, end " << end;
        }
      }
    }
  }
}

TEST(GenerateStart, IsTheModelsTokenWithoutAPrompt) {
  SyntheticModel shape = small_decoder(kStackCrossAttention, kPositionTable);
  shape.encoder = {small_decoder(0, kPositionTable)};
  shape.encoder[0].flags = 0;
  shape.encoder[0].hidden_size = shape.cross_hidden_size;
  shape.encoder[0].num_heads = 2;
  shape.start_id = 17;
  shape.end_id = 23;
  const AlignedBytes blob(make_synthetic_blob(shape));
  const GuardedEngine engine(blob, all_ways()[0]);
  const embert_generate_options options = embert_generate_options_default(&engine.model());
  EXPECT_EQ(options.end_id, 23u);
  EXPECT_EQ(options.max_new_tokens, 20u);
  Call source;
  source.ids = random_ids({14}, 60, 61);
  const CallInput input(source);
  ASSERT_EQ(embert_encode_source(engine, input.get(), nullptr), EMBERT_STATUS_OK);
  const Text text = generate(engine, options, {});
  EXPECT_EQ(text, generate(engine, options, {17}));  // the source stays
  EXPECT_NE(text.ids, generate(engine, options, {18}).ids);
}

class GenerateRefuses : public testing::Test {
 protected:
  embert_status try_generate(embert_engine* engine) {
    embert_generation generation = {.size = sizeof(generation)};
    generation.prompt = prompt_.data();
    generation.prompt_length = prompt_.size();
    generation.workspace = workspace_ + misaligned_;
    generation.workspace_bytes = bytes_;
    generation.ids = ids_;
    generation.capacity = capacity_;
    const embert_status status = embert_generate(engine, &options_, &generation);
    count_ = generation.count;
    return status;
  }

  SyntheticModel shape_ = small_decoder(0, kPositionTable);
  embert_generate_options options_ = default_options(10);
  Ids prompt_ = {1, 2, 3};
  std::int32_t ids_[64];
  std::size_t capacity_ = 64, bytes_ = 4096, misaligned_ = 0, count_ = 0;
  alignas(8) std::uint8_t workspace_[4096 + 8];
};

TEST_F(GenerateRefuses, WhatTheModelCanNot) {
  const AlignedBytes blob(make_synthetic_blob(shape_));
  EXPECT_EQ(try_generate(GuardedEngine(blob, all_ways()[0])), EMBERT_STATUS_OK);
  shape_.flags = 0;
  const AlignedBytes encoder(make_synthetic_blob(shape_));
  EXPECT_EQ(try_generate(GuardedEngine(encoder, all_ways()[0])), EMBERT_STATUS_NOT_A_DECODER);
  shape_.flags = kStackCausal;
  shape_.heads = 0;
  const AlignedBytes no_lm(make_synthetic_blob(shape_));
  EXPECT_EQ(try_generate(GuardedEngine(no_lm, all_ways()[0])), EMBERT_STATUS_NO_LM);
  shape_.flags |= kStackCrossAttention;
  shape_.heads = kHeadLm;
  const AlignedBytes cross(make_synthetic_blob(shape_));
  EXPECT_EQ(try_generate(GuardedEngine(cross, all_ways()[0])), EMBERT_STATUS_NO_SOURCE);
  options_.beams = 2;
  EXPECT_EQ(try_generate(GuardedEngine(cross, all_ways()[0], 2)), EMBERT_STATUS_NO_SOURCE);
}

TEST_F(GenerateRefuses, OptionsOutOfRange) {
  const AlignedBytes blob(make_synthetic_blob(shape_));
  const GuardedEngine engine(blob, all_ways()[0], 2);
  const embert_generate_options good = options_;
  const auto bad = [&](auto change, embert_status status) {
    change(options_);
    EXPECT_EQ(try_generate(engine), status);
    if (status == EMBERT_STATUS_INVALID_OPTION) {
      std::size_t bytes = 0;
      EXPECT_EQ(embert_generate_bytes(&options_, &bytes), status);
    }
    options_ = good;
  };
  const auto invalid = [&](auto change) { bad(change, EMBERT_STATUS_INVALID_OPTION); };
  using Options = embert_generate_options;
  invalid([](Options& o) { o.max_new_tokens = 0; });
  invalid([](Options& o) { o.beams = 0; });
  invalid([](Options& o) { o.beams = 1025; });
  bad([](Options& o) { o.beams = 3; }, EMBERT_STATUS_TOO_MANY_TEXTS);
  std::mt19937_64 random;
  const auto sampled = [&](auto change) {
    invalid([&](Options& o) {
      o.random = next_random;
      o.random_context = &random;
      change(o);
    });
  };
  sampled([](Options& o) { o.beams = 2; });
  sampled([](Options& o) { o.temperature_q16 = 0; });
  sampled([](Options& o) { o.top_p = 0; });
  sampled([](Options& o) { o.top_p = EMBERT_Q30_ONE + 1; });
  sampled([](Options& o) { o.top_k = 0; });
  sampled([](Options& o) { o.top_k = 65537; });
  EXPECT_EQ(try_generate(engine), EMBERT_STATUS_OK);
}

TEST_F(GenerateRefuses, PromptsThatDoNotFit) {
  const AlignedBytes blob(make_synthetic_blob(shape_));
  const GuardedEngine engine(blob, all_ways()[0], 1, 12);
  prompt_ = {};
  EXPECT_EQ(try_generate(engine), EMBERT_STATUS_EMPTY_INPUT);  // and no start token
  prompt_.assign(13, 1);
  EXPECT_EQ(try_generate(engine), EMBERT_STATUS_TOO_MANY_TOKENS);
  prompt_.assign(12, 1);
  EXPECT_EQ(try_generate(engine), EMBERT_STATUS_OK);
  for (std::int32_t id : {-1, 60}) {
    prompt_ = {1, id};
    EXPECT_EQ(try_generate(engine), EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
  }
}

TEST_F(GenerateRefuses, MemoryThatIsTooSmall) {
  const AlignedBytes blob(make_synthetic_blob(shape_));
  const GuardedEngine engine(blob, all_ways()[0], 4);
  for (std::uint32_t beams : {1u, 4u}) {
    options_.beams = beams;
    ASSERT_EQ(embert_generate_bytes(&options_, &bytes_), EMBERT_STATUS_OK);
    EXPECT_EQ(try_generate(engine), EMBERT_STATUS_OK);
    --bytes_;
    EXPECT_EQ(try_generate(engine), EMBERT_STATUS_ARENA_TOO_SMALL);
    ++bytes_;
    misaligned_ = 4;
    EXPECT_EQ(try_generate(engine), EMBERT_STATUS_ARENA_MISALIGNED);
    misaligned_ = 0;
    capacity_ = 9;
    EXPECT_EQ(try_generate(engine), EMBERT_STATUS_BUFFER_TOO_SMALL);
    EXPECT_EQ(count_, 10u);
    capacity_ = 10;
    EXPECT_EQ(try_generate(engine), EMBERT_STATUS_OK);
    capacity_ = 64;
  }
}

TEST_F(GenerateRefuses, NullArguments) {
  const AlignedBytes blob(make_synthetic_blob(shape_));
  const GuardedEngine engine(blob, all_ways()[0]);
  embert_generation good = {.size = sizeof(good)};
  good.prompt = prompt_.data();
  good.prompt_length = 3;
  good.workspace = workspace_;
  good.workspace_bytes = bytes_;
  good.ids = ids_;
  good.capacity = 64;
  embert_generation no_prompt = good, no_workspace = good, no_ids = good;
  no_prompt.prompt = nullptr;
  no_workspace.workspace = nullptr;
  no_ids.ids = nullptr;
  EXPECT_EQ(embert_generate(engine, &options_, &good), EMBERT_STATUS_OK);
  EXPECT_EQ(embert_generate(nullptr, &options_, &good), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_generate(engine, nullptr, &good), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_generate(engine, &options_, &no_prompt), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_generate(engine, &options_, &no_workspace), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_generate(engine, &options_, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_generate(engine, &options_, &no_ids), EMBERT_STATUS_NULL_ARGUMENT);
  std::size_t bytes = 0;
  EXPECT_EQ(embert_generate_bytes(nullptr, &bytes), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_generate_bytes(&options_, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
}

}  // namespace
}  // namespace embert::test
