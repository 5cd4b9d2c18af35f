// SPDX-License-Identifier: Apache-2.0
// What a blob consists of, for tools that show it.
#include "runtime/model.hpp"

namespace embert {
namespace {

const char* section_name(uint32_t kind) {
  switch (kind) {
    case kSectionLayers:
      return "layers";
    case kSectionWordEmbeddings:
      return "word_embeddings";
    case kSectionWordMultipliers:
      return "word_multipliers";
    case kSectionPositions:
      return "positions";
    case kSectionSegments:
      return "segments";
    case kSectionInputNormGain:
      return "input_norm_gain";
    case kSectionInputNormBias:
      return "input_norm_bias";
    case kSectionQkvWeights:
      return "qkv_weights";
    case kSectionQkvBias:
      return "qkv_bias";
    case kSectionQkvSums:
      return "qkv_sums";
    case kSectionQkvMultipliers:
      return "qkv_multipliers";
    case kSectionScoreMultipliers:
      return "score_multipliers";
    case kSectionDistanceCaps:
      return "distance_caps";
    case kSectionContextMultipliers:
      return "context_multipliers";
    case kSectionOutputWeights:
      return "output_weights";
    case kSectionOutputSums:
      return "output_sums";
    case kSectionOutputMultipliers:
      return "output_multipliers";
    case kSectionOutputResidual:
      return "output_residual";
    case kSectionOutputConstants:
      return "output_constants";
    case kSectionAttentionNormGain:
      return "attention_norm_gain";
    case kSectionAttentionNormBias:
      return "attention_norm_bias";
    case kSectionFfn1Weights:
      return "ffn1_weights";
    case kSectionFfn1Bias:
      return "ffn1_bias";
    case kSectionFfn1Sums:
      return "ffn1_sums";
    case kSectionFfn1Multipliers:
      return "ffn1_multipliers";
    case kSectionFfn2Weights:
      return "ffn2_weights";
    case kSectionFfn2Sums:
      return "ffn2_sums";
    case kSectionFfn2Multipliers:
      return "ffn2_multipliers";
    case kSectionFfn2Residual:
      return "ffn2_residual";
    case kSectionFfn2Constants:
      return "ffn2_constants";
    case kSectionOutputNormGain:
      return "output_norm_gain";
    case kSectionOutputNormBias:
      return "output_norm_bias";
    case kSectionPoolerWeights:
      return "pooler_weights";
    case kSectionPoolerBias:
      return "pooler_bias";
    case kSectionPoolerSums:
      return "pooler_sums";
    case kSectionPoolerMultipliers:
      return "pooler_multipliers";
    case kSectionClassifierWeights:
      return "classifier_weights";
    case kSectionClassifierBias:
      return "classifier_bias";
    case kSectionClassifierSums:
      return "classifier_sums";
    case kSectionClassifierMultipliers:
      return "classifier_multipliers";
    case kSectionTokenizer:
      return "tokenizer";
    case kSectionLabels:
      return "labels";
    case kSectionCertificate:
      return "certificate";
    default:
      return "unknown";
  }
}

bool is_of_layer(uint32_t kind) {
  return kind >= kFirstLayerSection && kind < kFirstLayerSection + kSectionsPerLayer;
}

}  // namespace
}  // namespace embert

embert_status embert_model_section(const embert_model* model, uint32_t index,
                                   embert_section* section) {
  if (model == nullptr || section == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert::Model& opened = embert::model_of(*model);
  if (index >= opened.header->section_count) return EMBERT_STATUS_INVALID_OPTION;
  const embert::BlobSection& entry = opened.sections[index];
  section->name = embert::section_name(entry.kind);
  section->layer = embert::is_of_layer(entry.kind) ? entry.layer : UINT32_MAX;
  section->offset = entry.offset;
  section->bytes = entry.bytes;
  return EMBERT_STATUS_OK;
}

embert_status embert_model_get_tokenizer(const embert_model* model, embert_tokenizer_info* info) {
  if (model == nullptr || info == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert::Model& opened = embert::model_of(*model);
  if (!opened.has_tokenizer) return EMBERT_STATUS_NO_TOKENIZER;
  const embert::TokenizerHeader& header = *opened.tokenizer.header;
  info->token_count = header.token_count;
  info->added_token_count = header.added_count;
  info->lowercase = (header.flags & embert::kTokenizerLowercase) != 0;
  info->strip_accents = (header.flags & embert::kTokenizerStripAccents) != 0;
  info->split_cjk = (header.flags & embert::kTokenizerSplitCjk) != 0;
  info->clean_text = (header.flags & embert::kTokenizerCleanText) != 0;
  info->max_word_chars = header.max_word_chars;
  info->unk_id = header.unk_id;
  info->cls_id = header.cls_id;
  info->sep_id = header.sep_id;
  info->pad_id = header.pad_id;
  info->mask_id = header.mask_id;
  return EMBERT_STATUS_OK;
}
