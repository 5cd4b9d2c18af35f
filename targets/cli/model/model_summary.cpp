// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/model/model_summary.hpp"

#include <algorithm>
#include <map>

#include "targets/cli/io/output.hpp"
#include "targets/hosted/model/text_tokens.hpp"
#if EMBERT_HAS_CONVERTER
#include "converter/vocabulary/scripts.hpp"
#endif

namespace embert::cli {
namespace {

constexpr size_t kShownLabels = 8;

void write_fact(std::string name, const std::string& text) {
  name.resize(13, ' ');
  output().line(name + text);
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

/// "a, b, c, ... (151)".
std::string first_of(const Json& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShownLabels); ++i) {
    text += (text.empty() ? "" : ", ") + one_line(names[i].get<std::string>());
  }
  return names.size() > kShownLabels
             ? text + ", ... (" + std::to_string(names.size()) + ", all with --json)"
             : text;
}

std::string kind_of(const embert_model_info& info) {
  if (info.num_stacks == 2) return "an encoder-decoder pair; of the decoder";
  if (info.is_decoder != 0) return "a decoder";
  return info.num_layers == 0 ? "static embeddings" : "an encoder";
}

std::string shape_of(const embert_model_info& info) {
  std::string text = kind_of(info);
  if (info.num_layers > 0) {
    text += ": " + std::to_string(info.num_layers) + " layers of width " +
            std::to_string(info.hidden_size) + ", " + std::to_string(info.num_heads) +
            " heads, feed-forward width " + std::to_string(info.intermediate_size);
  }
  return text;
}

#if EMBERT_HAS_CONVERTER
/// The scripts of at least a hundredth of the tokens, most frequent first.
std::string scripts_of_vocabulary(const ModelFile& file, uint32_t tokens) {
  std::map<size_t, size_t> counts;
  for (uint32_t id = 0; id < tokens; ++id) {
    const convert::ScriptSet scripts =
        convert::scripts_of(token_string(*file.model(), static_cast<int32_t>(id)));
    for (size_t script = 0; script < scripts.size(); ++script) {
      if (scripts[script]) ++counts[script];
    }
  }
  std::vector<std::pair<size_t, size_t>> sorted;
  for (const auto& [script, count] : counts) {
    if (count * 100 >= tokens) sorted.emplace_back(count, script);
  }
  std::sort(sorted.rbegin(), sorted.rend());
  std::string text;
  for (const auto& [count, script] : sorted) {
    text += std::string(", ") + convert::kScriptNames[script] + " " +
            percent(static_cast<double>(count) / tokens);
  }
  return text;
}
#else
std::string scripts_of_vocabulary(const ModelFile&, uint32_t) { return ""; }
#endif

std::string texts_of(const ModelFile& file, const Json& tokenizer) {
  const std::string length =
      "at most " + std::to_string(file.info().max_tokens) + " tokens of a text";
  if (tokenizer.is_null()) return length + "; no tokenizer: it takes ids";
  const auto tokens = tokenizer["tokens"].get<uint32_t>();
  return length + "; " + tokenizer["type"].get<std::string>() + " vocabulary of " +
         grouped(tokens) + scripts_of_vocabulary(file, tokens);
}

std::string vectors_of(const embert_model_info& info, const Json& header) {
  return std::to_string(info.vector_size) + " values, " + header["pooling"].get<std::string>() +
         " pooling" + (info.normalize != 0 ? ", length 1" : ", any length");
}

std::string prompts_of(const Json& inspection) {
  std::string text;
  for (const auto& [name, prompt] : inspection["prompts"].items()) {
    text += (text.empty() ? "" : ", ") + one_line(name) + " \"" +
            one_line(prompt.get<std::string>()) + "\"" +
            (Json(name) == inspection["default_prompt_name"] ? " (default)" : "");
  }
  return text;
}

/// A number of the certificate, or nothing if an older converter did not write it.
std::string number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->dump() : "?";
}

