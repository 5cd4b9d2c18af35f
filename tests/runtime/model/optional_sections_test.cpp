// SPDX-License-Identifier: Apache-2.0
// Optional sections: prompts, kinds that this reader does not know, and version 3, which has none.
#include <algorithm>
#include <utility>

#include "embert/embert_inspect.h"
#include "tests/runtime/model/blob_fields.hpp"

namespace embert::test {
namespace {

using namespace std::string_literals;

constexpr std::uint32_t kUnknown = 300, kUnknownAndEmpty = 65535;

SyntheticModel model_with(const std::vector<SyntheticSection>& optional) {
  SyntheticModel model = small_model();
  model.optional = optional;
  return model;
}

const SyntheticSection kPrompts =
    prompts_section(3, 2, "clustering\0\0passage\0passage: \0query\0query: \0"s);

class OptionalSections : public BlobFields {
 protected:
  OptionalSections()
      : BlobFields(model_with(
            {kPrompts, {kUnknown, std::vector<std::uint8_t>(70, 0xA5)}, {kUnknownAndEmpty, {}}})) {}
  void bad_section(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_SECTION, what);
  }
  /// The status of a model with these prompts.
  static std::string status_of(const SyntheticSection& prompts) {
    const AlignedBytes blob(make_synthetic_blob(model_with({prompts})));
    embert_model model;
    return embert_status_name(
        embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model));
  }
};

