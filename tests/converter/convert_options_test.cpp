// SPDX-License-Identifier: Apache-2.0
// convert() with lengths that are too short and calibration texts that are too few.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "converter/convert.hpp"
#include "embert/embert_run.h"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::convert {
namespace {

using test::AlignedBytes;
using test::error_text;
using test::ModelOptions;

class ConvertFolder : public ::testing::Test {
 protected:
  ConvertFolder() {
    options_.folder = folder_.path();
    options_.rounding = Rounding::kNearest;
  }
  void write(bool tokenizer, int positions = 32) {
    ModelOptions options;
    options.tokenizer = tokenizer;
    options.positions = positions;
    test::write_model_folder(folder_.path(), options);
  }
  void write_ids(int texts) {
    std::string lines;
    for (int i = 0; i < texts; ++i) lines += std::to_string(i + 5) + " 7 9 40\n";
    options_.calibration_ids = folder_.write("ids.txt", lines);
  }
  std::string error() {
    return error_text([&] { convert(options_); });
  }

  static embert_status selftest(const AlignedBytes& blob) {
    embert_model model = {};
    EXPECT_EQ(embert_model_open(blob.data(), blob.size(), embert_isa_detect(), &model),
              EMBERT_STATUS_OK);
    const embert_options options = embert_options_default(&model);
    std::size_t bytes = 0;
    EXPECT_EQ(embert_arena_bytes(&model, &options, &bytes), EMBERT_STATUS_OK);
    AlignedBytes arena(bytes);
    embert_engine* engine = nullptr;
    EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), bytes, &engine), EMBERT_STATUS_OK);
    return embert_selftest(engine, nullptr);
  }

  test::TempFolder folder_;
  ConvertOptions options_;
};

TEST_F(ConvertFolder, MaxTokensMustHoldTheSpecialTokensAndOne) {
  write(true);
  options_.certify = false;
  for (const int tokens : {-1, 0, 2, 33}) {
    options_.max_tokens = tokens;
    EXPECT_EQ(error(), "--max-tokens " + std::to_string(tokens) +
                           ": the model takes 3 to 32, special tokens included");
  }
  options_.max_tokens = 3;
  EXPECT_EQ(convert(options_).max_tokens, 3);
  options_.max_tokens.reset();
  folder_.write("sentence_bert_config.json", R"({"max_seq_length": 1})");
  EXPECT_EQ(error(),
            "sentence_bert_config.json: max_seq_length 1 leaves no room for text beside 2 special "
            "tokens; at least 3 is needed");
  folder_.write("sentence_bert_config.json", R"({"max_seq_length": 100})");
  EXPECT_EQ(convert(options_).max_tokens, 32);
  std::filesystem::remove(folder_.path() / "sentence_bert_config.json");
  // transformers writes 10^30 for "any length".
  const auto with_length = [&](const std::string& length) {
    folder_.write("tokenizer_config.json", R"({"model_max_length": )" + length + "}");
    return convert(options_).max_tokens;
  };
  EXPECT_EQ(with_length("1000000000000000019884624838656"), 32);
  EXPECT_EQ(with_length("20"), 20);
  EXPECT_EQ(with_length("40"), 32);
  EXPECT_EQ(error_text([&] { with_length("2"); }),
            "tokenizer_config.json: model_max_length 2 leaves no room for text beside 2 special "
            "tokens; at least 3 is needed");
  folder_.write("sentence_bert_config.json", R"({"max_seq_length": 25})");
  EXPECT_EQ(with_length("20"), 25);  // sentence-transformers does not look at the other
  write(true, 2);
  EXPECT_EQ(error(),
            "config.json: max_position_embeddings 2 leaves no room for text beside 2 special "
            "tokens; at least 3 is needed");
}

