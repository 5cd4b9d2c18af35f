// SPDX-License-Identifier: Apache-2.0
// What a blob consists of, for tools that show it.
#include "runtime/model/model.hpp"

namespace embert {
namespace {

/// In the order of BlobSectionKind.
constexpr const char* kSectionNames[] = {
    "layers",       "word_embeddings",  "word_multipliers", "positions",
    "segments",     "input_norm",       "hidden_rescale",   "qkv",
    "scores",       "context",          "distances",        "distance_ratios",
    "output",       "attention_norm",   "cross_query",      "cross_key_value",
    "cross_scores", "cross_context",    "cross_output",     "cross_norm",
    "ffn_up",       "ffn_down",         "output_norm",      "pooler",
    "classifier",   "token_classifier", "lm_transform",     "lm_norm",
    "lm_rows",      "lm_multipliers",   "lm_bias",          "projection",
    "tokenizer",    "labels",           "token_labels",     "certificate",
    "selftest"};
static_assert(sizeof(kSectionNames) / sizeof(kSectionNames[0]) == kSectionEnd - kSectionLayers,
              "every kind of section has a name");

bool is_of_layer(uint32_t kind) {
  return kind >= kFirstLayerSection && kind < kFirstLayerSection + kSectionsPerLayer;
}
bool is_of_stack(uint32_t kind) { return kind < kFirstModelSection; }

const char* name_at(const char* names, uint32_t index) {
  for (; index > 0; ++names) index -= *names == '\0';
  return names;
}

}  // namespace
}  // namespace embert

embert_status embert_model_get_info(const embert_model* object, embert_model_info* info) {
  using namespace embert;
  if (object == nullptr || info == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const Model model = model_of(*object);
  const BlobHeader& header = *model.header;
  const BlobStack& stack = *model_last_stack(model).config;
  *info = {};
  info->num_stacks = header.num_stacks;
  info->hidden_size = stack.hidden_size;
  info->num_layers = stack.num_layers;
  info->num_heads = stack.num_heads;
  info->head_size = stack.head_size;
  info->intermediate_size = stack.intermediate_size;
  info->vocab_size = stack.vocab_size;
  info->max_positions = stack.max_positions;
  info->type_vocab_size = stack.type_vocab_size;
  info->is_decoder = (stack.flags & kStackCausal) != 0;
  info->cross_hidden_size = stack.cross_hidden_size;
  info->max_tokens = header.max_tokens;
  info->num_labels = header.num_labels;
  info->classifier_task = header.classifier_task;
  info->problem = header.problem;
  info->num_token_labels = header.num_token_labels;
  info->token_task = header.token_task;
  info->pooling = header.pooling;
  info->normalize = header.normalize;
  info->start_id = header.start_id;
  info->end_id = header.end_id;
  info->has_tokenizer = model.has_tokenizer;
  info->has_pooler = (header.task_heads & kHeadPooler) != 0;
  info->has_lm = (header.task_heads & kHeadLm) != 0;
  info->isa_mask = model.isa_mask;
  info->checksum = model.header->crc32c;
  info->certificate = reinterpret_cast<const char*>(model_section(model, kSectionCertificate));
  info->certificate_bytes = model_section_bytes(model, kSectionCertificate);
  return EMBERT_STATUS_OK;
}

embert_status embert_model_get_stack(const embert_model* object, uint32_t index,
                                     embert_stack_info* info) {
  using namespace embert;
  if (object == nullptr || info == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const Model model = model_of(*object);
  if (index >= model.header->num_stacks) return EMBERT_STATUS_INVALID_OPTION;
  const BlobStack& stack = model.header->stacks[index];
  *info = {stack.hidden_size,       stack.num_layers, stack.num_heads,     stack.head_size,
           stack.intermediate_size, stack.vocab_size, stack.max_positions, stack.type_vocab_size};
  return EMBERT_STATUS_OK;
}

uint32_t embert_model_layer_heads(const embert_model* object, uint32_t stack, uint32_t layer) {
  using namespace embert;
  if (object == nullptr) return 0;
  const Model model = model_of(*object);
  if (stack >= model.header->num_stacks || layer >= model.header->stacks[stack].num_layers) {
    return 0;
  }
  return static_cast<uint32_t>(model_layer(model, model_stack(model, stack), layer).num_heads);
}

const char* embert_model_label(const embert_model* object, uint32_t label) {
  using namespace embert;
  if (object == nullptr) return nullptr;
  const Model model = model_of(*object);
  if (label >= model.header->num_labels) return nullptr;
  return name_at(reinterpret_cast<const char*>(model_section(model, kSectionLabels)), label);
}

const char* embert_model_token_label(const embert_model* object, uint32_t label) {
  using namespace embert;
  if (object == nullptr) return nullptr;
  const Model model = model_of(*object);
  if (label >= model.header->num_token_labels) return nullptr;
  return name_at(reinterpret_cast<const char*>(model_section(model, kSectionTokenLabels)), label);
}

embert_status embert_model_section(const embert_model* model, uint32_t index,
                                   embert_section* section) {
  if (model == nullptr || section == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert::Model opened = embert::model_of(*model);
  if (index >= opened.header->section_count) return EMBERT_STATUS_INVALID_OPTION;
  const embert::BlobSection& entry = opened.sections[index];
  section->name = embert::kSectionNames[entry.kind - embert::kSectionLayers];
  section->stack = embert::is_of_stack(entry.kind) ? entry.stack : UINT32_MAX;
  section->layer = embert::is_of_layer(entry.kind) ? entry.layer : UINT32_MAX;
  section->offset = entry.offset;
  section->bytes = entry.bytes;
  return EMBERT_STATUS_OK;
}

embert_status embert_model_get_tokenizer(const embert_model* model, embert_tokenizer_info* info) {
  if (model == nullptr || info == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert::Model opened = embert::model_of(*model);
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
