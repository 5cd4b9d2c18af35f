// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/convert/convert_summary.hpp"

#include "converter/convert.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/hosted/convert/convert_report.hpp"
#include "targets/hosted/model/model_file.hpp"

namespace embert::cli {

static std::string prompt_names(const convert::PromptConfig& prompts) {
  std::string line = "prompts";
  for (const auto& [name, text] : prompts.texts) {
    line += (line == "prompts" ? " " : ", ") + one_line(name);
  }
  return line + (prompts.default_name ? "; default " + one_line(*prompts.default_name)
                                      : "; none is the default");
}

static void write_vocabulary(const Json& vocabulary, size_t blob_bytes) {
  const auto tokens = vocabulary["tokens"].get<size_t>();
  const auto kept = vocabulary["kept_tokens"].get<size_t>();
  const auto saved = vocabulary["saved_bytes"].get<int64_t>();
  const double percent = 100 * static_cast<double>(kept) / static_cast<double>(tokens);
  output().line("  vocabulary: " + grouped(kept) + " of " + grouped(tokens) + " tokens kept (" +
                fixed(percent, 1) + " %); with all of them " +
                grouped(static_cast<size_t>(static_cast<int64_t>(blob_bytes) + saved)) + " bytes");
  std::string line = "    of " + vocabulary["texts"].dump() + " held-out texts " +
                     vocabulary["changed_texts"].dump() + " have other tokens; tokens a text " +
                     vocabulary["tokens_before"].dump() + " before, " +
                     vocabulary["tokens_after"].dump() + " after";
  if (vocabulary.contains("cosine_mean")) {
    line += "; cosine of the changed ones to the whole model mean " +
            vocabulary["cosine_mean"].dump() + ", worst " + vocabulary["cosine_min"].dump();
  }
  output().line(line);
}

/// Copied inputs of the first feed-forward layer, and the inputs that keep 16 bits with what 8 bits
/// would cost there.
static void write_precision(const convert::PrecisionReport& report) {
  if (report.layers.empty()) return;
  output().line(std::string("  precision ") + convert::precision_name(report.precision) + ": " +
                fixed(100 * report.cost, 1) +
                " % more multiply-adds at 128 tokens; inputs with 16 bits, and in 1e-4 what 8 bits "
                "would add to the error");
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const convert::LayerPrecision& layer = report.layers[i];
    std::string line = "    " + std::to_string(i) + ":";
    const int copied = layer.planes.copied_inputs;
    if (copied > 0) line += " " + std::to_string(copied) + " copied inputs";
    const auto add = [&](const char* name, double error, bool has_planes) {
      if (!has_planes) return;
      line += (line.back() == ':' ? " " : ", ") + std::string(name) + " " + fixed(1e4 * error, 3);
    };
    const bool all = layer.planes.qkv == kPlanesAll,
               scores = layer.planes.probabilities == kPlanesScores;
    add(scores ? "qkv and scores" : "qkv", layer.first + layer.qkv, all);
    add("qkv of the first token", layer.first, layer.planes.qkv == kPlanesFirst);
    add("output", layer.attn_out, layer.planes.attn_out != kPlanesNone);
    add("ffn_up", layer.ffn_up, layer.planes.ffn_up != kPlanesNone);
    add("ffn_down", layer.ffn_down, layer.planes.ffn_down != kPlanesNone);
    add("probabilities", layer.probabilities, layer.planes.probabilities != kPlanesNone);
    output().line(line.back() == ':' ? line + " none" : line);
  }
}

void write_summary(const convert::ConvertResult& result, const std::string& output_path,
                   double seconds) {
  const std::string target = output_path.empty() ? "dry run, nothing written" : output_path;
  output().line(one_line(target) + ": " + grouped(result.blob.size()) + " bytes, " +
                fixed(seconds, 1) + " s");
  output().line("  encoder weights " + grouped(result.sizes.encoder_weights) + ", embeddings " +
                grouped(result.sizes.embeddings) + ", vocabulary " +
                grouped(result.sizes.vocabulary) + ", tables " + grouped(result.sizes.tables));
  const ModelFile file("the new model", result.blob, EMBERT_ISA_SCALAR);
  if (file.for_i8mm()) output().line("  weights in n8k16: only processors with i8mm run the model");
  std::string arena = "  arena";
  for (const auto& [length, bytes] : arena_sizes(*file.model())) {
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
    if (has_cross_attention(layer)) {
      line += "; cross query " + fixed(100 * layer.cross_query, 2) + ", key and value " +
              fixed(100 * layer.cross_key_value, 2) + ", output " + fixed(100 * layer.cross_out, 2);
    }
    output().line(line);
  }
  write_precision(result.precision);
  const Json certificate = new_certificate(result);
  if (certificate.contains("vocabulary")) {
    write_vocabulary(certificate["vocabulary"], result.blob.size());
  }
  if (certificate.contains("held_out")) {
    const Json& held_out = certificate["held_out"];
    std::string line = "  against float32 on " + held_out["texts"].dump() + " other texts (" +
                       certificate["held_out_texts"].get<std::string>() + "), " +
                       held_out["compared"].get<std::string>() + ": cosine mean " +
                       held_out["cosine_mean"].dump() + ", worst " + held_out["cosine_min"].dump();
    if (held_out.contains("answers")) {
      line += ", " + fixed(100 * held_out["agreement"].get<double>(), 1) + " % of " +
              held_out["answers"]["count"].dump() + " " +
              held_out["answers"]["kind"].get<std::string>() + " are the same";
    }
    if (held_out.contains("logit_error_max")) {
      line += ", largest logit error " + held_out["logit_error_max"].dump();
    }
    output().line(line);
    if (certificate.contains("with_8bit_embeddings")) {
      const Json& larger = certificate["with_8bit_embeddings"];
      output().line("  word embeddings have 4 bits; with 8 bits: cosine mean " +
                    larger["cosine_mean"].dump() + ", worst " + larger["cosine_min"].dump());
    }
  } else if (certificate.contains("not_compared")) {
    output().line("  not compared with float32: " + certificate["not_compared"].get<std::string>());
  }
}

}  // namespace embert::cli
