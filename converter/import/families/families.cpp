// SPDX-License-Identifier: Apache-2.0
// The list of families, and the reasons why other model types are refused.
#include "converter/import/families/families.hpp"

#include <algorithm>

namespace embert::convert {
namespace {

constexpr const Family* kFamilies[] = {&kBert,    &kDistilBert, &kRoberta,    &kMpnet,
                                       &kElectra, &kAlbert,     &kMobileBert, &kModernBert};

struct Refused {
  std::string_view model_type, reason;
};

// Why a model that somebody may try is not converted. Decoders and encoder-decoders of other
// families share one reason.
constexpr std::string_view kDecoder = "it is a decoder; of decoders embert runs BERT's";
constexpr std::string_view kSeq2Seq =
    "it is an encoder-decoder of another family; embert runs pairs of two BERTs";
constexpr std::string_view kNotText = "it does not read text alone";
constexpr Refused kRefused[] = {
    {"deberta", "its attention has separate terms for contents and positions (disentangled)"},
    {"deberta-v2", "its attention has separate terms for contents and positions (disentangled)"},
    {"nomic_bert", "its layers are the code of its own repository, with 137 million parameters"},
    {"new", "its layers are the code of its own repository (gte: rotary positions, GLU)"},
    {"xlm-roberta-xl", "it has pre-LayerNorm layers 2,560 wide: 3.5 billion parameters"},
    {"xlm", "its embeddings depend on the language of a text"},
    {"flaubert", "its layers are those of XLM"},
    {"xlnet", "its attention is that of Transformer-XL"},
    {"funnel", "its layers shorten the text"},
    {"longformer", "it attends in windows for texts of 4,096 tokens; embert reads at most 512"},
    {"big_bird", "it attends in blocks for texts of 4,096 tokens; embert reads at most 512"},
    {"reformer", "it attends by hashing"},
    {"fnet", "it has Fourier transforms in place of attention"},
    {"canine", "it reads characters, without a tokenizer"},
    {"convbert", "its attention has convolutions"},
    {"squeezebert", "its dense layers are grouped convolutions"},
    {"ibert", "it is a quantised model already; convert the RoBERTa that it was made of"},
    {"nezha", "its relative positions are computed, not learnt"},
    {"roformer",
     "its rotary positions turn neighbouring channels; ModernBERT's turn halves of a head"},
    {"luke", "it reads entities beside the text"},
    {"ernie", "its embeddings may depend on the task"},
    {"rembert", "its output embeddings have another width than its input embeddings"},
    {"layoutlm", kNotText},
    {"layoutlmv2", kNotText},
    {"layoutlmv3", kNotText},
    {"clip", kNotText},
    {"siglip", kNotText},
    {"vit", kNotText},
    {"whisper", kNotText},
    {"t5", kSeq2Seq},
    {"mt5", kSeq2Seq},
    {"umt5", kSeq2Seq},
    {"bart", kSeq2Seq},
    {"mbart", kSeq2Seq},
    {"marian", kSeq2Seq},
    {"pegasus", kSeq2Seq},
    {"m2m_100", kSeq2Seq},
    {"gpt2", kDecoder},
    {"gpt_neo", kDecoder},
    {"gpt_neox", kDecoder},
    {"opt", kDecoder},
    {"bloom", kDecoder},
    {"falcon", kDecoder},
    {"llama", kDecoder},
    {"mistral", kDecoder},
    {"qwen2", kDecoder},
    {"qwen3", kDecoder},
    {"gemma", kDecoder},
    {"gemma2", kDecoder},
    {"gemma3_text", kDecoder},
    {"phi", kDecoder},
    {"phi3", kDecoder},
};

// "bert, roberta, xlm-roberta"
std::string known_model_types() {
  std::string list;
  for (const Family* family : kFamilies) {
    for (const std::string_view type : family->model_types) {
      list.append(list.empty() ? "" : ", ").append(type);
    }
  }
  return list;
}

}  // namespace

const Family* find_family(std::string_view model_type) {
  for (const Family* family : kFamilies) {
    if (std::ranges::find(family->model_types, model_type) != family->model_types.end())
      return family;
  }
  return nullptr;
}

void refuse_model_type(const std::string& file, const std::string& model_type) {
  const auto* const known = std::ranges::find(kRefused, model_type, &Refused::model_type);
  const std::string reason = known == std::end(kRefused) ? "" : ": " + std::string(known->reason);
  throw ConvertError(file + ": model_type \"" + printable(model_type) + "\" is not supported" +
                     reason + "; embert reads " + known_model_types() +
                     ", and encoder-decoder of two bert");
}

const Family& family_of(const ModelConfig& config) {
  const Family* found = find_family(config.model_type);
  if (found == nullptr) refuse_model_type("config", config.model_type);
  return *found;
}

}  // namespace embert::convert