/// "64 labels", or "the answers" if an older converter did not count them.
std::string answers_of(const Json& held_out) {
  const auto answers = held_out.find("answers");
  if (answers == held_out.end() || !answers->is_object()) return "the answers";
  const Json kind = answers->value("kind", Json());
  return number(*answers, "count") + " " +
         (kind.is_string() ? one_line(kind.get<std::string>()) : "answers");
}

/// Prints the errors that the converter measured. The certificate is text of the file and may be
/// anything.
void write_exactness(const Json& certificate) {
  if (!certificate.is_object()) return write_fact("exactness", "not recorded in the file");
  const auto held_out = certificate.find("held_out");
  if (held_out == certificate.end() || !held_out->is_object()) {
    write_fact("exactness", "not compared with float32 when it was converted");
  } else {
    const Json which = certificate.value("held_out_texts", Json());
    std::string text = "on " + number(*held_out, "texts") + " texts that calibration did not use" +
                       (which.is_string() ? " (" + one_line(which.get<std::string>()) + ")" : "") +
                       ", the cosine to float32 is " + number(*held_out, "cosine_mean") +
                       " in the mean and " + number(*held_out, "cosine_min") + " at worst";
    if (held_out->contains("agreement") && (*held_out)["agreement"].is_number()) {
      text += "; " + percent((*held_out)["agreement"].get<double>()) + " of " +
              answers_of(*held_out) + " are the same";
    }
    write_fact("exactness", text);
  }
  const Json vocabulary = certificate.value("vocabulary", Json());
  if (vocabulary.is_object()) {
    std::string text = number(vocabulary, "kept_tokens") + " of " + number(vocabulary, "tokens") +
                       "; of " + number(vocabulary, "texts") + " texts " +
                       number(vocabulary, "changed_texts") + " have other tokens than before";
    if (vocabulary.contains("cosine_mean")) {
      text +=
          ", with a mean cosine of " + number(vocabulary, "cosine_mean") + " to the whole model";
    }
    write_fact("kept tokens", text);
  }
  if (certificate.contains("calibration") && certificate["calibration"].is_string()) {
    write_fact("calibration", one_line(certificate["calibration"].get<std::string>()) + ", " +
                                  number(certificate, "calibration_texts") + " texts");
  }
}

void write_memory(const ModelFile& file, const Json& arena_bytes) {
  std::string arena;
  for (const auto& [length, bytes] : arena_bytes.items()) {
    arena +=
        (arena.empty() ? "" : ", ") + grouped(bytes.get<unsigned long long>()) + " at " + length;
  }
  write_fact("file", grouped(file.bytes()) + " bytes, which may stay in flash");
  if (file.for_i8mm()) write_fact("weights", "n8k16: only processors with i8mm run the model");
  write_fact("arena", arena + " tokens: bytes of RAM, one text, one thread");
}

}  // namespace

void write_model_summary(const ModelFile& file, const Json& inspection) {
  const embert_model_info& info = file.info();
  write_fact("model", one_line(file.path()) + ", " + shape_of(info));
  std::string tasks;
  for (const Json& name : inspection["tasks"]) {
    tasks += (tasks.empty() ? "" : ", ") + name.get<std::string>();
  }
  write_fact("can do", tasks.empty() ? "nothing that this tool runs" : tasks);
  for (const char* labels : {"labels", "token_labels"}) {
    if (!inspection[labels].empty()) write_fact("labels", first_of(inspection[labels]));
  }
  write_fact("vectors", vectors_of(info, inspection["header"]));
  write_fact("texts", texts_of(file, inspection["tokenizer"]));
  const std::string prompts = prompts_of(inspection);
  if (!prompts.empty()) write_fact("prompts", prompts);
  write_exactness(inspection["certificate"]);
  write_memory(file, inspection["arena_bytes"]);
  write_fact("sha256", inspection["sha256"].get<std::string>());
  if (info.num_layers > 0) {
    output().line(
        "A feed-forward width above the folder's intermediate_size is that of conversion: it "
        "copies\n"
        "channels with outliers, so that each copy has a smaller range. Numbers of the header and\n"
        "places of the tensors: --tensors.");
  }
}

}  // namespace embert::cli
