// SPDX-License-Identifier: Apache-2.0
// Whole models, quantised, written as blobs and run by the runtime, against the float model:
// ordinary models, and degenerate ones as pruning and odd checkpoints leave them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "converter/convert_error.hpp"
#include "converter/export/write_blob.hpp"
#include "converter/import/config/read_config.hpp"
#include "kernels/arithmetic/pack.hpp"
#include "kernels/variants.hpp"
#include "tests/converter/quantize/random_bert.hpp"

namespace embert::test {
namespace {

using convert::LayerWeights;
using convert::Linear;

void zero(Linear& linear) {
  std::fill(linear.weight.data.begin(), linear.weight.data.end(), 0.0F);
  std::fill(linear.bias.begin(), linear.bias.end(), 0.0F);
}

double cosine_after(const RandomBert& bert) { return agreement(bert).cosine_min; }

TEST(QuantizeModel, FollowsTheFloatModel) {
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    EXPECT_GT(cosine_after(random_encoder(seed)), 0.999) << seed;
  }
}

TEST(QuantizeModel, EveryActivation) {
  for (const auto act :
       {convert::HiddenAct::kGelu, convert::HiddenAct::kGeluNew, convert::HiddenAct::kRelu,
        convert::HiddenAct::kSilu, convert::HiddenAct::kTanh}) {
    RandomBert bert = random_encoder(6);
    bert.config.stacks[0].hidden_act = act;
    EXPECT_GT(cosine_after(bert), 0.999) << convert::hidden_act_name(act);
  }
}

TEST(QuantizeModel, SameBytesForAnyNumberOfThreads) {
  const RandomBert bert = random_encoder(8, 3);
  const std::vector<std::uint8_t> one = blob_of(bert, quantize(bert, 1));
  EXPECT_EQ(one, blob_of(bert, quantize(bert, 2)));
  EXPECT_EQ(one, blob_of(bert, quantize(bert, 3)));
  EXPECT_NE(one, blob_of(bert, quantize(bert, 1, {convert::Rounding::kNearest})));
}

TEST(QuantizeModel, LargeActivationInputsLowerTheExponent) {
  RandomBert bert = random_encoder(9);
  for (float& w : bert.weights.stacks[0].layers[1].ffn_up.weight.data) w *= 30;
  for (float& w : bert.weights.stacks[0].layers[1].ffn_down.weight.data) w /= 30;
  const convert::QuantizeResult result = quantize(bert);
  EXPECT_EQ(result.model.stacks[0].layers[0].record.activation_exponent, 10);
  EXPECT_LT(result.model.stacks[0].layers[1].record.activation_exponent, 10);
  EXPECT_GT(agreement(bert, blob_of(bert, result)).cosine_min, 0.999);
}

TEST(QuantizeModel, OutliersAreSplit) {
  RandomBert bert = random_encoder(10);
  Linear& output = bert.weights.stacks[0].layers[0].ffn_down;
  output.weight.data[4 * 64 + 9] *= 12;
  output.weight.data[4 * 64 + 9] += 1.5F;
  const convert::QuantizeResult result = quantize(bert);
  EXPECT_GT(result.layers[0].copies, 0u);
  EXPECT_EQ(result.model.stacks[0].layers[0].record.intermediate_size,
            64 + result.layers[0].copies);
  EXPECT_GT(agreement(bert, blob_of(bert, result)).cosine_min, 0.999);
}

TEST(QuantizeModel, ZeroPaddingRowAndUnusedChannels) {
  RandomBert bert = random_encoder(11);
  std::fill_n(bert.weights.stacks[0].word_embeddings.data.begin(), 32, 0.0F);
  for (convert::LayerNorm* norm :
       {&*bert.weights.stacks[0].input_norms[0], &bert.weights.stacks[0].layers[1].ffn_norm,
        &*bert.weights.stacks[0].input_norms[2]}) {
    norm->gamma[3] = norm->beta[3] = 0;  // always zero
    norm->gamma[4] = 0;                  // always the same
    norm->beta[4] = 5;
  }
  for (LayerWeights& layer : bert.weights.stacks[0].layers) {
    for (std::size_t n = 0; n < 32; ++n)
      layer.attention.query.weight.data[n * 32 + 6] = 0;  // not read
    std::fill_n(layer.ffn_up.weight.data.begin() + 5 * 32, 32, 0.0F);
    layer.ffn_up.bias[5] = 2;  // a constant channel
    std::fill_n(layer.ffn_up.weight.data.begin() + 6 * 32, 32, 0.0F);
    layer.ffn_up.bias[6] = 0;  // a dead one
  }
  EXPECT_GT(cosine_after(bert), 0.999);
}

TEST(QuantizeModel, DeadHeads) {
  RandomBert bert = random_encoder(12);
  LayerWeights& layer = bert.weights.stacks[0].layers[1];
  for (Linear* linear : {&layer.attention.query, &layer.attention.key, &layer.attention.value}) {
    std::fill_n(linear->weight.data.begin(), 16 * 32, 0.0F);  // head 0
    std::fill_n(linear->bias.begin(), 16, 0.0F);
  }
  EXPECT_GT(cosine_after(bert), 0.999);
  zero(layer.attention.query);  // no head attends to anything in particular
  EXPECT_GT(cosine_after(bert), 0.999);
}

TEST(QuantizeModel, DeadBlocks) {
  RandomBert bert = random_encoder(13);
  zero(bert.weights.stacks[0].layers[0].attention.out);
  zero(bert.weights.stacks[0].layers[1].ffn_down);
  zero(bert.weights.stacks[0].layers[2].attention.value);
  zero(bert.weights.stacks[0].layers[2].ffn_up);
  EXPECT_GT(cosine_after(bert), 0.999);
}

TEST(QuantizeModel, NothingButZeros) {
  RandomBert bert = random_encoder(14, 2);
  convert::StackWeights& w = bert.weights.stacks[0];
  for (convert::Matrix* m :
       {&w.word_embeddings, &w.position_embeddings, &w.token_type_embeddings}) {
    std::fill(m->data.begin(), m->data.end(), 0.0F);
  }
  std::vector<convert::LayerNorm*> norms = {&w.final_norm};
  for (LayerWeights& layer : w.layers) {
    for (Linear* l : {&layer.attention.query, &layer.attention.key, &layer.attention.value,
                      &layer.attention.out, &layer.ffn_up, &layer.ffn_down}) {
      zero(*l);
    }
    norms.push_back(&layer.ffn_norm);
  }
  for (std::optional<convert::LayerNorm>& norm : w.input_norms) norms.push_back(&*norm);
  for (convert::LayerNorm* norm : norms) {
    std::fill(norm->gamma.begin(), norm->gamma.end(), 0.0F);
    std::fill(norm->beta.begin(), norm->beta.end(), 0.0F);
  }
  zero(bert.weights.pooler->dense);
  zero(*bert.weights.classifier);
  EXPECT_EQ(cosine_after(bert), 1);  // of logits
  bert.config.classifier = convert::ClassifierTask::kNone;
  bert.config.label_names.clear();
  bert.weights.classifier.reset();
  EXPECT_EQ(cosine_after(bert), 1);  // of embeddings
}

TEST(QuantizeModel, ConstantOutput) {
  RandomBert bert = random_encoder(15);
  convert::LayerNorm& last = bert.weights.stacks[0].final_norm;
  std::fill(last.gamma.begin(), last.gamma.end(), 0.0F);
  EXPECT_GT(cosine_after(bert), 0.99999);
}

TEST(QuantizeModel, TinyAndHugeWeights) {
  for (const float scale : {1e-6F, 1e4F}) {
    RandomBert bert = random_encoder(16);
    for (float& v : bert.weights.stacks[0].word_embeddings.data) v *= scale;
    for (float& v : bert.weights.stacks[0].position_embeddings.data) v *= scale;
    for (float& v : bert.weights.stacks[0].token_type_embeddings.data) v *= scale;
    EXPECT_GT(cosine_after(bert), 0.998) << scale;
  }
}

TEST(QuantizeModel, LargeBiasesRaiseTheStep) {
  RandomBert bert = random_encoder(17);
  for (float& w : bert.weights.stacks[0].layers[1].ffn_up.weight.data) w *= 1e-7F;
  for (float& w : bert.weights.stacks[0].layers[1].attention.value.weight.data) w *= 1e-9F;
  EXPECT_GT(cosine_after(bert), 0.999);
}

TEST(WriteBlob, PacksAndSumsWeights) {
  const std::size_t outputs = 20, inputs = 7;
  std::vector<std::int8_t> weights(outputs * inputs);
  Random random(20);
  for (std::int8_t& w : weights) w = static_cast<std::int8_t>(127 * random.next());
  std::vector<std::int8_t> packed(pad_columns(outputs) * pad_inputs(inputs), 99);
  std::vector<std::int32_t> sums(pad_columns(outputs), 99);
  pack_rhs(RhsOrder::kN16K4, weights.data(), outputs, inputs, packed.data());
  column_sums(weights.data(), outputs, inputs, sums.data());
  std::vector<bool> seen(packed.size());
  for (std::size_t n = 0; n < pad_columns(outputs); ++n) {
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < pad_inputs(inputs); ++k) {
      const std::size_t at = n16k4_index(n, k, pad_inputs(inputs));
      EXPECT_FALSE(seen[at]);
      seen[at] = true;
      const std::int8_t expected =
          n < outputs && k < inputs ? weights[n * inputs + k] : std::int8_t{0};
      EXPECT_EQ(packed[at], expected);
      sum += expected;
    }
    EXPECT_EQ(sums[n], sum);
  }
}

TEST(WriteBlob, ChecksumAndLabels) {
  const RandomBert bert = random_encoder(21, 3);
  const convert::QuantizeResult result = quantize(bert);
  convert::BlobExtras extras;
  extras.max_tokens = 24;
  extras.labels = {"a", "b"};
  EXPECT_THROW(convert::write_blob(result.model, extras), convert::ConvertError);
  extras.labels = {"a", std::string("b\0c", 3), "d"};
  EXPECT_THROW(convert::write_blob(result.model, extras), convert::ConvertError);
  extras.labels = {"a", "b", ""};
  convert::BlobSizes sizes;
  const std::vector<std::uint8_t> blob = convert::write_blob(result.model, extras, &sizes);
  EXPECT_LE(sizes.encoder_weights + sizes.embeddings + sizes.vocabulary + sizes.tables,
            blob.size());
  BlobHeader header;
  std::memcpy(&header, blob.data(), sizeof(header));
  EXPECT_EQ(header.num_labels, 3u);
  EXPECT_EQ(header.crc32c,
            crc32c_scalar(0, blob.data() + kBlobCrcStart, blob.size() - kBlobCrcStart));
}

}  // namespace
}  // namespace embert::test
