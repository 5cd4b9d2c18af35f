// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/convert_report.hpp"

#include "converter/convert.hpp"
#include "targets/hosted/convert/machine_info.hpp"
#include "targets/hosted/model/model_file.hpp"
#include "targets/hosted/model/sha256.hpp"

namespace embert::hosted {
namespace {

// Lower quality, or fewer calibration texts, cause a warning.
constexpr double kGoodCosine = 0.99, kGoodAgreement = 0.9;
constexpr size_t kFewTexts = 32;

Json layers_of(const convert::ConvertResult& result) {
  Json layers = Json::array();
  for (const convert::LayerErrors& layer : result.layers) {
    Json errors = {{"qkv", layer.qkv}, {"output", layer.attn_out}};
    if (has_cross_attention(layer)) {
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

Json ranges_of(const convert::ConvertResult& result) {
  Json layers = Json::array();
  for (const std::vector<convert::InputRange>& inputs : result.ranges) {
    Json layer = Json::object();
    for (const convert::InputRange& range : inputs) {
      Json outliers = Json::array();
      for (const convert::OutlierChannel& one : range.outliers) {
        outliers.push_back({{"channel", one.channel}, {"reach", one.reach}});
      }
      layer[range.input] = {{"reach", range.reach},
                            {"median_reach", range.median_reach},
                            {"channels", range.channels},
                            {"outlier_channels", std::move(outliers)}};
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

/// Of each layer the rows of its inputs that keep 16 bits, and the inputs that are copied.
Json precision_of(const convert::PrecisionReport& report) {
  const char* const names[] = {"none", "first", "all"};
  Json layers = Json::array(), copied = Json::array();
  for (const convert::LayerPrecision& layer : report.layers) {
    const BlobPlanes& planes = layer.planes;
    layers.push_back(
        {{"qkv", names[planes.qkv]},
         {"output", names[planes.attn_out]},
         {"ffn_up", names[planes.ffn_up]},
         {"ffn_down", names[planes.ffn_down]},
         {"scores", names[planes.probabilities == kPlanesScores ? kPlanesAll : kPlanesNone]},
         {"probabilities", names[planes.probabilities == kPlanesNone ? kPlanesNone : kPlanesAll]}});
    copied.push_back(planes.copied_inputs);
  }
  Json json = {{"level", convert::precision_name(report.precision)},
               {"more_multiply_adds", report.cost},
               {"inputs_of_16_bits", std::move(layers)},
               {"copied_inputs", std::move(copied)}};
  if (report.layers.empty()) return json;  // nothing was measured
  Json errors = Json::array();             // a null that becomes one crashes without memory
  for (const convert::LayerPrecision& layer : report.layers) {
    errors.push_back({{"first", layer.first},
                      {"qkv", layer.qkv},
                      {"output", layer.attn_out},
                      {"ffn_up", layer.ffn_up},
                      {"ffn_down", layer.ffn_down},
                      {"probabilities", layer.probabilities}});
  }
  json["error_of_8_bits"] = std::move(errors);
  return json;
}

}  // namespace

Json new_certificate(const convert::ConvertResult& result) {
  return result.certificate.empty() ? Json() : Json::parse(result.certificate);
}

bool has_cross_attention(const convert::LayerErrors& layer) {
  return layer.cross_query + layer.cross_key_value + layer.cross_out > 0;
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
  const ModelFile file("the new model", result.blob, EMBERT_ISA_SCALAR);
  Json arena = Json::object();
  for (const auto& [length, bytes] : arena_sizes(*file.model())) {
    arena[std::to_string(length)] = bytes;
  }
  Json report = {{"blob_bytes", result.blob.size()},
                 {"sha256", sha256(result.blob)},
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
  report["input_ranges"] = ranges_of(result);
  report["precision"] = precision_of(result.precision);
  report["prompts"] = result.prompts.texts;
  report["default_prompt_name"] =
      result.prompts.default_name ? Json(*result.prompts.default_name) : Json();
  report["certificate"] = new_certificate(result);
  report["warnings"] = result.warnings;
  report["seconds"] = seconds;
  report["machine"] = machine_info();
  return report;
}

}  // namespace embert::hosted
