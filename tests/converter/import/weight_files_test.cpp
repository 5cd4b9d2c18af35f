// SPDX-License-Identifier: Apache-2.0
// Sharded models, and folders with weights of other formats.
#include "converter/import/weights/weight_files.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
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

// The line runs as it is pasted: by a shell, in the folder that it was given for, with modules that
// note what is called in place of the packages.
TEST(OtherWeights, TheHintRuns) {
  if (std::system("python3 --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "NOT TESTED: no python3 to run the hint with";
  }
  const char* const kPackage = R"(
class Model:
    def __init__(self, *from_folder): self.calls = [from_folder]
    @classmethod
    def from_pretrained(cls, folder, **options): return cls(folder)
    def save_pretrained(self, folder): print(type(self).__name__, *self.calls[0], folder)
class BertForSequenceClassification(Model): pass
class AutoTokenizer(Model): pass
class SentenceTransformer(Model): pass
)";
  const test::TempFolder folder, packages;
  for (const char* name : {"transformers.py", "sentence_transformers.py"}) {
    packages.write(name, kPackage);
  }
  folder.write("pytorch_model.bin", "x");
  folder.write("config.json", R"({"architectures": ["BertForSequenceClassification"]})");
  const std::string path = folder.path().string(), copy = path + "-safetensors\n";
  const auto printed = [&](const std::filesystem::path& given) {
    const std::string hint = safetensors_remedy(given, "pytorch_model.bin");
    const std::string command = "cd '" + path + "' && PYTHONPATH='" + packages.path().string() +
                                "' " + hint.substr(hint.find("python3"));
    std::FILE* output = popen(command.c_str(), "r");
    std::string text(1000, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), output));
    EXPECT_EQ(pclose(output), 0) << command;
    return text;
  };
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const std::filesystem::path& given : {folder.path(), std::filesystem::path(".")}) {
    EXPECT_EQ(printed(given), "BertForSequenceClassification " + path + " " + copy +
                                  "AutoTokenizer " + path + " " + copy);
  }
  folder.write("modules.json", "[]");
  EXPECT_EQ(printed("./"), "SentenceTransformer " + path + " " + copy);
  std::filesystem::current_path(before);
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
