// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_call.hpp"

#include <utility>

namespace embert::test {
namespace {

using convert::TokenBatch;

class CallReader {
 public:
  CallReader(const GoldenCase& golden, const std::string& call) : golden_(golden), call_(call) {}

  bool has(const char* name) const { return golden_.has(call_, name); }
  std::vector<std::int32_t> ints(const char* name) const { return golden_.ints(call_, name); }
  std::vector<std::int32_t> positions(const char* name) const {
    return golden_.positions(call_, name);
  }
  std::vector<float> floats(const char* name) const { return golden_.floats(call_, name); }
  std::size_t extents(const char* name) const { return golden_.shape(call_, name).size(); }
  std::size_t extent(const char* name, std::size_t i) const {
    return static_cast<std::size_t>(golden_.shape(call_, name).at(i));
  }
  std::vector<std::uint8_t> mask(const char* name) const {
    const std::vector<std::int32_t> values = ints(name);
    return {values.begin(), values.end()};
  }

  // ids [texts ..., length]
  void read_ids(const char* name, TokenBatch& out) const {
    out.ids = ints(name);
    set_lengths(out.ids.size(), extent(name, extents(name) - 1), out);
  }
  static void set_lengths(std::size_t tokens, std::size_t length, TokenBatch& out) {
    out.lengths.assign(tokens / length, static_cast<std::int32_t>(length));
  }
  // A mask of keys, or of queries and keys, by its size.
  void read_mask(const char* name, std::size_t tokens, std::vector<std::uint8_t>& keys,
                 std::vector<std::uint8_t>& queries_keys) const {
    if (!has(name)) return;
    std::vector<std::uint8_t> values = mask(name);
    (values.size() == tokens ? keys : queries_keys) = std::move(values);
  }

 private:
  const GoldenCase& golden_;
  const std::string& call_;
};

// prompt_ids [texts, prompt] and step_ids [texts, steps] side by side.
void read_prompt(const CallReader& call, TokenBatch& out) {
  if (!call.has("step_ids")) return call.read_ids("prompt_ids", out);
  const std::vector<std::int32_t> prompt = call.ints("prompt_ids"), steps = call.ints("step_ids");
  const std::size_t first = call.extent("prompt_ids", 1), more = call.extent("step_ids", 1);
  for (std::size_t text = 0; text < call.extent("prompt_ids", 0); ++text) {
    for (std::size_t i = 0; i < first; ++i) out.ids.push_back(prompt[text * first + i]);
    for (std::size_t i = 0; i < more; ++i) out.ids.push_back(steps[text * more + i]);
  }
  CallReader::set_lengths(out.ids.size(), first + more, out);
}

// [heads] for every layer, or [layers, heads].
std::vector<float> read_head_mask(const CallReader& call, const convert::StackConfig& config) {
  const std::vector<float> given = call.floats("head_mask");
  std::vector<float> out;
  const auto layers = static_cast<std::size_t>(config.num_hidden_layers);
  const auto heads = static_cast<std::size_t>(config.num_attention_heads);
  for (std::size_t i = 0; i < layers * heads; ++i) out.push_back(given[i % given.size()]);
  return out;
}

void read_source(const CallReader& call, TokenBatch& out) {
  out.encoder_states = call.floats("encoder_hidden_states");
  const auto length = call.extent("encoder_hidden_states", 1);
  out.source_lengths.assign(out.lengths.size(), static_cast<std::int32_t>(length));
  call.read_mask("encoder_attention_mask", length * out.lengths.size(), out.source_key_mask,
                 out.source_query_key_mask);
}

}  // namespace

GoldenCall read_golden_call(const GoldenCase& golden, const std::string& name,
                            const convert::ModelConfig& config) {
  const CallReader call(golden, name);
  GoldenCall out;
  TokenBatch& batch = out.batch;
  if (call.has("input_ids")) call.read_ids("input_ids", batch);
  if (call.has("prompt_ids")) read_prompt(call, batch);
  if (call.has("inputs_embeds")) {
    batch.inputs_embeds = call.floats("inputs_embeds");
    CallReader::set_lengths(call.extent("inputs_embeds", 0) * call.extent("inputs_embeds", 1),
                            call.extent("inputs_embeds", 1), batch);
  }
  if (call.has("token_type_ids")) batch.type_ids = call.ints("token_type_ids");
  const std::size_t tokens = batch.lengths.size() * static_cast<std::size_t>(batch.lengths.front());
  if (call.has("position_ids")) {
    const std::vector<std::int32_t> given =
        call.positions("position_ids");  // of all texts, or of each
    for (std::size_t i = 0; i < tokens; ++i) batch.position_ids.push_back(given[i % given.size()]);
  }
  call.read_mask("attention_mask", tokens, batch.key_mask, batch.query_key_mask);
  if (call.has("head_mask")) batch.head_mask = read_head_mask(call, config.last());
  if (call.has("encoder_hidden_states")) read_source(call, batch);
  if (call.has("decoder_input_ids")) {
    call.read_ids("decoder_input_ids", out.target);
    call.read_mask("decoder_attention_mask", out.target.ids.size(), out.target.key_mask,
                   out.target.query_key_mask);
  }
  return out;
}

}  // namespace embert::test
