// SPDX-License-Identifier: Apache-2.0
// Facts about a model and the parts of its blob, for tools that show them.
#include "runtime/model/model.hpp"
#include "runtime/model/struct_size.hpp"

namespace embert {
namespace {

/// In the order of BlobSectionKind.
constexpr const char* kSectionNames[] = {"layers",
                                         "word_embeddings",
                                         "word_multipliers",
                                         "positions",
                                         "segments",
                                         "input_norm",
                                         "hidden_rescale",
                                         "qkv",
                                         "scores",
                                         "context",
                                         "relative_positions",
                                         "relative_ratios",
                                         "attn_out",
                                         "norm_after_attn",
                                         "cross_query",
                                         "cross_key_value",
                                         "cross_scores",
                                         "cross_context",
                                         "cross_out",
                                         "norm_after_cross",
                                         "ffn_up",
                                         "ffn_down",
                                         "final_norm",
                                         "pooler",
                                         "classifier",
                                         "token_classifier",
                                         "lm_transform",
                                         "lm_norm",
                                         "lm_rows",
                                         "lm_multipliers",
                                         "lm_bias",
                                         "projection",
                                         "tokenizer",
                                         "labels",
                                         "token_labels",
                                         "certificate",
                                         "selftest"};
static_assert(sizeof(kSectionNames) / sizeof(kSectionNames[0]) == kSectionEnd - kSectionLayers,
              "every kind of section has a name");

static_assert(EMBERT_POOLING_MEAN == uint32_t{kPoolingMean} &&
              EMBERT_POOLING_CLS == uint32_t{kPoolingCls} &&
              EMBERT_POOLING_MAX == uint32_t{kPoolingMax} &&
              EMBERT_POOLING_MEAN_SQRT_LENGTH == uint32_t{kPoolingMeanSqrtLength} &&
              EMBERT_POOLING_WEIGHTED_MEAN == uint32_t{kPoolingWeightedMean} &&
              EMBERT_POOLING_LAST_TOKEN == uint32_t{kPoolingLastToken});
static_assert(EMBERT_PROBLEM_SINGLE_LABEL == uint32_t{kProblemSingleLabel} &&
              EMBERT_PROBLEM_MULTI_LABEL == uint32_t{kProblemMultiLabel} &&
              EMBERT_PROBLEM_REGRESSION == uint32_t{kProblemRegression});
static_assert(EMBERT_CLASSIFIER_SEQUENCE == uint32_t{kTaskSequence} &&
              EMBERT_CLASSIFIER_NEXT_SENTENCE == uint32_t{kTaskNextSentence} &&
              EMBERT_CLASSIFIER_MULTIPLE_CHOICE == uint32_t{kTaskMultipleChoice});
static_assert(EMBERT_TOKENS_LABELS == uint32_t{kTaskTokens} &&
              EMBERT_TOKENS_ANSWER == uint32_t{kTaskAnswer});
static_assert(kVectorPoolingCount == 6 && kProblemCount == 3 && kClassifierTaskCount == 3 &&
                  kTokenTaskCount == 2,
              "the public headers have each of the blob's values");

/// The sizes that embert_model_info and embert_stack_info both have.
template <typename Info>
void copy_sizes(const BlobStack& stack, Info* info) {
  info->hidden_size = stack.hidden_size;
  info->num_layers = stack.num_layers;
  info->num_heads = stack.num_heads;
  info->head_size = stack.head_size;
  info->intermediate_size = stack.intermediate_size;
  info->vocab_size = stack.vocab_size;
  info->max_positions = stack.max_positions;
  info->type_vocab_size = stack.type_vocab_size;
}

bool is_of_layer(uint32_t kind) {
  return kind >= kFirstLayerSection && kind < kFirstLayerSection + kSectionsPerLayer;
}
bool is_of_stack(uint32_t kind) { return kind < kFirstModelSection; }

const char* section_name(uint32_t kind) {
  if (kind < kSectionEnd) return kSectionNames[kind - kSectionLayers];
  switch (kind) {
    case kSectionPrompts:
      return "prompts";
    case kSectionPaddingPosition:
      return "padding position";
    case kSectionScoreBias:
      return "score bias";
    case kSectionEmbeddingProjection:
      return "embedding projection";
    case kSectionSharedLayers:
      return "shared layers";
    case kSectionBottleneck:
      return "bottleneck";
    case kSectionLayerBottleneck:
      return "bottleneck of a layer";
    case kSectionStackedFfn:
      return "stacked feed-forward";
    case kSectionWordProjection:
      return "word projection";
    case kSectionRotary:
      return "rotary positions";
    case kSectionLocalAttention:
      return "local attention";
    case kSectionGatedFfn:
      return "gated feed-forward";
    case kSectionStatic:
      return "static embeddings";
    case kSectionEmbeddings4Bit:
      return "4-bit word embeddings";
    case kSectionPlanes:
      return "two-plane inputs";
    case kSectionPooledTransform:
      return "pooled transform";
    case kSectionTokenTransform:
      return "token transform";
    case kSectionLmActivation:
      return "language model activation";
    case kSectionVector:
      return "vector";
    default:
      return "unknown";
  }
}

/// The string with this index, of zero-terminated strings that follow each other.
const char* string_at(const char* strings, uint32_t index) {
  for (; index > 0; ++strings) index -= *strings == '\0';
  return strings;
}

/// A prompt's name (part 0) or text (part 1).
const char* prompt_string(const embert_model* object, uint32_t prompt, uint32_t part) {
  if (object == nullptr) return nullptr;
  const Prompts prompts = model_prompts(model_of(*object));
  return prompt < prompts.count ? string_at(prompts.strings, 2 * prompt + part) : nullptr;
}

}  // namespace
}  // namespace embert

