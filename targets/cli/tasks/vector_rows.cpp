// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/tasks/vector_rows.hpp"

#include <CLI/CLI.hpp>

#include "embert/embert_run.h"
#include "embert/embert_vector.h"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_prompts.hpp"

namespace embert::cli {
namespace {

constexpr embert_scale kNormalizedScale = {(127u - 15u) << 23};  // 2^-15

embert_pooling pooling_of(const std::string& name) {
  if (name == "mean") return EMBERT_POOLING_MEAN;
  if (name == "cls") return EMBERT_POOLING_CLS;
  return name == "max" ? EMBERT_POOLING_MAX : EMBERT_POOLING_MODEL;
}

}  // namespace

void VectorOptions::add_to(CLI::App& command) {
  command
      .add_option("--pooling", pooling,
                  "How tokens become one vector: mean, cls, max; default: as the model says")
      ->check(CLI::IsMember({"mean", "cls", "max"}))
      ->type_name("NAME");
  command.add_flag("--normalize", normalize, "Vectors of length 1 of a model that makes others");
  command
      .add_option("--dimensions", dimensions,
                  "The first N dimensions only, for models that are trained for it")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  // add_option() would take an empty string for an absent one.
  command
      .add_option_function<std::string>(
          "--prompt", [this](const std::string& name) { prompt_name = name; },
          "The model's prompt that goes before each text; \"\": none; default: its default one")
      ->type_name("NAME");
  command.add_option("--format", format, "Numbers of a vector: float, int8, bits")
      ->check(CLI::IsMember({"float", "int8", "bits"}))
      ->type_name("NAME")
      ->capture_default_str();
}

std::string VectorOptions::prompt(const ModelFile& file) const {
  return prompt_name == "" ? "" : prompt_text(file, prompt_name);
}

VectorFormat VectorOptions::vector_format() const {
  if (format == "int8") return VectorFormat::kInt8;
  return format == "bits" ? VectorFormat::kBits : VectorFormat::kFloat;
}

Rows<int16_t> text_vectors(const ModelSession& session, const ModelFile& file,
                           const std::vector<TextTokens>& texts, const VectorOptions& options) {
  const uint32_t size = file.info().hidden_size;
  const uint32_t wanted = options.dimensions ? options.dimensions : size;
  if (wanted > size) {
    throw UsageError("--dimensions " + std::to_string(wanted) + ": the vectors of " +
                     quoted_path(file.path()) + " have " + std::to_string(size));
  }
  const Rows<int16_t> whole = session.embed(texts, pooling_of(options.pooling));
  const bool normalize = options.normalize || (file.info().normalize != 0 && wanted < size);
  Rows<int16_t> vectors = {wanted, {}, normalize ? kNormalizedScale : whole.scale};
  for (size_t i = 0; i < texts.size(); ++i) {
    const int16_t* row = whole.row(i);
    vectors.values.insert(vectors.values.end(), row, row + wanted);
    int16_t* kept = vectors.row(i);
    if (normalize) check(embert_normalize_int16(kept, wanted, kept), "embert_normalize_int16");
  }
  return vectors;
}

std::vector<int8_t> int8_vector(const int16_t* values, size_t size) {
  std::vector<int8_t> bytes(size);
  check(embert_quantize_int8(values, size, bytes.data()), "embert_quantize_int8");
  return bytes;
}

std::vector<uint8_t> bit_vector(const int16_t* values, size_t size) {
  std::vector<uint8_t> bits((size + 7) / 8);
  check(embert_quantize_bits(values, size, bits.data()), "embert_quantize_bits");
  return bits;
}

}  // namespace embert::cli