TEST_F(ConvertFolder, TextsInLowerCaseNeedATokenizerThatMakesThem) {
  write(true);
  options_.certify = false;
  folder_.write("sentence_bert_config.json", R"({"do_lower_case": true})");
  EXPECT_EQ(convert(options_).max_tokens, 32);
  folder_.write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(error(),
            "sentence_bert_config.json: do_lower_case true is not supported with a tokenizer that "
            "keeps letter case; set it to false, and give texts in lower case");
  folder_.write("sentence_bert_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(convert(options_).max_tokens, 32);
}

TEST_F(ConvertFolder, VocabularyMustFitTheEmbeddings) {
  ModelOptions model;
  model.tokenizer = true;
  test::write_model_folder(folder_.path(), model);
  const std::string lines = test::read_bytes((folder_.path() / "vocab.txt").string());
  folder_.write("vocab.txt", lines + "one\ntwo\n");
  EXPECT_EQ(error(), "tokenizer: 98 tokens, but config.json says vocab_size 96");
}

TEST_F(ConvertFolder, WithoutTokenizerOneTokenIsEnough) {
  write(false);
  options_.max_tokens = 1;
  EXPECT_EQ(convert(options_).max_tokens, 1);
  options_.max_tokens = 0;
  EXPECT_EQ(error(), "--max-tokens 0: the model takes 1 to 32");
}

TEST_F(ConvertFolder, IdsAreHeldBackWithoutTokenizerOnly) {
  write_ids(14);
  write(false);
  const ConvertResult without = convert(options_);
  EXPECT_EQ(without.calibration_texts, 12u);
  EXPECT_TRUE(without.warnings.empty());
  EXPECT_EQ(nlohmann::json::parse(without.certificate).at("held_out").at("texts"), 2);
  write(true);
  const ConvertResult with = convert(options_);
  EXPECT_EQ(with.calibration_texts, 14u);
  const auto certificate = nlohmann::json::parse(with.certificate);
  EXPECT_EQ(certificate.at("held_out").at("texts"), 64);
  EXPECT_EQ(certificate.at("held_out_texts"), "built-in texts");
}

TEST_F(ConvertFolder, LinesAreHeldBack) {
  write(true);
  std::string lines;
  for (const auto& [number, texts, held_out_texts] :
       {std::tuple{6, 64, "built-in texts"},
        {14, 2, "one in 7 of the calibration lines, held out"}}) {
    lines.clear();
    for (int i = 0; i < number; ++i) lines += "text " + std::to_string(i) + "\n";
    folder_.write("lines.txt", lines);
    options_.calibration_texts = folder_.path() / "lines.txt";
    const ConvertResult result = convert(options_);
    const auto certificate = nlohmann::json::parse(result.certificate);
    EXPECT_EQ(certificate.at("held_out").at("texts"), texts);
    EXPECT_EQ(certificate.at("held_out_texts"), held_out_texts);
    EXPECT_EQ(result.calibration_texts, number == 14 ? 12u : 6u);
  }
}

TEST_F(ConvertFolder, TooFewIdsToHoldBackLeaveNothingToCompare) {
  write_ids(6);
  write(false);
  const ConvertResult result = convert(options_);
  EXPECT_EQ(result.calibration_texts, 6u);
  const auto certificate = nlohmann::json::parse(result.certificate);
  EXPECT_FALSE(certificate.contains("held_out"));
  EXPECT_EQ(certificate.at("not_compared"),
            "of fewer than 7 texts of calibration ids none is held back");
}

TEST_F(ConvertFolder, WeightsThatOverflowTogether) {
  test::ModelContent content = test::make_model();
  test::StoredTensor& norm = content.tensor("embeddings.LayerNorm.weight");
  norm = test::store_floats(norm.name, norm.shape, std::vector<float>(32, 3e38F));
  test::write_model(folder_.path(), content);
  EXPECT_NE(error().find("values that are not finite in layer 0"), std::string::npos) << error();
}

// The float-cast-overflow sanitizer watches these: a NaN would become a code.
TEST_F(ConvertFolder, WeightsThatVanishBesideTheirScale) {
  for (const Rounding rounding : {Rounding::kNearest, Rounding::kGptq}) {
    options_.rounding = rounding;
    for (const char* const name :
         {"encoder.layer.0.output.dense", "encoder.layer.0.attention.self.value",
          "encoder.layer.0.intermediate.dense", "encoder.layer.1.output.LayerNorm"}) {
      for (const float value : {1e-44F, 1e-42F, 1e-37F}) {
        test::ModelContent content = test::make_model();
        test::StoredTensor& weight = content.tensor(std::string(name) + ".weight");
        std::vector<float> values(weight.bytes.size() / sizeof(float));
        values[0] = value;
        weight = test::store_floats(weight.name, weight.shape, values);
        test::StoredTensor& bias = content.tensor(std::string(name) + ".bias");
        bias = test::store_floats(bias.name, bias.shape, std::vector<float>(bias.shape[0]));
        test::write_model(folder_.path(), content);
        const AlignedBytes blob(convert(options_).blob);
        EXPECT_EQ(selftest(blob), EMBERT_STATUS_OK) << name << " " << value;
      }
    }
  }
}

TEST_F(ConvertFolder, WeightsThatOverflowWithTheirSmoothing) {
  test::ModelContent content = test::make_model();
  std::vector<float> gain(32, 1e-38F), query(32 * 32, 0.0F);
  gain[3] = 1e-35F;
  for (std::size_t n = 0; n < 32; ++n) query[n * 32 + 3] = 3e38F;
  const auto set = [&](const std::string& name, const std::vector<float>& values) {
    test::StoredTensor& tensor = content.tensor(name);
    tensor = test::store_floats(tensor.name, tensor.shape, values);
  };
  set("embeddings.LayerNorm.weight", gain);
  set("embeddings.LayerNorm.bias", std::vector<float>(32));
  set("encoder.layer.0.attention.self.query.weight", query);
  test::write_model(folder_.path(), content);
  EXPECT_NE(error().find("weights times smoothing factors are not finite"), std::string::npos)
      << error();
}

TEST_F(ConvertFolder, EmbeddingsThatOverflowWithTheirNoNorm) {
  const std::filesystem::path source =
      EMBERT_SOURCE_DIR "/tests/data/reference/families/mobilebert";
  std::filesystem::copy(source / "config.json", folder_.path() / "config.json");
  std::string bytes = test::read_bytes((source / "model.safetensors").string());
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
  const auto header = nlohmann::json::parse(bytes.substr(8, header_bytes));
  const auto set = [&](const std::string& name, std::size_t index, float value) {
    const std::size_t begin = header.at(name).at("data_offsets").at(0);
    std::memcpy(&bytes[8 + header_bytes + begin + 4 * index], &value, 4);
  };
  // Calibration reads the first segment only.
  set("embeddings.token_type_embeddings.weight", 16, 3e38F);
  set("embeddings.LayerNorm.weight", 0, 10);
  folder_.write("model.safetensors", bytes);
  EXPECT_NE(error().find("embeddings times the weight of their NoNorm are not finite"),
            std::string::npos)
      << error();
}

TEST_F(ConvertFolder, SelftestOfTextOrIds) {
  options_.certify = false;
  for (const bool tokenizer : {false, true}) {
    for (const int tokens : {3, 32}) {
      write(tokenizer);
      options_.max_tokens = tokens;
      AlignedBytes blob(convert(options_).blob);
      EXPECT_EQ(selftest(blob), EMBERT_STATUS_OK);
      const std::string_view text(reinterpret_cast<const char*>(blob.data()), blob.size());
      const std::size_t number = text.find(" 3.14 ");
      EXPECT_EQ(number != std::string_view::npos, tokenizer);
      if (!tokenizer || tokens < 32) continue;
      blob.data()[number] = '3';  // one token fewer
      test::seal_blob(blob.data(), blob.size());
      EXPECT_EQ(selftest(blob), EMBERT_STATUS_SELFTEST_FAILED);
    }
  }
}

}  // namespace
}  // namespace embert::convert
