// SPDX-License-Identifier: Apache-2.0
// RoBERTa (Liu et al. 2019), XLM-RoBERTa (Conneau et al. 2020) and CamemBERT (Martin et al. 2020):
// BERT with positions counted from the padding id, and heads of their own.
#include "converter/import/config/stack_options.hpp"
#include "converter/import/families/families.hpp"
#include "converter/import/families/roberta_heads.hpp"

namespace embert::convert {
namespace {

constexpr int kPaddingId = 1;  // where config.json names none

constexpr std::string_view kModelTypes[] = {"roberta", "xlm-roberta", "camembert"};

constexpr auto kSequence = ClassifierTask::kSequenceClassification;
constexpr auto kChoice = ClassifierTask::kMultipleChoice;
constexpr auto kNoClassifier = ClassifierTask::kNone;
constexpr auto kTokens = TokenTask::kTokenClassification;
constexpr auto kAnswers = TokenTask::kQuestionAnswering;
constexpr auto kNoTokens = TokenTask::kNone;
constexpr auto kMasked = LanguageHeadKind::kBert;
constexpr Architecture kArchitectures[] = {
    {"RobertaModel"},
    {"RobertaForMaskedLM", kNoClassifier, kNoTokens, kMasked},
    {"RobertaForSequenceClassification", kSequence},
    {"RobertaForMultipleChoice", kChoice},
    {"RobertaForTokenClassification", kNoClassifier, kTokens},
    {"RobertaForQuestionAnswering", kNoClassifier, kAnswers},
    {"XLMRobertaModel"},
    {"XLMRobertaForMaskedLM", kNoClassifier, kNoTokens, kMasked},
    {"XLMRobertaForSequenceClassification", kSequence},
    {"XLMRobertaForMultipleChoice", kChoice},
    {"XLMRobertaForTokenClassification", kNoClassifier, kTokens},
    {"XLMRobertaForQuestionAnswering", kNoClassifier, kAnswers},
    {"CamembertModel"},
    {"CamembertForMaskedLM", kNoClassifier, kNoTokens, kMasked},
    {"CamembertForSequenceClassification", kSequence},
    {"CamembertForMultipleChoice", kChoice},
    {"CamembertForTokenClassification", kNoClassifier, kTokens},
    {"CamembertForQuestionAnswering", kNoClassifier, kAnswers}};

void read_roberta_options(const JsonFields& config, StackConfig& out,
                          std::vector<std::string>& /*warnings*/) {
  refuse_decoder(config);
  read_position_kind(config, out);
  read_pruned_heads(config, out);
  const auto padding = config.get_int("pad_token_id", 0, kMaxVocabSize - 1, kPaddingId);
  set_padding_positions(config, static_cast<int>(padding), out);
}

constexpr StackNames stack_names() {
  StackNames names;
  names.prefix = "roberta.";
  return names;
}

}  // namespace

constinit const Family kRoberta = {.model_types = kModelTypes,
                                   .keys = {},
                                   .read_options = read_roberta_options,
                                   .architectures = kArchitectures,
                                   .read_head_options = read_roberta_head_options,
                                   .stack = stack_names(),
                                   .heads = kRobertaHeads};

}  // namespace embert::convert
