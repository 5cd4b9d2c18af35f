// SPDX-License-Identifier: Apache-2.0
// Whole model folders: names and types of tensors, task heads, warnings, and tensors that are
// missing or wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "converter/import/read_model_folder.hpp"
#include "converter/import/weights/safetensors_file.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using test::error_text;
using test::ModelContent;
using test::ModelOptions;

class Folder : public ::testing::Test {
 protected:
  ModelFolder read(const ModelOptions& options) {
    test::write_model_folder(folder_.path(), options);
    return read_model_folder(folder_.path());
  }
  ModelFolder read(const ModelContent& content) {
    test::write_model(folder_.path(), content);
    return read_model_folder(folder_.path());
  }
  std::string error(const ModelContent& content) {
    return error_text([&] { read(content); });
  }

  test::TempFolder folder_;
};

TEST_F(Folder, PlainEncoder) {
  const ModelFolder model = read(ModelOptions{});
  EXPECT_EQ(model.weights.stacks[0].word_embeddings.rows, 96U);
  EXPECT_EQ(model.weights.stacks[0].word_embeddings.cols, 32U);
  EXPECT_EQ(model.weights.stacks[0].position_embeddings.rows, 32U);
  EXPECT_EQ(model.weights.stacks[0].layers.size(), 2U);
  EXPECT_EQ(model.weights.stacks[0].layers[1].ffn_up.weight.rows, 64U);
  EXPECT_EQ(model.weights.stacks[0].layers[1].ffn_down.weight.cols, 64U);
  EXPECT_FALSE(model.weights.pooler.has_value());
  EXPECT_FALSE(model.weights.classifier.has_value());
  EXPECT_EQ(model.transformer_folder, folder_.path());
  EXPECT_TRUE(model.warnings.empty());
}

TEST_F(Folder, NamesMakeNoDifference) {
  const ModelFolder plain = read(ModelOptions{.pooler = true});
  const ModelFolder prefixed = read(ModelOptions{.pooler = true, .bert_prefix = true});
  const ModelFolder old =
      read(ModelOptions{.pooler = true, .bert_prefix = true, .gamma_beta = true});
  for (const ModelFolder* other : {&prefixed, &old}) {
    EXPECT_EQ(plain.weights.stacks[0].word_embeddings.data,
              other->weights.stacks[0].word_embeddings.data);
    EXPECT_EQ(plain.weights.stacks[0].input_norms[0]->gamma,
              other->weights.stacks[0].input_norms[0]->gamma);
    EXPECT_EQ(plain.weights.stacks[0].input_norms[0]->beta,
              other->weights.stacks[0].input_norms[0]->beta);
    EXPECT_EQ(plain.weights.stacks[0].input_norms[1]->gamma,
              other->weights.stacks[0].input_norms[1]->gamma);
    EXPECT_EQ(plain.weights.stacks[0].layers[1].attention.key.weight.data,
              other->weights.stacks[0].layers[1].attention.key.weight.data);
    EXPECT_EQ(plain.weights.pooler->dense.bias, other->weights.pooler->dense.bias);
    EXPECT_TRUE(other->warnings.empty());
  }
}

TEST_F(Folder, HalfPrecisionTypes) {
  const ModelFolder full = read(ModelOptions{});
  for (const auto& [dtype, error] : {std::pair("F16", 0x1p-11F), std::pair("BF16", 0x1p-7F)}) {
    const ModelFolder half = read(ModelOptions{.dtype = dtype});
    const std::vector<float>& expected =
        full.weights.stacks[0].layers[0].attention.query.weight.data;
    const std::vector<float>& found = half.weights.stacks[0].layers[0].attention.query.weight.data;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], error * std::fabs(expected[i]) + 0x1p-25F)
          << dtype << " " << i;
    }
  }
}

TEST_F(Folder, ClassificationHead) {
  const ModelFolder model = read(ModelOptions{.labels = 5});
  ASSERT_TRUE(model.weights.classifier.has_value());
  EXPECT_EQ(model.weights.classifier->weight.rows, 5U);
  EXPECT_TRUE(model.weights.pooler.has_value());
  EXPECT_EQ(model.config.label_names[4], "label 4");
}

TEST_F(Folder, ShardsReadAsOneFile) {
  const ModelContent content = test::make_model();
  const ModelFolder single = read(content);
  const test::TempFolder folder;
  folder.write("config.json", content.config.dump());
  std::vector<test::StoredTensor> halves[2];
  nlohmann::json weight_map;
  for (std::size_t i = 0; i < content.tensors.size(); ++i) {
    halves[i % 2].push_back(content.tensors[i]);
    weight_map[content.tensors[i].name] = "part-" + std::to_string(i % 2) + ".safetensors";
  }
  for (const int i : {0, 1}) {
    folder.write("part-" + std::to_string(i) + ".safetensors", test::safetensors_bytes(halves[i]));
  }
  folder.write("model.safetensors.index.json", nlohmann::json{{"weight_map", weight_map}}.dump());
  const ModelFolder sharded = read_model_folder(folder.path());
  EXPECT_EQ(sharded.weights.stacks[0].layers[1].attention.value.weight.data,
            single.weights.stacks[0].layers[1].attention.value.weight.data);
  EXPECT_EQ(sharded.weights.stacks[0].layers[0].ffn_down.bias,
            single.weights.stacks[0].layers[0].ffn_down.bias);
}

