// SPDX-License-Identifier: Apache-2.0
// The forms of vectors: what a value becomes, cut dimensions, and texts without tokens.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "embert/embert_vector.h"
#include "targets/hosted/vectors/pack_vector.hpp"
#include "tests/targets/hosted/hosted_fixture.hpp"

namespace embert::test {
namespace {

using hosted::pack_vector;

constexpr embert_scale kUnitScale = {(127u - 15u) << 23};  // 2^-15

template <typename T>
std::vector<T> pack(const std::vector<int16_t>& values, embert_vector_format format) {
  std::vector<T> packed(hosted::packed_bytes(format, values.size()) / sizeof(T));
  pack_vector({values.data(), values.size(), kUnitScale}, format, packed.data());
  return packed;
}

TEST(VectorFormats, EachValue) {
  const std::vector<int16_t> values = {-32768, -16384, -1, 0, 1, 128, 16384, 32767, 5, -5};
  const std::vector<float> reals = pack<float>(values, EMBERT_VECTOR_FLOAT32);
  EXPECT_EQ(reals[0], -1.0f);
  EXPECT_EQ(reals[6], 0.5f);
  EXPECT_EQ(pack<int16_t>(values, EMBERT_VECTOR_INT16), values);
  EXPECT_EQ(pack<int8_t>(values, EMBERT_VECTOR_INT8)[0], -127);
  // vec_quantize_int8(v, 'unit') of sqlite-vec 0.1.9 gives these.
  EXPECT_EQ(pack<int8_t>(values, EMBERT_VECTOR_INT8_UNIT),
            (std::vector<int8_t>{-128, -64, 0, 0, 0, 0, 63, 126, 0, 0}));
  EXPECT_EQ(pack<uint8_t>(values, EMBERT_VECTOR_UBINARY), (std::vector<uint8_t>{0x0F, 0x80}));
  EXPECT_EQ(pack<int8_t>(values, EMBERT_VECTOR_BINARY), (std::vector<int8_t>{0x0F - 128, 0}));
  EXPECT_EQ(pack<uint8_t>(values, EMBERT_VECTOR_BITS_LSB), (std::vector<uint8_t>{0xF0, 0x01}));
}

TEST(VectorFormats, CutThenNormalisedThenPacked) {
  const ScratchFolder scratch;
  const ModelHandle model = open_model(write_model(scratch, "m.emb", classifier(3)));
  const Texts list({"hello world", "a b c"});
  const embert_hosted_texts view = list.view();
  const size_t whole = embert_hidden_size(embert_hosted_model(model.get())), cut = 10;
  const auto vectors = embed(model.get(), view, vectors_as(EMBERT_VECTOR_INT16));
  embert_hosted_vector_options options = vectors_as(EMBERT_VECTOR_INT16);
  options.dimensions = cut;
  embert_scale scale = {};
  options.scale = &scale;
  const auto shorter = embed(model.get(), view, options);
  EXPECT_EQ(scale.float_bits, kUnitScale.float_bits);
  ASSERT_EQ(shorter.size(), 2 * 2 * cut);
  for (size_t i = 0; i < 2; ++i) {
    std::vector<int16_t> expected(cut);
    std::memcpy(expected.data(), vectors.data() + 2 * whole * i, 2 * cut);
    ASSERT_EQ(embert_normalize_int16(expected.data(), cut, expected.data()), EMBERT_STATUS_OK);
    EXPECT_EQ(std::memcmp(expected.data(), shorter.data() + 2 * cut * i, 2 * cut), 0);
  }
}

TEST(VectorFormats, Int8UnitIsForVectorsOfLength1) {
  const ScratchFolder scratch;
  TaskModel free_length = classifier(3);
  free_length.shape.normalize = 0;
  const ModelHandle model = open_model(write_model(scratch, "m.emb", free_length));
  embert_hosted_vector_options options = vectors_as(EMBERT_VECTOR_INT8_UNIT);
  size_t bytes = 0;
  EXPECT_EQ(embert_hosted_vector_bytes(model.get(), &options, &bytes), EMBERT_HOSTED_ARGUMENT);
  EXPECT_NE(std::string(embert_hosted_error()).find("int8-unit is for vectors of length 1"),
            std::string::npos);
  options.normalize = 1;
  EXPECT_EQ(embert_hosted_vector_bytes(model.get(), &options, &bytes), EMBERT_HOSTED_OK);
  EXPECT_EQ(bytes, 36u);
}

}  // namespace
}  // namespace embert::test
