// SPDX-License-Identifier: Apache-2.0
// Weights of the BERT family: the tensors and names that each member reads, the block that gets
// each LayerNorm, tables that are computed instead of read, and tensors that are missing or
// contradict each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

#include "converter/import/read_model_folder.hpp"
#include "converter/import/weights/safetensors_file.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using nlohmann::json;
using test::error_text;
using test::ModelContent;
using test::ModelOptions;

class Family : public ::testing::Test {
 protected:
  ModelFolder read(const ModelContent& content) {
    test::write_model(folder_.path(), content);
    return read_model_folder(folder_.path());
  }
  std::string error(const ModelContent& content) {
    return error_text([&] { read(content); });
  }

  // Adds a tensor whose values go on where the tensor before it ended, so that no two are alike.
  void add(ModelContent& content, const std::string& name,
           const std::vector<std::uint64_t>& shape) {
    std::size_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(next_++) / 65536;
    content.tensors.push_back(test::store_floats(name, shape, values));
  }
  void add_linear(ModelContent& content, const std::string& name, std::uint64_t outputs,
                  std::uint64_t inputs) {
    add(content, name + ".weight", {outputs, inputs});
    add(content, name + ".bias", {outputs});
  }
  void add_norm(ModelContent& content, const std::string& name) {
    add(content, name + ".weight", {32});
    add(content, name + ".bias", {32});
  }
  void add_language_head(ModelContent& content, const std::string& base) {
    add_linear(content, base + "cls.predictions.transform.dense", 32, 32);
    add_norm(content, base + "cls.predictions.transform.LayerNorm");
    add(content, base + "cls.predictions.bias", {96});
  }
  void add_cross_attention(ModelContent& content, const std::string& prefix) {
    for (const int l : {0, 1}) {
      const std::string name = prefix + "encoder.layer." + std::to_string(l) + ".crossattention.";
      for (const char* part : {"self.query", "self.key", "self.value", "output.dense"}) {
        add_linear(content, name + part, 32, 32);
      }
      add_norm(content, name + "output.LayerNorm");
    }
  }

  // Without any one tensor the error names that tensor and its shape.
  void expect_all_needed(const ModelContent& content) {
    EXPECT_EQ(error(content), "no error");
    EXPECT_TRUE(read(content).warnings.empty());
    for (const test::StoredTensor& tensor : content.tensors) {
      if (tensor.name.ends_with("word_embeddings.weight"))
        continue;  // its name tells the prefix of the others
      ModelContent without = content;
      without.erase(tensor.name);
      EXPECT_EQ(error(without), "model.safetensors: tensor \"" + tensor.name + "\" " +
                                    shape_text(tensor.shape) +
                                    " is missing; is this the folder of a complete model?");
    }
  }

  static std::vector<float> values(const ModelContent& content, const std::string& name) {
    const auto at = std::ranges::find(content.tensors, name, &test::StoredTensor::name);
    if (at == content.tensors.end()) throw std::runtime_error("no tensor " + name);
    std::vector<float> out(at->bytes.size() / sizeof(float));
    std::copy_n(at->bytes.data(), at->bytes.size(), reinterpret_cast<char*>(out.data()));
    return out;
  }

  test::TempFolder folder_;
  int next_ = 1;
};

ModelContent make(const std::string& architecture, const json& change = json::object()) {
  ModelContent content = test::make_model(ModelOptions{.bert_prefix = true});
  content.config["architectures"] = {architecture};
  content.config.merge_patch(change);
  return content;
}

TEST_F(Family, LanguageHeadTied) {
  for (const char* architecture : {"BertForMaskedLM", "BertLMHeadModel"}) {
    ModelContent content = make(architecture);
    add_language_head(content, "");
    expect_all_needed(content);
    const ModelFolder model = read(content);
    ASSERT_TRUE(model.weights.language_head.has_value());
    const LanguageHead& head = *model.weights.language_head;
    EXPECT_EQ(head.transform->bias, values(content, "cls.predictions.transform.dense.bias"));
    EXPECT_EQ(head.norm.gamma, values(content, "cls.predictions.transform.LayerNorm.weight"));
    EXPECT_EQ(head.bias, values(content, "cls.predictions.bias"));
    EXPECT_FALSE(head.output_embeddings.has_value());
  }
}