TEST_F(Folder, WarnsOfWhatIsLeftOver) {
  ModelContent content = test::make_model(ModelOptions{.bert_prefix = true});
  content.tensors.push_back({"bert.embeddings.position_ids", "I64", {1, 2}, std::string(16, '\0')});
  EXPECT_TRUE(read(content).warnings.empty());
  content.tensors.push_back(test::store_floats("cls.seq_relationship.bias", {2}, {1, 2}));
  content.tensors.push_back(test::store_floats("qa_outputs.bias", {2}, {1, 2}));
  for (const char* name : {"x1", "x2", "x3", "x4", "x5", "x6"}) {
    content.tensors.push_back({name, "I64", {1}, std::string(8, '\0')});
  }
  EXPECT_EQ(
      read(content).warnings,
      (std::vector<std::string>{
          "weights of a head that is not converted: cls.seq_relationship.bias, qa_outputs.bias",
          "unknown tensors left out: x1, x2, x3, x4, x5 and 1 more"}));
}

TEST_F(Folder, KeepsTheFirst512Positions) {
  const ModelFolder model = read(ModelOptions{.positions = 600});
  EXPECT_EQ(model.config.first().max_position_embeddings, 512);
  EXPECT_EQ(model.weights.stacks[0].position_embeddings.rows, 512U);
  EXPECT_EQ(model.weights.stacks[0].position_embeddings.data.size(), 512U * 32U);
  EXPECT_EQ(model.warnings.size(), 1U);
}

TEST_F(Folder, MissingTensors) {
  const ModelContent content = test::make_model(ModelOptions{.labels = 3});
  ASSERT_EQ(error(content), "no error");
  for (const test::StoredTensor& tensor : content.tensors) {
    ModelContent without = content;
    without.erase(tensor.name);
    // Only the name of the word embeddings tells whether names have a prefix.
    const std::string name = tensor.name == "bert.embeddings.word_embeddings.weight"
                                 ? "embeddings.word_embeddings.weight"
                                 : tensor.name;
    EXPECT_EQ(error(without), "model.safetensors: tensor \"" + name + "\" " +
                                  shape_text(tensor.shape) +
                                  " is missing; is this the folder of a complete model?");
  }
}

TEST_F(Folder, WrongShapes) {
  for (const test::StoredTensor& tensor : test::make_model(ModelOptions{.labels = 3}).tensors) {
    ModelContent content = test::make_model(ModelOptions{.labels = 3});
    test::StoredTensor& changed = content.tensor(tensor.name);
    changed.shape.insert(changed.shape.begin(), 1);
    EXPECT_EQ(error(content), "model.safetensors: tensor \"" + tensor.name + "\" must have shape " +
                                  shape_text(tensor.shape) + " by config.json, found " +
                                  shape_text(changed.shape));
  }
}

TEST_F(Folder, WrongValuesAndTypes) {
  ModelContent content = test::make_model();
  const std::string name = "encoder.layer.1.output.LayerNorm.bias";
  std::vector<float> values(32, 1.0F);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  content.tensor(name) = test::store_floats(name, {32}, values);
  EXPECT_EQ(error(content), "model.safetensors: tensor \"" + name +
                                "\" holds nan at index 7; weights must be finite");
  values[7] = -std::numeric_limits<float>::infinity();
  content.tensor(name) = test::store_floats(name, {32}, values);
  EXPECT_EQ(error(content), "model.safetensors: tensor \"" + name +
                                "\" holds -inf at index 7; weights must be finite");
  content.tensor(name) = {name, "F64", {32}, std::string(256, '\0')};
  EXPECT_EQ(error(content),
            "model.safetensors: tensor \"" + name +
                "\" must be F32, F16 or BF16, found F64; store the model in one of these types");
}

TEST_F(Folder, FilesThatDisagree) {
  test::write_model_folder(folder_.path());
  folder_.write("modules.json",
                R"([{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": "p"}])");
  folder_.write("p/config.json",
                R"({"word_embedding_dimension": 48, "pooling_mode_mean_tokens": true})");
  EXPECT_EQ(error_text([&] { read_model_folder(folder_.path()); }),
            "p/config.json: the size of a vector is 48, but hidden_size in config.json is 32");
}

TEST_F(Folder, NoFolderOrNoConfig) {
  const std::string path = (folder_.path() / "none").string();
  EXPECT_EQ(error_text([&] { read_model_folder(path); }),
            path +
                ": no such folder; expected a Hugging Face model folder with config.json and "
                "model.safetensors");
  EXPECT_EQ(error_text([&] { read_model_folder(folder_.path()); }), "config.json: file not found");
  const std::string long_name(300, 'n');
  EXPECT_EQ(error_text([&] { read_model_folder(long_name); }),
            long_name + ": cannot be read: File name too long");
}

}  // namespace
}  // namespace embert::convert
