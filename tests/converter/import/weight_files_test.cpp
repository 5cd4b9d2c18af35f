// SPDX-License-Identifier: Apache-2.0
// Sharded models, and folders with weights of other formats.
#include "converter/import/weights/weight_files.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using test::error_text;

constexpr const char* kFirst = "model-00001-of-00002.safetensors";
constexpr const char* kSecond = "model-00002-of-00002.safetensors";

class ShardedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write(kFirst, test::safetensors_bytes({test::store_floats("a", {2}, {1, 2})}));
    folder_.write(kSecond, test::safetensors_bytes({test::store_floats("b", {1}, {3})}));
  }
  std::string index_error(const std::string& weight_map) {
    folder_.write("model.safetensors.index.json",
                  "{\"metadata\": {\"total_size\": 12}, \"weight_map\": " + weight_map + "}");
    return error_text([&] { WeightFiles(folder_.path()); });
  }
  std::string map_error(const std::map<std::string, std::string>& weight_map) {
    return index_error(nlohmann::json(weight_map).dump());
  }

  test::TempFolder folder_;
};

TEST_F(ShardedFiles, ReadsEveryShard) {
  ASSERT_EQ(map_error({{"a", kFirst}, {"b", kSecond}}), "no error");
  const WeightFiles files(folder_.path());
  EXPECT_EQ(files.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(files.read_float("a"), (std::vector<float>{1, 2}));
  EXPECT_EQ(files.read_float("b"), (std::vector<float>{3}));
  EXPECT_EQ(files.file_of("b"), kSecond);
  EXPECT_EQ(files.find("c"), nullptr);
}

TEST_F(ShardedFiles, TensorNotWhereTheIndexSays) {
  EXPECT_EQ(map_error({{"a", kFirst}, {"b", kSecond}, {"c", kFirst}}),
            std::string(kFirst) +
                ": tensor \"c\" is missing; model.safetensors.index.json says that it is here");
  EXPECT_EQ(map_error({{"a", kFirst}, {"b", kFirst}}),
            std::string(kFirst) +
                ": tensor \"b\" is missing; model.safetensors.index.json says that it is here");
  folder_.write(kSecond, test::safetensors_bytes({test::store_floats("a", {2}, {1, 2}),
                                                  test::store_floats("b", {1}, {3})}));
  EXPECT_EQ(
      map_error({{"a", kFirst}, {"b", kSecond}}),
      std::string(kSecond) +
          ": tensor \"a\" is in this file, but model.safetensors.index.json says that it is in " +
          kFirst);
  EXPECT_EQ(map_error({{"b", kSecond}}),
            std::string(kSecond) + ": tensor \"a\" is not listed in model.safetensors.index.json");
}

TEST_F(ShardedFiles, WrongIndex) {
  const std::string where = "model.safetensors.index.json: weight_map of tensor \"a\": ";
  EXPECT_EQ(map_error({{"a", "../x.safetensors"}}),
            where + "path \"../x.safetensors\" leaves the model folder");
  EXPECT_EQ(map_error({{"a", "sub/../../x.safetensors"}}),
            where + "path \"sub/../../x.safetensors\" leaves the model folder");
  EXPECT_EQ(map_error({{"a", "/etc/x.safetensors"}}),
            where + "path \"/etc/x.safetensors\" leaves the model folder");
  EXPECT_EQ(map_error({{"a", "x.bin"}}), where + "\"x.bin\" is no .safetensors file");
  EXPECT_EQ(index_error("{\"a\": 3}"), where + "expected a file name, found 3");
  EXPECT_EQ(map_error({{"a", "x.safetensors"}}), "x.safetensors: file not found");
  EXPECT_EQ(index_error("[]"),
            "model.safetensors.index.json: \"weight_map\" must be an object: tensor name -> file");
}

// The advice is a line for a shell: the folder's own class, which keeps the head of a task, and
// another folder, so that config.json stays.
TEST(OtherWeights, AreRefusedWithAHint) {
  const auto error_of = [](const test::TempFolder& folder) {
    return error_text([&] { WeightFiles(folder.path()); });
  };
  for (const char* name : {"pytorch_model.bin", "model.pt", "weights.ckpt"}) {
    const test::TempFolder folder;
    const std::string path = folder.path().string();
    folder.write(name, "x");
    folder.write("config.json", R"({"architectures": ["BertForSequenceClassification"]})");
    EXPECT_EQ(error_of(folder),
              std::string(name) +
                  ": only safetensors weights are read; make them with: python3 -c \"from "
                  "transformers import BertForSequenceClassification as M, AutoTokenizer as T; "
                  "M.from_pretrained('" +
                  path + "').save_pretrained('" + path + "-safetensors'); T.from_pretrained('" +
                  path + "').save_pretrained('" + path + "-safetensors')\"");
  }
  const test::TempFolder folder;
  folder.write("tf_model.h5", "x");
  EXPECT_NE(error_of(folder).find("import AutoModel as M"), std::string::npos);
  EXPECT_NE(error_of(folder).find("', from_tf=True)"), std::string::npos);
  folder.write("config.json", R"({"architectures": ["x; import os"]})");
  EXPECT_NE(error_of(folder).find("import AutoModel as M"), std::string::npos);
  folder.write("modules.json", "[]");
  EXPECT_NE(error_of(folder).find("from sentence_transformers import SentenceTransformer as M"),
            std::string::npos);
}

TEST(OtherWeights, FormatsWithoutAWayBack) {
  for (const char* name : {"model.gguf", "model.onnx"}) {
    const test::TempFolder folder;
    folder.write(name, "x");
    EXPECT_EQ(error_text([&] { WeightFiles(folder.path()); }),
              std::string(name) +
                  ": only safetensors weights are read; give the Hugging Face folder that this "
                  "file was made from, with model.safetensors");
  }
}

TEST(OtherWeights, NoWeightsAtAll) {
  const test::TempFolder folder;
  folder.write("training_args.bin", "x");
  EXPECT_EQ(error_text([&] { WeightFiles(folder.path()); }),
            "model.safetensors: file not found, nor model.safetensors.index.json");
}

}  // namespace
}  // namespace embert::convert