TEST_F(Family, LanguageHeadWithCopiesOfTiedTensors) {
  ModelContent content = make("BertForMaskedLM");
  add_language_head(content, "");
  const auto words = values(content, "bert.embeddings.word_embeddings.weight");
  auto bias = values(content, "cls.predictions.bias");
  content.tensors.push_back(test::store_floats("cls.predictions.decoder.weight", {96, 32}, words));
  content.tensors.push_back(test::store_floats("cls.predictions.decoder.bias", {96}, bias));
  EXPECT_TRUE(read(content).warnings.empty());
  EXPECT_FALSE(read(content).weights.language_head->output_embeddings.has_value());

  bias[5] += 1;
  content.tensors.back() = test::store_floats("cls.predictions.decoder.bias", {96}, bias);
  EXPECT_EQ(error(content),
            "model.safetensors: tensor \"cls.predictions.decoder.bias\" differs from "
            "\"cls.predictions.bias\", but by config.json they are one; if both count, set "
            "tie_word_embeddings to false there");
  content.tensors.pop_back();
  auto other = words;
  other[7] += 1;
  content.tensors.back() = test::store_floats("cls.predictions.decoder.weight", {96, 32}, other);
  EXPECT_EQ(error(content),
            "model.safetensors: tensor \"cls.predictions.decoder.weight\" differs from "
            "\"bert.embeddings.word_embeddings.weight\", but by config.json they are one; if both "
            "count, set tie_word_embeddings to false there");
  content.config["tie_word_embeddings"] = false;
  EXPECT_EQ(read(content).weights.language_head->output_embeddings->data, other);
}

TEST_F(Family, LanguageHeadUntied) {
  ModelContent content = make("BertForMaskedLM", {{"tie_word_embeddings", false}});
  add_language_head(content, "");
  add(content, "cls.predictions.decoder.weight", {96, 32});
  expect_all_needed(content);
}

// A huge bias bans a token. Without a limit it would cost the other logits their precision.
TEST_F(Family, HugeBiasesAreLimited) {
  ModelContent content = make("BertForMaskedLM");
  add_language_head(content, "");
  std::vector<float> bias(96, 0.5f);
  bias[3] = -1e9f, bias[4] = 3e38f, bias[5] = -9999;
  content.tensors.back() = test::store_floats("cls.predictions.bias", {96}, bias);
  const ModelFolder folder = read(content);
  bias[3] = -1e4f, bias[4] = 1e4f;
  EXPECT_EQ(folder.weights.language_head->bias, bias);
  ASSERT_EQ(folder.warnings.size(), 1u);
  EXPECT_EQ(folder.warnings[0],
            "the words' bias: 2 values beyond +-10000 are taken as that: scores are 0 or 1 there");
}

TEST_F(Family, HeadsOnPooledAndTokenVectors) {
  ModelContent content = make("BertForPreTraining");
  add_language_head(content, "");
  add_linear(content, "bert.pooler.dense", 32, 32);
  add_linear(content, "cls.seq_relationship", 2, 32);
  expect_all_needed(content);
  EXPECT_TRUE(read(content).weights.classifier.has_value());

  const std::pair<const char*, const char*> pooled[] = {
      {"BertForNextSentencePrediction", "cls.seq_relationship"},
      {"BertForSequenceClassification", "classifier"},
      {"BertForMultipleChoice", "classifier"}};
  for (const auto& [architecture, name] : pooled) {
    content = make(architecture);
    const bool choice = std::string(architecture) == "BertForMultipleChoice";
    add_linear(content, "bert.pooler.dense", 32, 32);
    add_linear(content, name, choice ? 1 : 2, 32);
    expect_all_needed(content);
    EXPECT_EQ(read(content).weights.classifier->bias, values(content, name + std::string(".bias")));
  }

  const std::pair<const char*, const char*> of_tokens[] = {
      {"BertForTokenClassification", "classifier"}, {"BertForQuestionAnswering", "qa_outputs"}};
  for (const auto& [architecture, name] : of_tokens) {
    content = make(architecture);
    add_linear(content, name, 2, 32);
    expect_all_needed(content);
    const ModelFolder model = read(content);
    EXPECT_FALSE(model.weights.pooler.has_value());
    EXPECT_FALSE(model.weights.classifier.has_value());
    EXPECT_EQ(model.weights.token_classifier->bias, values(content, name + std::string(".bias")));
  }
}

