// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/tasks/task_arguments.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>

namespace embert::cli {
namespace {

std::string short_number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// Like CLI::Range, but refuses "nan".
CLI::Validator in_range(double lowest, double highest) {
  return CLI::Validator(
      [=](const std::string& text) {
        double value = 0;
        const bool ok =
            CLI::detail::lexical_cast(text, value) && value >= lowest && value <= highest;
        return ok ? std::string()
                  : text + " is not a number from " + short_number(lowest) + " to " +
                        short_number(highest);
      },
      "");
}

const std::map<std::string, embert_pooling> kPoolings = {
    {"mean", EMBERT_POOLING_MEAN}, {"cls", EMBERT_POOLING_CLS}, {"max", EMBERT_POOLING_MAX}};

const std::map<std::string, embert_vector_format> kFormats = {
    {"float", EMBERT_VECTOR_FLOAT32},       {"int8", EMBERT_VECTOR_INT8},
    {"int8-unit", EMBERT_VECTOR_INT8_UNIT}, {"bits", EMBERT_VECTOR_UBINARY},
    {"ubinary", EMBERT_VECTOR_UBINARY},     {"binary", EMBERT_VECTOR_BINARY},
    {"bits-lsb", EMBERT_VECTOR_BITS_LSB}};

}  // namespace

CLI::Validator share_of_one() { return in_range(0, 1); }

void add_function_option(CLI::App& command, std::string& function) {
  command
      .add_option("--function", function,
                  "What makes scores of logits: softmax, sigmoid, none; default: sigmoid for a "
                  "single label or several that are right at once, else softmax")
      ->check(CLI::IsMember({"softmax", "sigmoid", "none"}))
      ->type_name("NAME");
}

void add_reject_label_option(CLI::App& command, std::string& label) {
  command.add_option("--reject-label", label, "The label of texts that the model does not know")
      ->type_name("NAME")
      ->capture_default_str();
}

void add_window_options(CLI::App& command, WindowOptions& options) {
  command
      .add_option(
          "--window", options.window,
          "Longest piece of a text, in tokens, that the model sees at once; default: its own")
      ->check(CLI::Range(1, 512))
      ->type_name("N");
  command
      .add_option(
          "--stride", options.stride,
          "Tokens that a window repeats of the one before; default: half of it, at most 128")
      ->check(CLI::Range(0, 512))
      ->type_name("N");
}

void add_decoding_options(CLI::App& command, DecodingOptions& options) {
  command.add_option("--max-new-tokens", options.max_new_tokens, "Most tokens to make")
      ->check(CLI::Range(1, 512))
      ->type_name("N")
      ->capture_default_str();
  auto* by_beams =
      command.add_option("--beams", options.beams, "Sequences that a beam search follows")
          ->check(CLI::Range(1, 64))
          ->type_name("N")
          ->capture_default_str();
  auto* by_drawing = command.add_flag("--sample", options.sample, "Draw each token by its score");
  by_beams->excludes(by_drawing);
  command
      .add_option("--temperature", options.temperature, "Logits are divided by it, 0.001 to 1000")
      ->check(in_range(0.001, 1000))
      ->needs(by_drawing)
      ->type_name("T")
      ->capture_default_str();
  command.add_option("--top-k", options.top_k, "Draw from the K best")
      ->check(CLI::Range(1, 65536))
      ->needs(by_drawing)
      ->type_name("K")
      ->capture_default_str();
  command.add_option("--top-p", options.top_p, "... and of those the fewest that reach P")
      ->check(in_range(0, 1))
      ->needs(by_drawing)
      ->type_name("P")
      ->capture_default_str();
  command
      .add_option("--seed", options.seed, "The same seed draws the same tokens; 0 to 4294967295")
      ->needs(by_drawing)
      ->type_name("N")
      ->capture_default_str();
}

void add_vector_options(CLI::App& command, VectorOptions& options) {
  command
      .add_option_function<std::string>(
          "--pooling",
          [&options](const std::string& name) { options.pooling = kPoolings.at(name); },
          "How tokens become one vector: mean, cls, max; default: as the model says")
      ->check(CLI::IsMember(kPoolings))
      ->type_name("NAME");
  command.add_flag("--normalize", options.normalize,
                   "Vectors of length 1 of a model that makes others");
  command
      .add_option("--dimensions", options.dimensions,
                  "The first N dimensions only, for models that are trained for it")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--format", [&options](const std::string& name) { options.format = kFormats.at(name); },
          "Values of a vector: float; int8, int8-unit; bits or ubinary, binary, bits-lsb")
      ->check(CLI::IsMember(kFormats))
      ->type_name("NAME")
      ->default_str("float");
  // add_option() would take an empty string for an absent one.
  command
      .add_option_function<std::string>(
          "--prompt",
          [&options](const std::string& name) {
            (name.empty() ? options.prompt : options.prompt_name) = name;
          },
          "The model's prompt that goes before each text; \"\": none; default: its default one")
      ->type_name("NAME");
}

}  // namespace embert::cli