embert_status embert_model_get_info(const embert_model* object, embert_model_info* info) {
  using namespace embert;
  if (object == nullptr || info == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = check_struct(*info);
  if (status != EMBERT_STATUS_OK) return status;
  const Model model = model_of(*object);
  if (!is_open(model)) return EMBERT_STATUS_INVALID_OPTION;
  const BlobHeader& header = *model.header;
  const Stack last = model_last_stack(model);
  const BlobStack& stack = *last.config;
  embert_model_info found = {};
  found.num_stacks = header.num_stacks;
  copy_sizes(stack, &found);
  found.embedding_size = static_cast<uint32_t>(last.word_size);
  found.is_decoder = (stack.flags & kStackCausal) != 0;
  found.cross_hidden_size = stack.cross_hidden_size;
  found.max_tokens = header.max_tokens;
  found.num_labels = header.num_labels;
  found.classifier_task = header.classifier_task;
  found.problem = header.problem;
  found.num_token_labels = header.num_token_labels;
  found.token_task = header.token_task;
  const BlobVector* vector = model_vector(model);
  found.vector_size = static_cast<uint32_t>(model_vector_size(model));
  found.num_poolings = vector != nullptr ? vector->num_poolings : 1;
  found.num_vector_dense = vector != nullptr ? vector->num_dense : 0;
  found.pooling = vector != nullptr ? vector->poolings[0] : header.pooling;
  found.normalize = header.normalize;
  found.start_id = header.start_id;
  found.end_id = header.end_id;
  found.has_tokenizer = model.has_tokenizer;
  found.has_pooler = (header.task_heads & kHeadPooler) != 0;
  found.has_lm = (header.task_heads & kHeadLm) != 0;
  found.isa_mask = model.isa_mask;
  found.checksum = model.header->crc32c;
  found.certificate = reinterpret_cast<const char*>(model_section(model, kSectionCertificate));
  found.certificate_bytes = model_section_bytes(model, kSectionCertificate);
  const Prompts prompts = model_prompts(model);
  found.num_prompts = prompts.count;
  found.default_prompt = prompts.default_prompt;
  found.layout = header.layout;
  found.has_kernels = has_kernels(model) ? 1 : 0;
  write_struct(found, info);
  return EMBERT_STATUS_OK;
}

embert_status embert_model_get_stack(const embert_model* object, uint32_t index,
                                     embert_stack_info* info) {
  using namespace embert;
  if (object == nullptr || info == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = check_struct(*info);
  if (status != EMBERT_STATUS_OK) return status;
  const Model model = model_of(*object);
  if (!is_open(model) || index >= model.header->num_stacks) return EMBERT_STATUS_INVALID_OPTION;
  embert_stack_info found = {};
  copy_sizes(model.header->stacks[index], &found);
  write_struct(found, info);
  return EMBERT_STATUS_OK;
}

uint32_t embert_vector_size(const embert_model* model) {
  return model != nullptr
             ? static_cast<uint32_t>(embert::model_vector_size(embert::model_of(*model)))
             : 0;
}

uint32_t embert_model_pooling(const embert_model* object, uint32_t index) {
  using namespace embert;
  if (object == nullptr) return UINT32_MAX;
  const Model model = model_of(*object);
  const BlobVector* vector = model_vector(model);
  if (!is_open(model) || index >= (vector != nullptr ? vector->num_poolings : 1)) return UINT32_MAX;
  return vector != nullptr ? vector->poolings[index] : model.header->pooling;
}

uint32_t embert_hidden_size(const embert_model* model) {
  return model != nullptr ? embert::model_last_stack(embert::model_of(*model)).config->hidden_size
                          : 0;
}

uint32_t embert_num_labels(const embert_model* model) {
  return model != nullptr ? embert::model_of(*model).header->num_labels : 0;
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
  return string_at(reinterpret_cast<const char*>(model_section(model, kSectionLabels)), label);
}

const char* embert_model_token_label(const embert_model* object, uint32_t label) {
  using namespace embert;
  if (object == nullptr) return nullptr;
  const Model model = model_of(*object);
  if (label >= model.header->num_token_labels) return nullptr;
  return string_at(reinterpret_cast<const char*>(model_section(model, kSectionTokenLabels)), label);
}

const char* embert_model_prompt_name(const embert_model* model, uint32_t prompt) {
  return embert::prompt_string(model, prompt, 0);
}

const char* embert_model_prompt_text(const embert_model* model, uint32_t prompt) {
  return embert::prompt_string(model, prompt, 1);
}

embert_status embert_model_section(const embert_model* model, uint32_t index,
                                   embert_section* section) {
  if (model == nullptr || section == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = embert::check_struct(*section);
  if (status != EMBERT_STATUS_OK) return status;
  const embert::Model opened = embert::model_of(*model);
  if (index >= opened.header->section_count) return EMBERT_STATUS_INVALID_OPTION;
  const embert::BlobSection& entry = opened.sections[index];
  embert_section found = {};
  found.name = embert::section_name(entry.kind);
  found.stack = embert::is_of_stack(entry.kind) ? entry.stack : UINT32_MAX;
  found.layer = embert::is_of_layer(entry.kind) ? entry.layer : UINT32_MAX;
  found.offset = entry.offset;
  found.bytes = entry.bytes;
  embert::write_struct(found, section);
  return EMBERT_STATUS_OK;
}

embert_status embert_model_get_tokenizer(const embert_model* model, embert_tokenizer_info* info) {
  if (model == nullptr || info == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = embert::check_struct(*info);
  if (status != EMBERT_STATUS_OK) return status;
  const embert::Model opened = embert::model_of(*model);
  if (!opened.has_tokenizer) return EMBERT_STATUS_NO_TOKENIZER;
  const embert::TokenizerHeader& header = *opened.tokenizer.header;
  embert_tokenizer_info found = {};
  found.token_count = header.token_count;
  found.added_token_count = header.added_count;
  found.lowercase = (header.flags & embert::kTokenizerLowercase) != 0;
  found.strip_accents = (header.flags & embert::kTokenizerStripAccents) != 0;
  found.split_cjk = (header.flags & embert::kTokenizerSplitCjk) != 0;
  found.clean_text = (header.flags & embert::kTokenizerCleanText) != 0;
  found.max_word_chars = header.max_word_chars;
  found.unk_id = header.unk_id;
  found.cls_id = header.cls_id;
  found.sep_id = header.sep_id;
  found.pad_id = header.pad_id;
  found.mask_id = header.mask_id;
  found.type = header.model;
  embert::write_struct(found, info);
  return EMBERT_STATUS_OK;
}
