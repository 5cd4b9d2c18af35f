// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/convert/convert_summary.hpp"

#include <cstring>
#include <memory>
#include <new>

#include "converter/convert.hpp"
#include "targets/cli/convert/machine_info.hpp"
#include "targets/hosted/model/model_file.hpp"

namespace embert::cli {
namespace {

// Lower quality, or fewer calibration texts, cause a warning.
constexpr double kGoodCosine = 0.99, kGoodAgreement = 0.9;
constexpr size_t kFewTexts = 32;

constexpr std::align_val_t kBlobAlignment{64};

struct AlignedDelete {
  void operator()(void* memory) const { ::operator delete(memory, kBlobAlignment); }
};

bool has_cross(const convert::LayerErrors& layer) {
  return layer.cross_query + layer.cross_key_value + layer.cross_out > 0;
}

Json layers_of(const convert::ConvertResult& result) {
  Json layers = Json::array();
  for (const convert::LayerErrors& layer : result.layers) {
    Json errors = {{"qkv", layer.qkv}, {"output", layer.attn_out}};
    if (has_cross(layer)) {
      errors["cross_query"] = layer.cross_query;
      errors["cross_key_value"] = layer.cross_key_value;
      errors["cross_output"] = layer.cross_out;
    }
    // The report's keys stay as version 0.1 had them: scripts read them.
    errors["ffn1"] = layer.ffn_up;
    errors["ffn2"] = layer.ffn_down;
    errors["copied_channels"] = layer.copies;
    layers.push_back(std::move(errors));
  }
  return layers;
}

Json new_certificate(const convert::ConvertResult& result) {
  return result.certificate.empty() ? Json() : Json::parse(result.certificate);
}

std::string prompt_names(const convert::PromptConfig& prompts) {
  std::string line = "prompts";
  for (const auto& [name, text] : prompts.texts) {
    line += (line == "prompts" ? " " : ", ") + one_line(name);
  }
  return line + (prompts.default_name ? "; default " + one_line(*prompts.default_name)
                                      : "; none is the default");
}

}  // namespace

std::map<uint32_t, size_t> arena_sizes_of_blob(const std::vector<uint8_t>& blob) {
  const std::unique_ptr<void, AlignedDelete> copy(::operator new(blob.size(), kBlobAlignment));
  std::memcpy(copy.get(), blob.data(), blob.size());
  embert_model model = {};
  check(embert_model_open(copy.get(), blob.size(), EMBERT_ISA_SCALAR, &model),
        "the new model is refused: embert_model_open");
  return arena_sizes(model);
}

std::vector<std::string> quality_warnings(const convert::ConvertResult& result) {
  std::vector<std::string> warnings;
  const Json certificate = new_certificate(result);
  if (certificate.contains("held_out")) {
    const Json& held_out = certificate["held_out"];
    const double cosine = held_out.value("cosine_mean", 1.0);
    const double agreement = held_out.value("agreement", 1.0);
    if (!(cosine >= kGoodCosine && agreement >= kGoodAgreement)) {
      std::string found = "cosine mean " + fixed(cosine, 4);
      if (held_out.contains("agreement")) found += ", same answer " + fixed(agreement, 4);
      warnings.push_back("the int8 model is far from float32 (" + found +
                         "): calibrate on texts like yours (--calibration, --calibration-ids)");
    }
  }
  if (result.calibration_texts < kFewTexts) {
    warnings.push_back("calibrated on " + std::to_string(result.calibration_texts) +
                       " texts only: give " + std::to_string(kFewTexts) + " or more");
  }
  return warnings;
}

Json convert_report(const convert::ConvertResult& result, const std::string& rounding,
                    double seconds) {
  Json arena = Json::object();
  for (const auto& [length, bytes] : arena_sizes_of_blob(result.blob)) {
    arena[std::to_string(length)] = bytes;
  }
  Json report = {{"blob_bytes", result.blob.size()},
                 {"bytes",
                  {{"encoder_weights", result.sizes.encoder_weights},
                   {"embeddings", result.sizes.embeddings},
                   {"vocabulary", result.sizes.vocabulary},
                   {"tables", result.sizes.tables}}},
                 {"arena_bytes", std::move(arena)},
                 {"max_tokens", result.max_tokens},
                 {"rounding", rounding},
                 {"calibration",
                  {{"source", convert::calibration_source_name(result.source)},
                   {"texts", result.calibration_texts},
                   {"tokens", result.calibration_tokens}}},
                 {"layer_errors", layers_of(result)}};
  for (const convert::Dense16Error& head : result.heads) report[head.name + "_error"] = head.error;
  report["prompts"] = result.prompts.texts;
  report["default_prompt_name"] =
      result.prompts.default_name ? Json(*result.prompts.default_name) : Json();
  report["certificate"] = new_certificate(result);
  report["warnings"] = result.warnings;
  report["seconds"] = seconds;
  report["machine"] = machine_info();
  return report;
}

void write_summary(const convert::ConvertResult& result, const std::string& output_path,
                   double seconds) {
  const std::string target = output_path.empty() ? "dry run, nothing written" : output_path;
  output().line(one_line(target) + ": " + grouped(result.blob.size()) + " bytes, " +
                fixed(seconds, 1) + " s");
  output().line("  encoder weights " + grouped(result.sizes.encoder_weights) + ", embeddings " +
                grouped(result.sizes.embeddings) + ", vocabulary " +
                grouped(result.sizes.vocabulary) + ", tables " + grouped(result.sizes.tables));
  std::string arena = "  arena";
  for (const auto& [length, bytes] : arena_sizes_of_blob(result.blob)) {
    arena += (arena.back() == 'a' ? " " : ", ") + grouped(bytes) + " at " + std::to_string(length);
  }
  output().line(arena + " tokens");
  output().line("  calibrated on " + std::to_string(result.calibration_texts) + " texts, " +
                grouped(result.calibration_tokens) + " tokens (" +
                convert::calibration_source_name(result.source) + ")");
  if (!result.prompts.texts.empty()) output().line("  " + prompt_names(result.prompts));
  output().line("  rounding error of the layers, percent: qkv, output, ffn_up, ffn_down");
  for (size_t i = 0; i < result.layers.size(); ++i) {
    const convert::LayerErrors& layer = result.layers[i];
    std::string line = "    " + std::to_string(i) + ": " + fixed(100 * layer.qkv, 2) + ", " +
                       fixed(100 * layer.attn_out, 2) + ", " + fixed(100 * layer.ffn_up, 2) + ", " +
                       fixed(100 * layer.ffn_down, 2);
    if (has_cross(layer)) {
      line += "; cross query " + fixed(100 * layer.cross_query, 2) + ", key and value " +
              fixed(100 * layer.cross_key_value, 2) + ", output " + fixed(100 * layer.cross_out, 2);
    }
    output().line(line);
  }
  const Json certificate = new_certificate(result);
  if (certificate.contains("held_out")) {
    const Json& held_out = certificate["held_out"];
    std::string line = "  against float32 on " + held_out["texts"].dump() + " other texts, " +
                       held_out["compared"].get<std::string>() + ": cosine mean " +
                       held_out["cosine_mean"].dump() + ", worst " + held_out["cosine_min"].dump();
    if (held_out.contains("agreement")) {
      line += ", same answer " + held_out["agreement"].dump() + ", largest logit error " +
              held_out["logit_error_max"].dump();
    }
    output().line(line);
  } else if (certificate.contains("not_compared")) {
    output().line("  not compared with float32: " + certificate["not_compared"].get<std::string>());
  }
}

}  // namespace embert::cli
