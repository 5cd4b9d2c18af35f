// SPDX-License-Identifier: Apache-2.0
// Dense modules of sentence-transformers: what is read, every error with its exact message, and the
// sizes of the modules against each other.
#include <gtest/gtest.h>

#include "converter/import/config/read_dense_module.hpp"
#include "converter/import/config/read_pooling.hpp"
#include "converter/import/read_model_folder.hpp"
#include "converter/import/weights/weight_files.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using test::error_text;
using test::store_floats;
using test::StoredTensor;

class DenseModule : public ::testing::Test {
 protected:
  void config(const std::string& keys) { folder_.write("2_Dense/config.json", "{" + keys + "}"); }
  void weights(const std::vector<StoredTensor>& tensors) {
    folder_.write("2_Dense/model.safetensors", test::safetensors_bytes(tensors));
  }
  static StoredTensor weight() { return store_floats("linear.weight", {2, 3}, {1, 2, 3, 4, 5, 6}); }
  static StoredTensor bias() { return store_floats("linear.bias", {2}, {7, 8}); }
  std::string error() {
    return error_text([&] { read_dense_module(folder_.path(), "2_Dense"); });
  }

  test::TempFolder folder_;
  const std::string kSizes = R"("in_features": 3, "out_features": 2)";
};

TEST_F(DenseModule, IsRead) {
  config(kSizes + R"(, "bias": true,
         "activation_function": "torch.nn.modules.activation.Tanh",
         "module_input_name": "sentence_embedding", "module_output_name": null)");
  weights({weight(), bias()});
  const VectorDense dense = read_dense_module(folder_.path(), "2_Dense");
  EXPECT_EQ(dense.linear.weight.rows, 2u);
  EXPECT_EQ(dense.linear.weight.cols, 3u);
  EXPECT_EQ(dense.linear.weight.data, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(dense.linear.bias, (std::vector<float>{7, 8}));
  EXPECT_EQ(dense.activation, HiddenAct::kTanh);
  EXPECT_FALSE(dense.normalize_input);

  weights({weight()});
  config(kSizes + R"(, "bias": false, "activation_function": "torch.nn.modules.linear.Identity")");
  const VectorDense plain = read_dense_module(folder_.path(), "2_Dense");
  EXPECT_EQ(plain.linear.bias, (std::vector<float>{0, 0}));
  EXPECT_EQ(plain.activation, std::nullopt);
}

TEST_F(DenseModule, IsRefused) {
  EXPECT_EQ(error(), "2_Dense/config.json: file not found");
  config(R"("in_features": 3)");
  EXPECT_EQ(error(), "2_Dense/config.json: \"out_features\" is missing");
  config(R"("in_features": 4097, "out_features": 2)");
  EXPECT_EQ(
      error(),
      "2_Dense/config.json: \"in_features\" must be a whole number from 1 to 4096, found 4097");
  config(kSizes + R"(, "activation_function": "torch.nn.modules.activation.Sigmoid")");
  EXPECT_EQ(
      error(),
      "2_Dense/config.json: activation_function \"torch.nn.modules.activation.Sigmoid\" is not "
      "supported; torch's Tanh, Identity, ReLU, GELU and SiLU are");
  config(kSizes + R"(, "activation_function": "my.Tanh")");
  EXPECT_EQ(error(),
            "2_Dense/config.json: activation_function \"my.Tanh\" is not supported; torch's Tanh, "
            "Identity, ReLU, GELU and SiLU are");
  config(kSizes + R"(, "module_input_name": "token_embeddings")");
  EXPECT_EQ(error(),
            "2_Dense/config.json: module_input_name \"token_embeddings\" is not supported; only "
            "sentence_embedding is");
  config(kSizes);
  EXPECT_EQ(error(), "2_Dense/model.safetensors: file not found, nor model.safetensors.index.json");
  folder_.write("2_Dense/pytorch_model.bin", "x");
  folder_.write("modules.json", "[]");
  EXPECT_EQ(error(), "2_Dense/pytorch_model.bin: only safetensors weights are read; " +
                         safetensors_remedy(folder_.path(), "pytorch_model.bin"));
  weights({bias()});
  EXPECT_EQ(error(),
            "2_Dense/model.safetensors: tensor \"linear.weight\" [2, 3] is missing; is this the "
            "folder of a complete model?");
  weights({weight(), bias(), store_floats("other", {1}, {0})});
  EXPECT_EQ(
      error(),
      "2_Dense/model.safetensors: tensor \"other\" is not one of a Dense module with bias true");
  weights({weight(), store_floats("linear.bias", {3}, {7, 8, 9})});
  EXPECT_EQ(error(),
            "2_Dense/model.safetensors: tensor \"linear.bias\" must have shape [2] by config.json, "
            "found [3]");
}

TEST_F(DenseModule, ChainsAndTheirSizes) {
  const auto module = [](const std::string& kind, const std::string& path) {
    return R"({"path": ")" + path + R"(", "type": "sentence_transformers.models.)" + kind + "\"}";
  };
  const std::string start = module("Transformer", "") + "," + module("Pooling", "1_Pooling") + ",",
                    dense = module("Dense", "2_Dense"), unit = module("Normalize", "");
  const auto modules = [&](const std::string& rest) {
    folder_.write("modules.json", "[" + start + rest + "]");
  };
  const auto folder_error = [&] { return error_text([&] { read_model_folder(folder_.path()); }); };
  folder_.write("1_Pooling/config.json", R"({"pooling_mode": ["mean", "cls"]})");
  config(R"("in_features": 64, "out_features": 64)");
  weights({store_floats("linear.weight", {64, 64}, std::vector<float>(64 * 64, 0.5f)),
           store_floats("linear.bias", {64}, std::vector<float>(64))});
  test::write_model_folder(folder_.path());

  modules(dense);
  PoolingConfig pooling = read_pooling(folder_.path());
  ASSERT_EQ(pooling.dense.size(), 1u);
  EXPECT_FALSE(pooling.dense[0].normalize_input);
  EXPECT_FALSE(pooling.normalize);
  EXPECT_EQ(folder_error(), "no error");
  modules(dense + "," + unit);
  EXPECT_TRUE(read_pooling(folder_.path()).normalize);
  modules(unit + "," + dense);
  pooling = read_pooling(folder_.path());
  EXPECT_TRUE(pooling.dense[0].normalize_input);
  EXPECT_FALSE(pooling.normalize);
  modules(dense + "," + dense + "," + dense + "," + dense);
  EXPECT_EQ(read_pooling(folder_.path()).dense.size(), 4u);
  modules(dense + "," + dense + "," + dense + "," + dense + "," + dense);
  EXPECT_EQ(
      folder_error(),
      "modules.json: module 6 \"Dense\" is not supported; expected Transformer, Pooling, then "
      "perhaps Dense and Normalize");
  modules(dense);
  folder_.write("1_Pooling/config.json", R"({"pooling_mode": "mean"})");
  EXPECT_EQ(folder_error(),
            "2_Dense/config.json: in_features is 64, but the modules before it give 32 values");
  folder_.write("1_Pooling/config.json", R"({"pooling_mode": "mean", "embedding_dimension": 30})");
  EXPECT_EQ(folder_error(),
            "1_Pooling/config.json: the size of a vector is 30, but hidden_size in config.json is "
            "32");
  test::write_model_folder(folder_.path(), {.hidden = 1024, .layers = 1, .heads = 8});
  folder_.write("1_Pooling/config.json",
                R"({"pooling_mode": ["mean", "cls", "max", "mean", "cls"]})");
  EXPECT_EQ(
      folder_error(),
      "1_Pooling/config.json: 5 poolings of 1024 values side by side; at most 4096 values are "
      "supported");
}

}  // namespace
}  // namespace embert::convert
