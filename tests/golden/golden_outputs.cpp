// SPDX-License-Identifier: Apache-2.0
// Each kind of reference call as calls of the runtime.
#include "tests/golden/golden_outputs.hpp"

#include <algorithm>
#include <stdexcept>

#include "embert/embert_inspect.h"

namespace embert::test {
namespace {

/// Columns [begin, begin + count) of [rows][width].
GoldenTensor columns(const GoldenTensor& from, std::size_t begin, std::size_t count) {
  GoldenTensor out = from;
  const auto width = static_cast<std::size_t>(from.shape.back());
  const std::size_t rows = from.values.size() / width;
  out.shape.back() = count;
  out.values.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto at = from.values.begin() + static_cast<std::ptrdiff_t>(row * width + begin);
    out.values.insert(out.values.end(), at, at + static_cast<std::ptrdiff_t>(count));
  }
  return out;
}

GoldenTensor reshaped(GoldenTensor tensor, const std::vector<std::uint64_t>& shape) {
  std::uint64_t values = 1;
  for (const std::uint64_t extent : shape) values *= extent;
  if (values != tensor.values.size()) throw std::runtime_error("a tensor has another shape");
  tensor.shape = shape;
  return tensor;
}

/// A decoder's token without a visible key attends all tokens up to itself here, and all tokens of
/// the text in the reference. Such rows can not be compared; no call of the reference has one.
void refuse_rows_without_keys(const GoldenInput& input) {
  std::size_t first = 0;
  for (const std::uint32_t length : input.lengths) {
    if (!input.key_mask.empty() && input.key_mask[first] == 0)
      throw std::runtime_error("the first token of a decoder's text is hidden");
    first += length;
  }
}

/// Joins the steps' [batch, 1, width] to [batch, steps, width].
GoldenTensor join_steps(const std::vector<GoldenTensor>& steps) {
  GoldenTensor out = steps.front();
  const auto batch = static_cast<std::size_t>(out.shape[0]);
  const auto width = static_cast<std::size_t>(out.shape[2]);
  out.shape[1] = steps.size();
  out.values.clear();
  for (std::size_t text = 0; text < batch; ++text) {
    for (const GoldenTensor& step : steps) {
      const auto at = step.values.begin() + static_cast<std::ptrdiff_t>(text * width);
      out.values.insert(out.values.end(), at, at + static_cast<std::ptrdiff_t>(width));
    }
  }
  return out;
}

/// The logits of a case with one task head.
const char* only_logits(const embert_model_info& info) {
  if (info.has_lm != 0) return "lm_logits";
  return info.num_token_labels != 0 ? "token_logits" : "class_logits";
}

/// The name of a reference output among the outputs of the decoder or of the only stack.
std::string own_name(const std::string& name, const embert_model_info& info) {
  if (name == "logits") return only_logits(info);
  if (name == "prediction_logits") return "lm_logits";
  if (name == "seq_relationship_logits") return "class_logits";
  if (name == "start_logits" || name == "end_logits") return "token_logits";
  return name.starts_with("decoder_") ? name.substr(8) : name;
}

GoldenOutputs run_forward(GoldenEngine& engine, const GoldenCase& golden, const std::string& call,
                          Padding padding) {
  GoldenOutputs encoded;
  std::string prefix;
  engine.clear_cache();
  if (engine.info().num_stacks == 2) {
    encoded = engine.encode_source(golden_input(golden, call, "", padding));
    prefix = "decoder_";
  } else if (golden.has(call, "encoder_hidden_states")) {
    engine.set_source(golden_source(golden, call, padding));
  }
  GoldenInput input = golden_input(golden, call, prefix, padding);
  if (engine.info().is_decoder != 0) refuse_rows_without_keys(input);
  const GoldenOutputs made = engine.run(input);

  GoldenOutputs out;
  for (const std::string& name : golden.outputs(call)) {
    if (is_cache(name)) continue;
    const bool of_encoder = name.starts_with("encoder_");
    const std::string own =
        of_encoder ? name.substr(8) : own_name(golden.own_name(name), engine.info());
    const GoldenOutputs& from = of_encoder ? encoded : made;
    if (!from.contains(own)) throw std::runtime_error(call + "." + name + " has no counterpart");
    GoldenTensor found = from.at(own);
    if (name == "start_logits") found = columns(found, 0, 1);
    // ELECTRA's discriminator: transformers has the logit of "replaced" alone.
    const bool one_label = name == "logits" && golden.shape(call, name).size() == 2 &&
                           found.shape.size() == 3 && found.shape[2] == 2;
    if (one_label) found = columns(found, 1, 1);
    if (name == "end_logits") found = columns(found, 1, 1);
    out[name] = reshaped(found, golden.shape(call, name));
  }
  return out;
}

GoldenOutputs run_steps(GoldenEngine& engine, const GoldenCase& golden, const std::string& call) {
  const std::vector<std::int32_t> prompt = golden.ints(call, "prompt_ids"),
                                  rest = golden.ints(call, "step_ids");
  const auto batch = static_cast<std::size_t>(golden.shape(call, "prompt_ids")[0]);
  const std::size_t prompted = prompt.size() / batch, steps = rest.size() / batch;
  std::vector<std::int32_t> ids;
  for (std::size_t text = 0; text < batch; ++text) {
    const auto append = [&](const std::vector<std::int32_t>& from, std::size_t count) {
      const auto at = from.begin() + static_cast<std::ptrdiff_t>(text * count);
      ids.insert(ids.end(), at, at + static_cast<std::ptrdiff_t>(count));
    };
    append(prompt, prompted);
    append(rest, steps);
  }
  GoldenInput whole = golden_ids(ids, batch);
  if (golden.has(call, "attention_mask")) {
    const std::vector<std::int32_t> mask = golden.ints(call, "attention_mask");
    whole.key_mask.assign(mask.begin(), mask.end());
    refuse_rows_without_keys(whole);
  }
  if (golden.has(call, "encoder_hidden_states"))
    engine.set_source(golden_source(golden, call, Padding::kHidden));

  GoldenOutputs out;
  engine.clear_cache();
  out["full_logits"] = engine.run(whole).at("lm_logits");
  engine.clear_cache();
  const auto columns_of = [&](std::size_t begin, std::size_t end) {
    return golden_slice(whole, std::vector(batch, begin), std::vector(batch, end));
  };
  out["prompt_logits"] = engine.run(columns_of(0, prompted)).at("lm_logits");
  std::vector<GoldenTensor> step_logits;
  for (std::size_t step = 0; step < steps; ++step) {
    step_logits.push_back(
        engine.run(columns_of(prompted + step, prompted + step + 1)).at("lm_logits"));
  }
  out["step_logits"] = join_steps(step_logits);
  return out;
}

/// Greedy decoding. After the first token that differs from the reference's the logits are those of
/// another text: they are left out (kAbsent).
GoldenOutputs run_greedy(GoldenEngine& engine, const GoldenCase& golden, const std::string& call,
                         Padding padding) {
  GoldenOutputs out;
  std::vector<std::int32_t> sequence;
  engine.clear_cache();
  if (engine.info().num_stacks == 2) {
    GoldenOutputs encoded = engine.encode_source(golden_input(golden, call, "", padding));
    out["encoder_last_hidden_state"] = encoded.at("last_hidden_state");
    sequence = {static_cast<std::int32_t>(golden.argument(call, "decoder_start_token_id"))};
  } else {
    sequence = golden.ints(call, "prompt_ids");
  }
  const std::vector<std::int32_t> expected = golden.ints(call, "sequences");
  std::vector<GoldenTensor> step_logits;
  GoldenInput next = golden_ids(sequence, 1);
  bool same = true;
  while (sequence.size() < expected.size()) {
    GoldenTensor logits = engine.run(next).at("lm_logits");
    const std::size_t width = engine.info().vocab_size, rows = next.tokens();
    logits.values.erase(logits.values.begin(),
                        logits.values.begin() + static_cast<std::ptrdiff_t>((rows - 1) * width));
    logits.shape[1] = 1;
    const auto best = std::ranges::max_element(logits.values) - logits.values.begin();
    const auto token = static_cast<std::int32_t>(best);
    if (!same) logits.values.assign(width, GoldenTensor::kAbsent);
    step_logits.push_back(logits);
    same = same && token == expected[sequence.size()];
    sequence.push_back(token);
    next = golden_ids({token}, 1);
  }
  out["step_logits"] = join_steps(step_logits);
  out["sequences"] = {{1, sequence.size()}, sequence, 1};
  return out;
}

}  // namespace

bool is_cache(const std::string& output) {
  return output.starts_with("past_key_values.") || output.starts_with("prompt_cache.");
}

GoldenOutputs run_golden_call(GoldenEngine& engine, const GoldenCase& golden,
                              const std::string& call, Padding padding) {
  const std::string& kind = golden.kind(call);
  if (kind == "forward") return run_forward(engine, golden, call, padding);
  if (kind == "steps") return run_steps(engine, golden, call);
  if (kind == "greedy" || kind == "encoder_decoder_greedy")
    return run_greedy(engine, golden, call, padding);
  throw std::runtime_error(call + " is of kind " + kind);
}

}  // namespace embert::test
