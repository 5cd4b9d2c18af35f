// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/model/inspection.hpp"

#include <iterator>

#include "embert/embert_inspect.h"
#include "targets/hosted/model/model_tasks.hpp"

namespace embert::hosted {
namespace {

constexpr const char* kPoolingNames[] = {"mean",         "cls",      "max", "mean_sqrt_len_tokens",
                                         "weightedmean", "lasttoken"};
constexpr const char* kProblemNames[] = {"single_label", "multi_label", "regression"};

Json id_or_null(uint32_t id) { return id == UINT32_MAX ? Json() : Json(id); }

/// "mean", or "cls+mean" where a vector has several poolings side by side.
std::string pooling_names(const ModelFile& file) {
  std::string names;
  for (uint32_t i = 0; i < file.info().num_poolings; ++i) {
    const uint32_t pooling = embert_model_pooling(file.model(), i);
    names += i > 0 ? "+" : "";
    names += pooling < std::size(kPoolingNames) ? kPoolingNames[pooling] : "unknown";
  }
  return names;
}

Json header_of(const ModelFile& file) {
  const embert_model_info& info = file.info();
  return {{"layout", file.for_i8mm() ? "n8k16" : "n16k4"},
          {"stacks", info.num_stacks},
          {"decoder", info.is_decoder != 0},
          {"cross_hidden_size", info.cross_hidden_size},
          {"hidden_size", info.hidden_size},
          {"embedding_size", info.embedding_size},
          {"layers", info.num_layers},
          {"heads", info.num_heads},
          {"head_size", info.head_size},
          {"intermediate_size", info.intermediate_size},
          {"vocab_size", info.vocab_size},
          {"max_positions", info.max_positions},
          {"type_vocab_size", info.type_vocab_size},
          {"max_tokens", info.max_tokens},
          {"pooling", pooling_names(file)},
          {"vector_size", info.vector_size},
          {"vector_dense_layers", info.num_vector_dense},
          {"normalize", info.normalize != 0},
          {"pooler", info.has_pooler != 0},
          {"language_model", info.has_lm != 0},
          {"start_id", id_or_null(info.start_id)},
          {"end_id", id_or_null(info.end_id)},
          {"token_labels", info.num_token_labels},
          {"labels", info.num_labels},
          {"problem", info.num_labels == 0 ? Json()
                      : info.problem < 3   ? Json(kProblemNames[info.problem])
                                           : Json("unknown")}};
}

Json tensors_of(const ModelFile& file) {
  Json tensors = Json::array();
  embert_section section = {.size = sizeof(section)};
  for (uint32_t i = 0; embert_model_section(file.model(), i, &section) == EMBERT_STATUS_OK; ++i) {
    if (section.bytes == 0) continue;
    Json tensor = {{"name", section.name}};
    if (section.stack != UINT32_MAX && file.info().num_stacks > 1) tensor["stack"] = section.stack;
    if (section.layer != UINT32_MAX) tensor["layer"] = section.layer;
    tensor["offset"] = section.offset;
    tensor["bytes"] = section.bytes;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Json tokenizer_of(const ModelFile& file) {
  embert_tokenizer_info info = {.size = sizeof(info)};
  if (embert_model_get_tokenizer(file.model(), &info) != EMBERT_STATUS_OK) return Json();
  constexpr const char* kTypes[] = {"wordpiece", "unigram", "bpe"};
  Json tokenizer = {{"type", kTypes[info.type]},
                    {"tokens", info.token_count},
                    {"added_tokens", info.added_token_count}};
  if (info.type == EMBERT_TOKENIZER_WORDPIECE) {
    tokenizer["lowercase"] = info.lowercase != 0;
    tokenizer["strip_accents"] = info.strip_accents != 0;
    tokenizer["split_cjk"] = info.split_cjk != 0;
    tokenizer["clean_text"] = info.clean_text != 0;
    tokenizer["max_word_chars"] = info.max_word_chars;
  }
  tokenizer["unk_id"] = id_or_null(info.unk_id);
  tokenizer["cls_id"] = id_or_null(info.cls_id);
  tokenizer["sep_id"] = id_or_null(info.sep_id);
  tokenizer["pad_id"] = id_or_null(info.pad_id);
  tokenizer["mask_id"] = id_or_null(info.mask_id);
  return tokenizer;
}

Json arena_bytes_of(const ModelFile& file) {
  Json sizes = Json::object();
  for (const auto& [length, bytes] : arena_sizes(*file.model())) {
    sizes[std::to_string(length)] = bytes;
  }
  return sizes;
}

Json labels_of(const ModelFile& file) {
  Json labels = Json::array();
  for (uint32_t i = 0; i < file.info().num_labels; ++i) {
    labels.push_back(embert_model_label(file.model(), i));
  }
  return labels;
}

Json token_labels_of(const ModelFile& file) {
  Json labels = Json::array();
  for (uint32_t i = 0; i < file.info().num_token_labels; ++i) {
    labels.push_back(embert_model_token_label(file.model(), i));
  }
  return labels;
}

Json prompts_of(const ModelFile& file) {
  Json prompts = Json::object();
  for (uint32_t i = 0; i < file.info().num_prompts; ++i) {
    prompts[embert_model_prompt_name(file.model(), i)] = embert_model_prompt_text(file.model(), i);
  }
  return prompts;
}

Json default_prompt_of(const ModelFile& file) {
  const char* name = embert_model_prompt_name(file.model(), file.info().default_prompt);
  return name == nullptr ? Json() : Json(name);
}

}  // namespace

Json stored_certificate(const ModelFile& file) {
  const embert_model_info& info = file.info();
  if (info.certificate_bytes == 0) return Json();
  const std::string text(info.certificate, info.certificate_bytes);
  Json parsed = parse_json(text);
  return parsed.is_discarded() ? Json(text) : parsed;
}

Json inspect_model(const ModelFile& file) {
  return {{"file", file.path()},
          {"blob_bytes", file.bytes()},
          {"arena_bytes", arena_bytes_of(file)},
          {"header", header_of(file)},
          {"tokenizer", tokenizer_of(file)},
          {"tasks", task_names(file.info())},
          {"labels", labels_of(file)},
          {"token_labels", token_labels_of(file)},
          {"prompts", prompts_of(file)},
          {"default_prompt_name", default_prompt_of(file)},
          {"certificate", stored_certificate(file)},
          {"tensors", tensors_of(file)}};
}

}  // namespace embert::hosted