TEST_F(Family, RelativePositions) {
  for (const char* kind : {"relative_key", "relative_key_query"}) {
    ModelContent content = make("BertModel", {{"position_embedding_type", kind}});
    for (const int l : {0, 1}) {
      add(content,
          "bert.encoder.layer." + std::to_string(l) + ".attention.self.distance_embedding.weight",
          {63, 16});
    }
    const ModelFolder with_table = read(content);  // transformers stores it without using it
    EXPECT_TRUE(with_table.warnings.empty());
    EXPECT_EQ(with_table.weights.stacks[0].position_embeddings.rows, 0U);
    content.erase("bert.embeddings.position_embeddings.weight");
    expect_all_needed(content);
    const Matrix relative = read(content).weights.stacks[0].layers[1].attention.distance_embedding;
    EXPECT_EQ(relative.rows, 63U);
    EXPECT_EQ(relative.cols, 16U);
  }
}

TEST_F(Family, RelativePositionsAmong512TokensAreTheMiddle) {
  ModelContent content = test::make_model(ModelOptions{.layers = 1, .positions = 600});
  content.config["position_embedding_type"] = "relative_key";
  const std::string name = "encoder.layer.0.attention.self.distance_embedding.weight";
  add(content, name, {1199, 16});
  const Matrix relative = read(content).weights.stacks[0].layers[0].attention.distance_embedding;
  ASSERT_EQ(relative.rows, 1023U);
  const std::vector<float> all = values(content, name);
  EXPECT_EQ(
      std::vector<float>(relative.row(511), relative.row(512)),
      std::vector<float>(all.begin() + 599 * 16, all.begin() + 600 * 16));  // relative position 0
  EXPECT_EQ(relative.data.front(), all[88 * 16]);
  EXPECT_EQ(relative.data.size(), 1023U * 16U);
}

TEST_F(Family, SinusoidalTableIsComputed) {
  ModelContent content = make("BertModel", {{"position_embedding_type", "sinusoidal"}});
  content.erase("bert.embeddings.position_embeddings.weight");
  expect_all_needed(content);
  const Matrix table = read(content).weights.stacks[0].position_embeddings;
  ASSERT_EQ(table.rows, 32U);
  ASSERT_EQ(table.cols, 32U);
  EXPECT_EQ(table.row(0)[4], 0.0F);
  EXPECT_EQ(table.row(0)[5], 1.0F);
  EXPECT_EQ(table.row(7)[0], static_cast<float>(std::sin(7.0)));
  EXPECT_EQ(table.row(7)[1], static_cast<float>(std::cos(7.0)));
  EXPECT_EQ(table.row(9)[30], static_cast<float>(std::sin(9 / std::pow(10000.0, 30.0 / 32))));
}

TEST_F(Family, SinusoidalTableHasTheWidthOfTheEmbeddings) {
  // 8 of ALBERT's hidden 16. The position table in the file is not read.
  const std::filesystem::path albert = EMBERT_SOURCE_DIR "/tests/data/reference/families/albert";
  for (const char* const name : {"config.json", "model.safetensors"}) {
    std::filesystem::copy(albert / name, folder_.path() / name);
  }
  json config = json::parse(std::ifstream(albert / "config.json"));
  config["position_embedding_type"] = "sinusoidal";
  folder_.write("config.json", config.dump());
  const Matrix table = read_model_folder(folder_.path()).weights.stacks[0].position_embeddings;
  ASSERT_EQ(table.rows, 20U);
  ASSERT_EQ(table.cols, 8U);
  ASSERT_EQ(table.data.size(), 20U * 8U);
  EXPECT_EQ(table.row(19)[6], static_cast<float>(std::sin(19 / std::pow(10000.0, 6.0 / 8))));
}

