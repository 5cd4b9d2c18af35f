// SPDX-License-Identifier: Apache-2.0
// The float outputs that come with the small trained models of the shared data.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "converter/import/read_model_folder.hpp"
#include "converter/import/weights/safetensors_file.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"

namespace embert::convert {
namespace {

namespace fs = std::filesystem;

constexpr float kTolerance = 1e-4F;

#define SKIP_WITHOUT(folder) \
  if (!fs::exists(folder)) GTEST_SKIP() << "NOT TESTED: no reference data at " << (folder).string()

TEST(TrainedModels, TinyIntentAndTinyEmbedAreRead) {
  const fs::path models = fs::path(EMBERT_SHARED_DIR) / "models";
  SKIP_WITHOUT(models);
  const ModelFolder intent = read_model_folder(models / "tiny-intent");
  EXPECT_EQ(intent.config.label_names.size(), 151U);
  EXPECT_EQ(intent.config.label_names[150], "oos");
  EXPECT_EQ(intent.config.problem_type, ProblemType::kSingleLabel);
  EXPECT_TRUE(intent.warnings.empty());
  const ModelFolder embed = read_model_folder(models / "tiny-embed");
  EXPECT_EQ(embed.pooling.kinds, std::vector<PoolingKind>{PoolingKind::kMean});
  EXPECT_FALSE(embed.pooling.normalize);
  EXPECT_EQ(embed.pooling.max_seq_length, 64);
  EXPECT_EQ(embed.weights.stacks[0].word_embeddings.rows, 8000U);
  EXPECT_TRUE(embed.warnings.empty());
}

// A small WordPiece for plain English lines, so that this test does not depend on the tokenizer: it
// splits at spaces and punctuation, lower-cases ASCII and looks up the longest pieces. It returns
// nothing for a line with other characters.
class PlainWordPiece {
 public:
  explicit PlainWordPiece(const fs::path& vocab_file) {
    std::ifstream stream(vocab_file);
    for (std::string line; std::getline(stream, line);) {
      ids_.emplace(line, static_cast<std::int32_t>(ids_.size()));
    }
  }

  std::vector<std::int32_t> encode(const std::string& text) const {
    std::vector<std::int32_t> ids = {ids_.at("[CLS]")};
    std::string word;
    const auto flush = [&] {
      std::vector<std::int32_t> pieces;
      for (std::size_t start = 0; start < word.size();) {
        std::size_t end = word.size();
        for (; end > start; --end) {
          const auto at = ids_.find((start == 0 ? "" : "##") + word.substr(start, end - start));
          if (at == ids_.end()) continue;
          pieces.push_back(at->second);
          break;
        }
        if (end == start) {
          pieces = {ids_.at("[UNK]")};
          break;
        }
        start = end;
      }
      ids.insert(ids.end(), pieces.begin(), pieces.end());
      word.clear();
    };
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x80 || byte < 0x20) return {};
      if (std::isalnum(byte) != 0) {
        word += static_cast<char>(std::tolower(byte));
        continue;
      }
      flush();
      if (c != ' ') {
        word = c;
        flush();
      }
    }
    flush();
    ids.push_back(ids_.at("[SEP]"));
    return ids;
  }

 private:
  std::map<std::string, std::int32_t> ids_;
};

std::vector<std::vector<std::string>> read_tsv(const fs::path& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);  // names of the columns
  std::vector<std::vector<std::string>> rows;
  while (std::getline(stream, line)) {
    std::stringstream fields(line);
    auto& row = rows.emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
  }
  return rows;
}

TEST(TrainedModels, TinyIntentGivesItsRecordedLogits) {
  const fs::path folder = fs::path(EMBERT_SHARED_DIR) / "models" / "tiny-intent";
  SKIP_WITHOUT(folder);
  const ModelFolder model = read_model_folder(folder);
  const PlainWordPiece tokenizer(folder / "vocab.txt");
  TokenBatch batch;
  std::vector<std::vector<std::string>> used;
  for (const auto& row :
       read_tsv(folder / "test.tsv")) {  // id, text, gold, prediction, class1, logit1, ...
    const std::vector<std::int32_t> ids = tokenizer.encode(row.at(1));
    if (ids.empty() || ids.size() > 64) continue;
    batch.ids.insert(batch.ids.end(), ids.begin(), ids.end());
    batch.lengths.push_back(static_cast<std::int32_t>(ids.size()));
    used.push_back(row);
  }
  ASSERT_GT(used.size(), 5000U);
  const std::vector<float> logits =
      FloatModel(model.config, model.weights, 2).forward(batch).logits;
  float worst = 0;
  for (std::size_t text = 0; text < used.size(); ++text) {
    for (const std::size_t field : {4U, 6U, 8U}) {
      const auto label = static_cast<std::size_t>(std::stoul(used[text].at(field)));
      const float difference =
          std::fabs(logits[text * 151 + label] - std::stof(used[text].at(field + 1)));
      ASSERT_LE(difference, 1.5e-4F) << used[text][0];  // recorded with four decimals
      worst = std::max(worst, difference);
    }
  }
  std::printf("  tiny-intent: %zu texts, largest difference %.2e\n", used.size(),
              static_cast<double>(worst));
}

TEST(TrainedModels, TinyEmbedGivesItsRecordedVectors) {
  const fs::path folder = fs::path(EMBERT_SHARED_DIR) / "models" / "tiny-embed";
  SKIP_WITHOUT(folder);
  const ModelFolder model = read_model_folder(folder);
  const PlainWordPiece tokenizer(folder / "vocab.txt");
  const SafetensorsFile file(folder / "test_embeddings.safetensors", "test_embeddings.safetensors");
  const std::vector<float> expected = file.read_float("embedding");  // [1000, 128]
  FloatModel network(model.config, model.weights, 1);
  const auto rows = read_tsv(folder / "test.tsv");
  std::size_t compared = 0;
  float worst = 0;
  for (std::size_t text = 0; text < rows.size(); ++text) {
    const std::vector<std::int32_t> ids = tokenizer.encode(rows[text].at(1));
    if (ids.empty() || ids.size() > 64) continue;
    const auto hidden =
        network.forward({ids, {}, {static_cast<std::int32_t>(ids.size())}}).last_hidden_state;
    for (std::size_t c = 0; c < 128; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < ids.size(); ++i) sum += static_cast<double>(hidden[i * 128 + c]);
      const auto mean = static_cast<float>(sum / static_cast<double>(ids.size()));
      const float difference = std::fabs(mean - expected[text * 128 + c]);
      ASSERT_LE(difference, kTolerance) << rows[text][0];
      worst = std::max(worst, difference);
    }
    ++compared;
  }
  EXPECT_GT(compared, 900U);
  std::printf("  tiny-embed: %zu texts, largest difference %.2e\n", compared,
              static_cast<double>(worst));
}

}  // namespace
}  // namespace embert::convert
