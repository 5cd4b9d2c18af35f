// SPDX-License-Identifier: Apache-2.0
// /v1/embeddings: a vector for each text, as OpenAI's clients expect it.
#include "targets/hosted/model/model_prompts.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/vectors/text_vectors.hpp"
#include "targets/serve/api/answers.hpp"
#include "targets/serve/api/encode_base64.hpp"
#include "targets/serve/api/request_tokens.hpp"
#include "targets/serve/memory_budget.hpp"

namespace embert::serve {
namespace {

struct EmbeddingFields {
  Json input;
  VectorOptions vectors;
  bool base64 = false;
};

EmbeddingFields take_fields(const ApiCall& call) {
  const ModelFile& file = call.served.model.file();
  EmbeddingFields taken;
  taken.input = required(call.fields, "input");
  std::string encoding = "float", user;
  call.fields.take("encoding_format", encoding);
  if (encoding != "float" && encoding != "base64") {
    throw UsageError("embeddings: encoding_format takes float or base64");
  }
  taken.base64 = encoding == "base64";
  call.fields.take("dimensions", taken.vectors.dimensions, {1, file.info().vector_size});
  if (std::optional<Json> prompt = call.fields.take("prompt")) {
    if (!prompt->is_string()) throw UsageError("embeddings: prompt takes a text");
    taken.vectors.prompt_name = prompt->get<std::string>();
  }
  call.fields.take("user", user);  // who asks, for those who want to know
  call.fields.finish();
  return taken;
}

RequestTokens read_input(const ApiCall& call, EmbeddingFields& fields) {
  if (is_ids(fields.input)) {
    check_count(fields.input[0].is_array() ? fields.input.size() : 1, "input", call.limits);
    return tokens_of_ids(call.served, fields.input);
  }
  std::vector<RequestText> texts = texts_of(std::move(fields.input), "input", false);
  check_count(texts.size(), "input", call.limits);
  const std::optional<std::string>& name = fields.vectors.prompt_name;
  const std::string prompt =
      name && name->empty() ? "" : prompt_text(call.served.model.file(), name);
  for (RequestText& one : texts) one.text.insert(0, prompt);
  return tokens_of_texts(call.served, texts);
}

std::string encoded(const VectorView& vector, bool as_base64) {
  if (!as_base64) return json_line(real_values(vector));
  std::vector<uint8_t> packed(packed_bytes(EMBERT_VECTOR_FLOAT32, vector.n));
  pack_vector(vector, EMBERT_VECTOR_FLOAT32, packed.data());
  return '"' + base64(packed) + '"';
}

}  // namespace

std::string answer_embeddings(const ApiCall& call) {
  const ModelFile& file = call.served.model.file();
  require_task(file, Task::kEmbed);
  EmbeddingFields fields = take_fields(call);
  const RequestTokens tokens = read_input(call, fields);
  const size_t width = file.info().vector_size;
  constexpr size_t kBytesPerNumber = 52;  // as text in two copies; base64 takes less
  RequestMemory::current().add(uint64_t{tokens.texts()} * width * kBytesPerNumber);
  const BatchRows rows = call.served.queue.run(BatchKind::kVectors, tokens.lists);
  std::string answer = "{\"object\":\"list\",\"data\":[";
  std::vector<int16_t> storage;
  for (size_t i = 0; i < tokens.texts(); ++i) {
    const VectorView vector = shaped_vector(
        file, fields.vectors, {rows.vectors.data() + i * width, width, rows.scale}, storage);
    answer += (i > 0 ? "," : "") + std::string("{\"object\":\"embedding\",\"index\":") +
              std::to_string(i) + ",\"embedding\":" + encoded(vector, fields.base64) +
              (tokens.truncated[i] ? ",\"truncated\":true}" : "}");
  }
  answer += "],\"model\":" + json_line(call.served.name) +
            ",\"usage\":" + json_line(usage_of(tokens)) + '}';
  return answer;
}

}  // namespace embert::serve