TEST_F(Family, WithoutSegmentsOneIsZero) {
  ModelContent content = make("BertModel", {{"type_vocab_size", 0}});
  content.erase("bert.embeddings.token_type_embeddings.weight");
  expect_all_needed(content);
  const Matrix segments = read(content).weights.stacks[0].token_type_embeddings;
  EXPECT_EQ(segments.rows, 1U);
  EXPECT_EQ(segments.data, std::vector<float>(32));
}

TEST_F(Family, EmbeddingScaleGoesIntoTheWords) {
  ModelContent content = make("BertForMaskedLM", {{"embedding_scale", 4.0}});
  add_language_head(content, "");
  const ModelFolder model = read(content);
  std::vector<float> words = values(content, "bert.embeddings.word_embeddings.weight");
  EXPECT_EQ(model.weights.language_head->output_embeddings->data, words);  // tied, yet not scaled
  for (float& value : words) value *= 4;
  EXPECT_EQ(model.weights.stacks[0].word_embeddings.data, words);
}

TEST_F(Family, PrunedHeads) {
  ModelContent content = make("BertModel", {{"pruned_heads", {{"1", {0}}}}});
  EXPECT_EQ(error(content),
            "model.safetensors: tensor \"bert.encoder.layer.1.attention.self.query.weight\" must "
            "have shape [16, 32] by config.json, found [32, 32]");
  const std::string layer = "bert.encoder.layer.1.attention.";
  for (const std::string part : {"self.query", "self.key", "self.value"}) {
    content.erase(layer + part + ".weight");
    content.erase(layer + part + ".bias");
    add_linear(content, layer + part, 16, 32);
  }
  content.erase(layer + "output.dense.weight");
  add(content, layer + "output.dense.weight", {32, 16});
  expect_all_needed(content);
  const StackWeights stack = read(content).weights.stacks[0];
  EXPECT_EQ(stack.layers[0].attention.query.weight.rows, 32U);
  EXPECT_EQ(stack.layers[1].attention.query.weight.rows, 16U);
  EXPECT_EQ(stack.layers[1].attention.out.weight.cols, 16U);
}

// Each LayerNorm is named by the block that reads it.
TEST_F(Family, PostLayerNorms) {
  ModelContent content = make("BertModel", {{"is_decoder", true}, {"add_cross_attention", true}});
  add_cross_attention(content, "bert.");
  expect_all_needed(content);
  const StackWeights stack = read(content).weights.stacks[0];
  const auto gamma = [&](const std::string& name) {
    return values(content, "bert." + name + ".LayerNorm.weight");
  };
  EXPECT_EQ(stack.input_norms[0]->gamma, gamma("embeddings"));
  EXPECT_EQ(stack.layers[0].cross_norm.gamma, gamma("encoder.layer.0.attention.output"));
  EXPECT_EQ(stack.layers[0].ffn_norm.gamma, gamma("encoder.layer.0.crossattention.output"));
  EXPECT_EQ(stack.input_norms[1]->gamma, gamma("encoder.layer.0.output"));
  EXPECT_EQ(stack.layers[1].cross_norm.gamma, gamma("encoder.layer.1.attention.output"));
  EXPECT_EQ(stack.final_norm.gamma, gamma("encoder.layer.1.output"));
  EXPECT_EQ(stack.layers[1].cross->key.bias,
            values(content, "bert.encoder.layer.1.crossattention.self.key.bias"));

  content.config["embedding_layer_norm"] = false;
  for (const char* part : {"weight", "bias"}) {
    content.erase("bert.embeddings.LayerNorm." + std::string(part));
  }
  expect_all_needed(content);
  EXPECT_FALSE(read(content).weights.stacks[0].input_norms[0].has_value());
}

