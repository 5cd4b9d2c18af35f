// SPDX-License-Identifier: Apache-2.0
// Compares the float model with vectors of the reference implementation, to 1e-4: every case, every
// call and every output except caches; padded batches with their padding and without it. Needs the
// shared data, but for a tiny model of each family.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "converter/import/read_model_folder.hpp"
#include "converter/reference/float_model.hpp"
#include "tests/golden/golden_call.hpp"

namespace embert::convert {
namespace {

namespace fs = std::filesystem;
using test::GoldenCall;
using test::GoldenCase;

constexpr float kGoldenTolerance = 1e-4F;

// Rows [first, first + rows) of each of `texts` texts of `length` rows.
std::vector<float> rows_of(const std::vector<float>& values, std::size_t texts, std::size_t length,
                           std::size_t first, std::size_t rows) {
  const std::size_t width = values.size() / (texts * length);
  std::vector<float> out;
  for (std::size_t text = 0; text < texts; ++text) {
    const auto begin =
        values.begin() + static_cast<std::ptrdiff_t>((text * length + first) * width);
    out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(rows * width));
  }
  return out;
}

// One of `columns` columns.
std::vector<float> column_of(const std::vector<float>& values, std::size_t columns,
                             std::size_t column) {
  std::vector<float> out;
  for (std::size_t i = column; i < values.size(); i += columns) out.push_back(values[i]);
  return out;
}

// The outputs of a call that the float model computes.
std::vector<std::string> outputs_of(const GoldenCase& golden, const std::string& call) {
  std::vector<std::string> names = golden.outputs(call);
  std::erase_if(names, [](const std::string& name) {
    return name.starts_with("past_key_values.") || name.starts_with("prompt_cache.");
  });
  return names;
}

// "hidden_states.2" -> 2
std::size_t number_of(const std::string& name) {
  return static_cast<std::size_t>(std::stoul(name.substr(name.rfind('.') + 1)));
}

class FloatGolden : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = test::golden_folder(EMBERT_SHARED_DIR, GetParam());
    const std::string why_not = test::why_no_golden_case(EMBERT_SHARED_DIR, GetParam());
    if (!why_not.empty()) GTEST_SKIP() << "NOT TESTED: " << why_not;
  }

  // The float model's values for the output `name`; empty where it has no such output.
  static std::vector<float> find(const std::string& name, const ForwardOutput& out) {
    if (name == "last_hidden_state") return out.last_hidden_state;
    if (name == "pooler_output") return out.pooled;
    if (name == "prediction_logits") return out.lm_logits;
    if (name == "seq_relationship_logits") return out.logits;
    if (name == "start_logits") return column_of(out.token_logits, 2, 0);
    if (name == "end_logits") return column_of(out.token_logits, 2, 1);
    if (name.starts_with("hidden_states.")) return out.hidden_states.at(number_of(name));
    if (name.starts_with("attentions.")) return out.attentions.at(number_of(name));
    if (name.starts_with("cross_attentions.")) return out.cross_attentions.at(number_of(name));
    if (name != "logits") return {};
    for (const auto* logits : {&out.logits, &out.token_logits}) {
      if (!logits->empty()) return *logits;
    }
    return out.lm_logits;
  }

  void compare(const std::string& what, const std::vector<float>& expected,
               std::vector<float> found) {
    // ELECTRA's discriminator: transformers has the logit of "replaced" alone.
    if (replaced_token_) found = column_of(found, 2, 1);
    ASSERT_EQ(expected.size(), found.size()) << what;
    float largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const float difference = std::fabs(expected[i] - found[i]);
      if (!(difference <= largest)) largest = difference;  // so that NaN counts
    }
    EXPECT_LE(largest, kGoldenTolerance) << what;
    worst_ = std::max(worst_, largest);
    ++outputs_;
  }

  // All tokens of a batch, for the language head.
  static ForwardOptions everything(const ModelConfig& config, const TokenBatch& batch) {
    ForwardOptions options;
    options.hidden_states = options.attentions = true;
    if (config.language_head == LanguageHeadKind::kNone) return options;
    options.lm_rows.resize(
        static_cast<std::size_t>(std::accumulate(batch.lengths.begin(), batch.lengths.end(), 0)));
    std::iota(options.lm_rows.begin(), options.lm_rows.end(), 0);
    return options;
  }

  void check_forward(const GoldenCase& golden, const std::string& call, FloatModel& network,
                     const ModelConfig& config) {
    const GoldenCall inputs = read_golden_call(golden, call, config);
    if (config.stacks.size() == 1) {
      const ForwardOutput out =
          network.forward(inputs.batch, nullptr, everything(config, inputs.batch));
      for (const std::string& name : outputs_of(golden, call)) {
        compare(call + "." + name, golden.floats(call, name), find(golden.own_name(name), out));
      }
      check_texts(golden, call, network, config);
      return;
    }
    const auto out = network.forward_pair(inputs.batch, inputs.target, nullptr,
                                          everything(config, inputs.target));
    for (const std::string& name : outputs_of(golden, call)) {
      const bool encoder = name.starts_with("encoder_");
      const std::size_t prefix = encoder || name.starts_with("decoder_") ? 8 : 0;
      compare(call + "." + name, golden.floats(call, name),
              find(name.substr(prefix), encoder ? out.encoder : out.decoder));
    }
  }

  // Runs the texts of a padded batch again, each at its own length.
  void check_texts(const GoldenCase& golden, const std::string& call, FloatModel& network,
                   const ModelConfig& config) {
    const auto texts = golden.texts(call);
    if (!texts) return;
    const ForwardOutput out =
        network.forward(texts->batch, nullptr, everything(config, texts->batch));
    for (const std::string& name : outputs_of(golden, call)) {
      const std::size_t extents = golden.shape(call, name).size();
      const bool padded =
          extents == 4 || replaced_token_ || name == "start_logits" || name == "end_logits";
      if (padded) continue;  // attentions are square in the padded length
      compare(call + "." + name + " without padding",
              extents == 3 ? golden.valid_rows(call, name) : golden.floats(call, name),
              find(golden.own_name(name), out));
    }
  }

  // The reference computed these logits step by step with a KV cache; here one pass computes them.
  void check_steps(const GoldenCase& golden, const std::string& call, FloatModel& network,
                   const ModelConfig& config) {
    const TokenBatch batch = read_golden_call(golden, call, config).batch;
    const std::vector<float> logits =
        network.forward(batch, nullptr, everything(config, batch)).lm_logits;
    const auto length = static_cast<std::size_t>(batch.lengths[0]);
    const auto prompt = static_cast<std::size_t>(golden.shape(call, "prompt_ids")[1]);
    const std::size_t texts = batch.lengths.size();
    compare(call + ".full_logits", golden.floats(call, "full_logits"), logits);
    compare(call + ".prompt_logits", golden.floats(call, "prompt_logits"),
            rows_of(logits, texts, length, 0, prompt));
    compare(call + ".step_logits", golden.floats(call, "step_logits"),
            rows_of(logits, texts, length, prompt, length - prompt));
    EXPECT_EQ(outputs_of(golden, call).size(), 3U);
  }

  // Arg-max decoding of one text.
  void check_greedy(const GoldenCase& golden, const std::string& call, FloatModel& network,
                    const ModelConfig& config) {
    const bool pair = config.stacks.size() == 2;
    const TokenBatch source = read_golden_call(golden, call, config).batch;
    const std::vector<std::int32_t> expected = golden.ints(call, "sequences");
    TokenBatch text;
    text.ids = pair ? std::vector<std::int32_t>{config.decoder_start_token_id} : source.ids;
    std::vector<float> logits, encoded;
    while (text.ids.size() < expected.size()) {
      text.lengths = {static_cast<std::int32_t>(text.ids.size())};
      ForwardOptions options;
      options.lm_rows = {text.lengths[0] - 1};
      std::vector<float> last;
      if (pair) {
        auto out = network.forward_pair(source, text, nullptr, options);
        last = std::move(out.decoder.lm_logits);
        encoded = std::move(out.encoder.last_hidden_state);
      } else {
        last = network.forward(text, nullptr, options).lm_logits;
      }
      text.ids.push_back(
          static_cast<std::int32_t>(std::max_element(last.begin(), last.end()) - last.begin()));
      logits.insert(logits.end(), last.begin(), last.end());
    }
    EXPECT_EQ(text.ids, expected) << call;
    compare(call + ".step_logits", golden.floats(call, "step_logits"), logits);
    if (pair) {
      compare(call + ".encoder_last_hidden_state", golden.floats(call, "encoder_last_hidden_state"),
              encoded);
    }
    EXPECT_EQ(outputs_of(golden, call).size(), pair ? 3U : 2U);  // with sequences
  }

  void check_case() {
    const ModelFolder model = read_model_folder(folder_);
    EXPECT_TRUE(model.warnings.empty()) << model.warnings.front();
    replaced_token_ = model.config.token_classifier == TokenTask::kReplacedToken;
    FloatModel network(model.config, model.weights, 2);
    const GoldenCase golden(folder_);
    const std::vector<std::string> calls = golden.calls();
    ASSERT_FALSE(calls.empty());
    for (const std::string& call : calls) {
      const std::size_t before = outputs_;
      const std::string& kind = golden.kind(call);
      if (kind == "forward") {
        check_forward(golden, call, network, model.config);
      } else if (kind == "steps") {
        check_steps(golden, call, network, model.config);
      } else {
        check_greedy(golden, call, network, model.config);
      }
      EXPECT_GT(outputs_, before) << call;
    }
    RecordProperty("largest_difference", std::to_string(worst_));
    std::printf("  %-40s %zu calls, %3zu outputs, largest difference %.2e\n", GetParam().c_str(),
                calls.size(), outputs_, static_cast<double>(worst_));
  }

  fs::path folder_;
  bool replaced_token_ = false;
  float worst_ = 0;
  std::size_t outputs_ = 0;
};

