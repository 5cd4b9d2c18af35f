// SPDX-License-Identifier: Apache-2.0
// Random members of the family, quantised, written as blobs and run by the runtime, against the
// float model: any sizes, mostly no multiple of a tile, and any options that go together.
#include <gtest/gtest.h>

#include "tests/converter/quantize/random_bert.hpp"

namespace embert::test {
namespace {

using convert::ModelConfig;
using convert::StackConfig;

StackConfig random_stack(Random& random) {
  const auto from_to = [&](int least, int most) {
    return least + static_cast<int>(random.below(static_cast<std::size_t>(most - least + 1)));
  };
  StackConfig stack;
  stack.num_attention_heads = from_to(1, 4);
  stack.hidden_size = stack.num_attention_heads * from_to(7, 19);
  stack.num_hidden_layers = from_to(1, 3);
  stack.intermediate_size = from_to(20, 90);
  stack.vocab_size = from_to(20, 80);
  stack.max_position_embeddings = stack.stored_positions = from_to(5, 40);
  stack.type_vocab_size = from_to(1, 3);
  stack.hidden_act = static_cast<convert::HiddenAct>(from_to(0, 4));
  stack.position_kind = static_cast<convert::PositionKind>(from_to(0, 2));
  if (from_to(0, 2) == 0) {
    stack.norm_position = convert::NormPosition::kPre;
    stack.embedding_layer_norm = false;
    stack.final_layer_norm = true;
  }
  stack.num_heads_of_layer.assign(static_cast<std::size_t>(stack.num_hidden_layers),
                                  stack.num_attention_heads);
  return stack;
}

ModelConfig random_member(Random& random) {
  ModelConfig config;
  config.stacks = {random_stack(random)};
  StackConfig& stack = config.stacks[0];
  const std::size_t kind = random.below(4);  // encoder, decoder, with cross-attention, pair
  stack.is_decoder = kind > 0;
  stack.cross_attention = kind > 1;
  if (kind == 2) stack.cross_hidden_size = 9 + static_cast<int>(random.below(40));
  if (kind < 2) stack.num_heads_of_layer[0] = 1;
  switch (random.below(4)) {
    case 0:
      config.language_head = convert::LanguageHeadKind::kBert;
      break;
    case 1:
      config.language_head = convert::LanguageHeadKind::kLinear;
      break;
    case 2:
      config.token_classifier = convert::TokenTask::kTokenClassification;
      config.label_names.assign(1 + random.below(20), "label");
      break;
    default:
      break;
  }
  config.tied_output = random.below(2) == 0;
  if (kind == 3) {
    config.stacks.insert(config.stacks.begin(), random_stack(random));
    config.stacks[1].cross_hidden_size = config.stacks[random.below(2)].hidden_size;
  }
  return config;
}

TEST(RandomMembers, FollowTheFloatModel) {
  for (std::uint64_t seed = 100; seed < 124; ++seed) {
    Random random(seed);
    const convert::VerifyResult result = agreement({random_member(random), seed});
    EXPECT_GT(result.cosine_mean, 0.999) << seed;
    EXPECT_GT(result.cosine_min, 0.997) << seed;
  }
}

}  // namespace
}  // namespace embert::test