TEST_F(OptionalSections, AreFound) {
  embert_model model;
  ASSERT_EQ(embert_model_open(blob_.data(), blob_.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
  embert_model_info info = {.size = sizeof(info)};
  ASSERT_EQ(embert_model_get_info(&model, &info), EMBERT_STATUS_OK);
  EXPECT_EQ(info.num_prompts, 3u);
  EXPECT_EQ(info.default_prompt, 2u);
  EXPECT_STREQ(embert_model_prompt_name(&model, 0), "clustering");
  EXPECT_STREQ(embert_model_prompt_text(&model, 0), "");
  EXPECT_STREQ(embert_model_prompt_name(&model, 2), "query");
  EXPECT_STREQ(embert_model_prompt_text(&model, 2), "query: ");
  for (const std::uint32_t index : {std::uint32_t{3}, UINT32_MAX / 2, UINT32_MAX}) {
    EXPECT_EQ(embert_model_prompt_name(&model, index), nullptr) << index;
    EXPECT_EQ(embert_model_prompt_text(&model, index), nullptr) << index;
  }
  EXPECT_EQ(embert_model_prompt_name(nullptr, 0), nullptr);
  EXPECT_EQ(embert_model_prompt_text(nullptr, 0), nullptr);

  const std::pair<const char*, std::uint64_t> expected[] = {
      {"prompts", kPrompts.bytes.size()}, {"unknown", 70}, {"unknown", 0}};
  for (std::uint32_t i = 0; i < 3; ++i) {
    embert_section section = {.size = sizeof(section)};
    ASSERT_EQ(embert_model_section(&model, header().section_count - 3 + i, &section),
              EMBERT_STATUS_OK);
    EXPECT_STREQ(section.name, expected[i].first);
    EXPECT_EQ(section.bytes, expected[i].second);
    EXPECT_EQ(section.stack, UINT32_MAX);
    EXPECT_EQ(section.layer, UINT32_MAX);
  }
}

TEST(SectionNames, NoneIsUnknown) {
  std::vector<SyntheticModel> models;
  for (const std::uint32_t flags :
       {std::uint32_t{kStackPaddingPosition | kStackScoreBias},
        std::uint32_t{kStackEmbeddingProjection | kStackSharedLayers},
        std::uint32_t{kStackBottleneck | kStackWordProjection},
        kStackPreNorm | kStackRotary | kStackLocalAttention | kStackGatedFfn,
        std::uint32_t{kStackEmbeddings4Bit}, std::uint32_t{kStackPlanes}}) {
    models.push_back(small_model());
    models.back().flags = flags;
    if ((flags & kStackSharedLayers) != 0) models.back().shared = {{0, 0}, {0, 1}};
    models.back().bottleneck.intra_size = 20;
  }
  models.push_back(small_model());
  models.back().heads = kHeadPooler | kHeadClassifier | kHeadTokenClassifier | kHeadLm |
                        kHeadLmTransform | kHeadPooledTransform | kHeadTokenTransform |
                        kHeadLmActivation;
  for (const SyntheticModel& shape : models) {
    const AlignedBytes blob(make_synthetic_blob(shape));
    embert_model model;
    ASSERT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
              EMBERT_STATUS_OK)
        << shape.flags;
    embert_section section = {.size = sizeof(section)};
    for (std::uint32_t i = 0; embert_model_section(&model, i, &section) == EMBERT_STATUS_OK; ++i) {
      EXPECT_STRNE(section.name, "unknown") << shape.flags << ", section " << i;
    }
  }
}

TEST_F(OptionalSections, AModelMayHaveNone) {
  const AlignedBytes blob(make_synthetic_blob(model_with({})));
  embert_model model;
  ASSERT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
  embert_model_info info = {.size = sizeof(info)};
  ASSERT_EQ(embert_model_get_info(&model, &info), EMBERT_STATUS_OK);
  EXPECT_EQ(info.num_prompts, 0u);
  EXPECT_EQ(info.default_prompt, UINT32_MAX);
  EXPECT_EQ(embert_model_prompt_name(&model, 0), nullptr);
}

TEST_F(OptionalSections, AreChecked) {
  for (const std::uint32_t kind : {std::uint32_t{kSectionPrompts}, kUnknown, kUnknownAndEmpty}) {
    BlobSection& s = section(kind);
    bad_section(s.kind, 0, "kind");
    bad_section(s.kind, kSectionEnd, "kind");
    bad_section(s.kind, kFirstOptionalSection - 1, "kind");
    bad_section(s.stack, 1, "stack");
    bad_section(s.layer, 1, "layer");
    bad_section(s.offset, s.offset + 64, "offset");
    bad_section(s.offset, s.offset - 64, "offset");
    bad_section(s.offset, std::uint64_t{1} << 63, "offset");
    bad_section(s.bytes, ~std::uint64_t{0}, "bytes");
  }
  bad_section(section(kUnknown).bytes, 70 + 64, "bytes");
  bad_section(section(kUnknown).bytes, 70 - 64, "bytes");
  bad_section(section(kUnknownAndEmpty).bytes, 64, "bytes behind the blob");
  bad_section(section(kSectionPrompts).kind, kUnknown, "the same kind twice");
  bad_section(section(kSectionPrompts).kind, kUnknown + 1, "kinds that descend");
  bad_section(section(kUnknown).kind, kSectionPrompts, "prompts twice");
  const BlobSection& prompts = section(kSectionPrompts);
  bad_section(blob_.data()[prompts.offset + prompts.bytes], 1, "padding");
  const BlobSection& unknown = section(kUnknown);
  bad_section(blob_.data()[unknown.offset + unknown.bytes], 1, "padding");
  bad_section(header().section_count, header().section_count + 1, "an entry more");
  bad_section(header().section_count, header().section_count - 1, "an entry less");
}

TEST_F(OptionalSections, PromptsAreChecked) {
  BlobPrompts& prompts = *contents<BlobPrompts>(kSectionPrompts);
  bad_value(prompts.count, 0u, "count");
  bad_value(prompts.count, 2u, "count");
  bad_value(prompts.count, 4u, "count");
  bad_value(prompts.count, UINT32_MAX, "count");
  bad_value(prompts.count, (1u << 31) + 3, "count, of which the double has 32 bits");
  bad_value(prompts.default_prompt, 3u, "default_prompt");
  bad_value(prompts.default_prompt, UINT32_MAX - 1, "default_prompt");
  expect(prompts.default_prompt, UINT32_MAX, EMBERT_STATUS_OK, "default_prompt");
  char* strings = reinterpret_cast<char*>(&prompts + 1);
  bad_value(strings[0], '\0', "an empty name");
  bad_value(strings[0], 'p' + 1, "names that descend");
  bad_value(*std::find(strings, strings + 30, '\0'), 'x', "too few strings");
  bad_value(contents<char>(kSectionPrompts)[section(kSectionPrompts).bytes - 1], 'x', "no end");

  EXPECT_EQ(status_of(prompts_section(1, UINT32_MAX, "a\0b\0"s)), "EMBERT_STATUS_OK");
  EXPECT_EQ(status_of(prompts_section(2, 0, "a\0x\0\xC3\xA4\0y\0"s)), "EMBERT_STATUS_OK");
  EXPECT_EQ(status_of(prompts_section(2, 0, "a\0x\0a\0y\0"s)), "EMBERT_STATUS_BLOB_VALUE");
  EXPECT_EQ(status_of(prompts_section(2, 0, "ab\0x\0a\0y\0"s)), "EMBERT_STATUS_BLOB_VALUE");
  EXPECT_EQ(status_of(prompts_section(1, 0, "\0b\0"s)), "EMBERT_STATUS_BLOB_VALUE");
  EXPECT_EQ(status_of(prompts_section(1, 0, "")), "EMBERT_STATUS_BLOB_VALUE");
  EXPECT_EQ(status_of({kSectionPrompts, {}}), "EMBERT_STATUS_BLOB_SECTION");
  EXPECT_EQ(status_of({kSectionPrompts, std::vector<std::uint8_t>(sizeof(BlobPrompts) - 1)}),
            "EMBERT_STATUS_BLOB_SECTION");

  std::string most;
  for (std::uint32_t i = 0; i <= kMaxPrompts; ++i) {
    if (i == kMaxPrompts) {
      EXPECT_EQ(status_of(prompts_section(i, 0, most)), "EMBERT_STATUS_OK");
    }
    most += std::to_string(1000 + i) + '\0' + '\0';
  }
  EXPECT_EQ(status_of(prompts_section(kMaxPrompts + 1, 0, most)), "EMBERT_STATUS_BLOB_VALUE");
}

TEST_F(OptionalSections, NoByteBehindTheLastOne) {
  std::vector<std::uint8_t> bytes(blob_.data(), blob_.data() + blob_.size());
  bytes.resize(bytes.size() + 64);
  AlignedBytes blob(bytes);
  reinterpret_cast<BlobHeader*>(blob.data())->blob_bytes += 64;
  seal_blob(blob.data(), blob.size());
  embert_model model;
  EXPECT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_BLOB_SECTION);
}

TEST_F(OptionalSections, Version3HasNone) {
  expect(header().version, 3, EMBERT_STATUS_BLOB_HEADER, "version");
  AlignedBytes blob(make_synthetic_blob(model_with({})));
  reinterpret_cast<BlobHeader*>(blob.data())->version = 3;
  seal_blob(blob.data(), blob.size());
  embert_model model;
  EXPECT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
}

}  // namespace
}  // namespace embert::test