TEST_P(FloatGolden, Agrees) { check_case(); }

INSTANTIATE_TEST_SUITE_P(Cases, FloatGolden, ::testing::ValuesIn(test::all_cases()),
                         [](const auto& golden) { return golden.param; });

// A tiny model of each family, in the repository (tests/data/reference/make_families.py).
constexpr const char* kSmallData = EMBERT_SOURCE_DIR "/tests/data";

class SmallFamilies : public FloatGolden {
 protected:
  void SetUp() override { folder_ = test::golden_folder(kSmallData, GetParam()); }
};

TEST_P(SmallFamilies, Agrees) { check_case(); }

INSTANTIATE_TEST_SUITE_P(Cases, SmallFamilies, ::testing::ValuesIn(test::golden_cases(kSmallData)),
                         [](const auto& golden) { return golden.param; });

TEST(GoldenFolders, AreAllTested) {
  EXPECT_EQ(test::golden_cases(kSmallData).size(), 8U);
  const std::vector<std::string> found = test::golden_cases(EMBERT_SHARED_DIR);
  if (found.empty()) GTEST_SKIP() << "NOT TESTED: no reference data in " << EMBERT_SHARED_DIR;
  EXPECT_EQ(found.size(), 42U + 56U);  // of BERT, of the other families
}

}  // namespace
}  // namespace embert::convert
