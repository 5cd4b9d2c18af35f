// SPDX-License-Identifier: Apache-2.0
// Finds out which stacks a model has: one, an encoder and a decoder with a config each, or an
// encoder and a decoder that share one config.
#include "converter/import/config/read_config.hpp"

#include <cstdint>

#include "converter/import/config/read_head_config.hpp"
#include "converter/import/config/read_stack_config.hpp"
#include "converter/import/config/stack_options.hpp"
#include "converter/import/families/families.hpp"
#include "converter/import/json_file.hpp"

namespace embert::convert {
namespace {

constexpr const char* kFile = "config.json";
constexpr const char* kGenerationFile = "generation_config.json";

// The family of a config. Without a model_type it is BERT.
const Family& read_family(const JsonFields& config, std::vector<std::string>& warnings) {
  const std::string type = config.get_string("model_type", "");
  if (type.empty()) {
    warnings.push_back(config.file() + ": no \"model_type\"; read as bert");
    return kBert;
  }
  const Family* family = find_family(type);
  if (family == nullptr) refuse_model_type(config.file(), type);
  return *family;
}

// Code of the model's own may compute anything. What is known to be no plain encoder is refused.
void check_code(const JsonFields& config, std::vector<std::string>& warnings) {
  const Json* code = config.find("auto_map");
  if (code == nullptr) return;
  const std::string text = code->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.find("jina") != std::string::npos) {
    throw ConvertError(config.file() +
                       ": auto_map names the code of Jina's models, whose attention has linear "
                       "biases (ALiBi) or adapters; embert does not compute these");
  }
  warnings.push_back(config.file() +
                     ": auto_map names code of the model's own; converted as a plain " +
                     config.get_string("model_type", "bert"));
}

void read_one_stack(const JsonFields& config, const Family& family, ModelConfig& out,
                    std::vector<std::string>& warnings) {
  out.stacks.push_back(read_stack_config(config, family, warnings));
  read_head_config(config, family, out, warnings);
  out.tied_output = config.get_bool("tie_word_embeddings", true);
}

// An encoder and a decoder that share one config except for the decoder's vocabulary.
void read_plain_pair(const JsonFields& config, ModelConfig& out,
                     std::vector<std::string>& warnings) {
  if (const auto names = read_architectures(config); !names.empty()) {
    refuse_option(
        config.file(),
        "model_type \"bert\" with is_encoder_decoder true and architecture " + printable(names[0]),
        "the config of an EncoderDecoderModel has model_type \"encoder-decoder\"");
  }
  const StackConfig encoder = read_stack_config(config, kBert, warnings);
  if (encoder.is_decoder) {
    refuse_option(config.file(), "is_decoder true with is_encoder_decoder true",
                  "the decoder of a pair needs no is_decoder");
  }
  StackConfig decoder = encoder;
  decoder.vocab_size =
      static_cast<int>(config.get_int("decoder_vocab_size", 1, kMaxVocabSize, encoder.vocab_size));
  decoder.is_decoder = decoder.cross_attention = true;
  decoder.cross_hidden_size = encoder.hidden_size;
  out.stacks = {encoder, decoder};
  out.language_head = LanguageHeadKind::kLinear;
  out.tied_output = false;
}

// Reads an id if the config names it.
void read_id(const JsonFields& config, const char* key, int vocab_size, int& id) {
  id = static_cast<int>(config.get_int(key, -1, vocab_size - 1, id));
}

// The ids with which generation starts and ends. Encoders' configs name them, too, often those of
// another vocabulary. A list of end ids is refused: generation ends with one.
void read_generation_ids(const JsonFields& config, ModelConfig& out) {
  const int vocab_size = out.last().vocab_size;
  if (!out.last().is_decoder) return;
  read_id(config, "eos_token_id", vocab_size, out.eos_token_id);
  read_id(config, "bos_token_id", vocab_size, out.decoder_start_token_id);
  read_id(config, "decoder_start_token_id", vocab_size, out.decoder_start_token_id);
}

void read_special_ids(const JsonFields& config, ModelConfig& out) {
  read_id(config, "pad_token_id", out.first().vocab_size, out.pad_token_id);
  read_generation_ids(config, out);
}

// transformers also keeps the ids with which generation starts and ends in a file of their own.
// Its ids replace those of config.json.
void read_generation_config(const std::filesystem::path& folder, ModelConfig& out) {
  const std::filesystem::path path = folder / kGenerationFile;
  if (!out.last().is_decoder || !file_exists(path)) return;
  const Json document = read_json_file(path, kGenerationFile);
  read_generation_ids(JsonFields(document, kGenerationFile), out);
}

// transformers' EncoderDecoderModel: config.json contains a config for each stack.
void read_nested_pair(const JsonFields& config, ModelConfig& out,
                      std::vector<std::string>& warnings) {
  const auto nested = [&](const char* key) {
    const Json* fields = config.find(key);
    if (fields == nullptr) throw ConvertError(config.file() + ": \"" + key + "\" is missing");
    return JsonFields(*fields, config.file() + ": " + key);
  };
  const JsonFields encoder = nested("encoder"), decoder = nested("decoder");
  for (const JsonFields* stack : {&encoder, &decoder}) {
    if (const std::string type = stack->get_string("model_type", "bert"); type != "bert") {
      throw ConvertError(stack->file() + ": model_type \"" + printable(type) +
                         "\" is not supported in a pair; embert reads pairs of two bert");
    }
    out.stacks.push_back(read_stack_config(*stack, kBert, warnings));
  }
  if (out.first().is_decoder) {
    refuse_option(encoder.file(), "is_decoder true", "the encoder of a pair is not causal");
  }
  if (!out.last().cross_attention) {
    refuse_option(decoder.file(), "add_cross_attention false",
                  "the decoder of a pair reads its encoder");
  }
  for (const JsonFields* fields : {&config, &encoder, &decoder}) {
    if (fields->get_bool("tie_encoder_decoder", false)) {
      refuse_option(fields->file(), "tie_encoder_decoder true",
                    "embert reads pairs with weights of their own");
    }
  }
  out.language_head = LanguageHeadKind::kBert;
  out.tied_output = decoder.get_bool("tie_word_embeddings", true);
  read_special_ids(decoder, out);  // defaults; read_config() then reads those of the pair itself
}

}  // namespace

ModelConfig read_config(const std::filesystem::path& folder, std::vector<std::string>& warnings) {
  const Json document = read_json_file(folder / kFile, kFile);
  const JsonFields config(document, kFile);
  check_code(config, warnings);
  ModelConfig out;
  if (config.get_string("model_type", "") == "encoder-decoder") {
    read_nested_pair(config, out, warnings);
  } else {
    const Family& family = read_family(config, warnings);
    out.model_type = family.model_types.front();
    if (&family == &kBert && config.get_bool("is_encoder_decoder", false)) {
      read_plain_pair(config, out, warnings);
    } else {
      read_one_stack(config, family, out, warnings);
    }
  }
  read_special_ids(config, out);
  read_generation_config(folder, out);
  return out;
}

}  // namespace embert::convert