TEST_F(Family, PreLayerNorms) {
  ModelContent content =
      make("BertModel",
           {{"norm_position", "pre"}, {"final_layer_norm", true}, {"embedding_layer_norm", false}});
  std::erase_if(content.tensors, [](const test::StoredTensor& tensor) {
    return tensor.name.find("LayerNorm") != std::string::npos;
  });
  for (const int l : {0, 1}) {
    const std::string layer = "bert.encoder.layer." + std::to_string(l) + ".";
    add_norm(content, layer + "attention.LayerNorm");
    add_norm(content, layer + "intermediate.LayerNorm");
  }
  add_norm(content, "bert.LayerNorm");
  expect_all_needed(content);
  const StackWeights stack = read(content).weights.stacks[0];
  const auto gamma = [&](const std::string& name) {
    return values(content, "bert." + name + "LayerNorm.weight");
  };
  EXPECT_EQ(stack.input_norms[0]->gamma, gamma("encoder.layer.0.attention."));
  EXPECT_EQ(stack.layers[0].ffn_norm.gamma, gamma("encoder.layer.0.intermediate."));
  EXPECT_EQ(stack.input_norms[1]->gamma, gamma("encoder.layer.1.attention."));
  EXPECT_EQ(stack.final_norm.gamma, gamma(""));
}

// The tensors of `content`, with `prefix` before their names.
void append_stack(ModelContent& out, const ModelContent& content, const std::string& prefix) {
  for (test::StoredTensor tensor : content.tensors) {
    tensor.name = prefix + tensor.name;
    out.tensors.push_back(std::move(tensor));
  }
}

TEST_F(Family, PairOfTwoBerts) {
  const ModelContent encoder = test::make_model(ModelOptions{.hidden = 48});
  const ModelContent decoder = test::make_model();
  ModelContent content;
  content.config = {{"model_type", "encoder-decoder"},
                    {"architectures", {"EncoderDecoderModel"}},
                    {"is_encoder_decoder", true},
                    {"encoder", encoder.config},
                    {"decoder", decoder.config}};
  content.config["decoder"].update({{"is_decoder", true}, {"add_cross_attention", true}});
  append_stack(content, encoder, "encoder.");
  append_stack(content, decoder, "decoder.bert.");
  add_cross_attention(content, "decoder.bert.");
  add_language_head(content, "decoder.");
  add_linear(content, "enc_to_dec_proj", 32, 48);
  expect_all_needed(content);
  const ModelFolder model = read(content);
  ASSERT_EQ(model.weights.stacks.size(), 2U);
  EXPECT_EQ(model.weights.stacks[0].word_embeddings.cols, 48U);
  EXPECT_EQ(model.weights.stacks[1].word_embeddings.data,
            values(content, "decoder.bert.embeddings.word_embeddings.weight"));
  EXPECT_EQ(model.weights.projection->weight.rows, 32U);
  EXPECT_TRUE(model.weights.stacks[1].layers[1].cross.has_value());
  EXPECT_FALSE(model.weights.stacks[0].layers[1].cross.has_value());
  EXPECT_TRUE(model.weights.language_head.has_value());

  add_linear(content, "encoder.pooler.dense", 48, 48);  // stored, but not used
  EXPECT_TRUE(read(content).warnings.empty());
  EXPECT_FALSE(read(content).weights.pooler.has_value());
}

TEST_F(Family, PairByOneConfig) {
  const ModelContent stack = test::make_model();
  ModelContent content;
  content.config = stack.config;
  content.config.erase("architectures");
  content.config["is_encoder_decoder"] = true;
  append_stack(content, stack, "encoder.");
  append_stack(content, stack, "decoder.");
  add_cross_attention(content, "decoder.");
  add_linear(content, "lm_head", 96, 32);
  expect_all_needed(content);
  const ModelFolder model = read(content);
  EXPECT_FALSE(model.weights.projection.has_value());
  const LanguageHead& head = *model.weights.language_head;
  EXPECT_FALSE(head.transform.has_value());
  EXPECT_EQ(head.output_embeddings->data, values(content, "lm_head.weight"));
  EXPECT_EQ(head.bias, values(content, "lm_head.bias"));
}

}  // namespace
}  // namespace embert::convert
