// SPDX-License-Identifier: Apache-2.0
#include "tests/support/task_models.hpp"

#include <cstring>

#include "converter/export/write_tokenizer_section.hpp"
#include "tests/support/small_tokenizer.hpp"

namespace embert::test {
namespace {

constexpr std::uint32_t kClsId = 2, kSepId = 3;

/// The models' vocabulary: the tokenizer's tokens and a few more.
constexpr std::uint32_t kVocabSize = 40;

SyntheticModel small_stack() {
  SyntheticModel shape;
  shape.hidden_size = 36;
  shape.num_heads = 2;
  shape.intermediate_size = 40;
  shape.vocab_size = kVocabSize;
  shape.max_positions = 32;
  return shape;
}

}  // namespace

TaskModel classifier(std::uint32_t labels, std::uint32_t task) {
  TaskModel model;
  model.shape = small_stack();
  model.shape.num_labels = labels;
  model.classifier_task = task;
  return model;
}

TaskModel token_classifier(std::uint32_t labels, std::uint32_t task) {
  TaskModel model;
  model.shape = small_stack();
  model.shape.heads = kHeadTokenClassifier;
  model.shape.num_token_labels = labels;
  model.token_task = task;
  return model;
}

TaskModel masked_language_model() {
  TaskModel model;
  model.shape = small_stack();
  model.shape.heads = kHeadLm | kHeadLmTransform;
  return model;
}

TaskModel decoder() {
  TaskModel model = masked_language_model();
  model.shape.flags = kStackCausal;
  model.shape.start_id = kClsId;
  model.shape.end_id = kSepId;
  return model;
}

TaskModel encoder_decoder() {
  TaskModel model = decoder();
  model.shape.flags = kStackCausal | kStackCrossAttention;
  model.shape.encoder = {small_stack()};
  return model;
}

std::string write_model(const ScratchFolder& scratch, const std::string& name,
                        const TaskModel& model) {
  convert::TokenizerSpec spec = small_spec();
  if (!model.has_mask) spec.mask_id.reset();
  std::vector<std::uint8_t> section;
  if (model.has_tokenizer) section = convert::write_tokenizer_section(spec);
  std::vector<std::uint8_t> blob = make_synthetic_blob(model.shape, section);
  BlobHeader header = {};
  std::memcpy(&header, blob.data(), sizeof(header));
  header.classifier_task = model.classifier_task;
  header.token_task = model.token_task;
  header.problem = model.problem;
  std::memcpy(blob.data(), &header, sizeof(header));
  seal_blob(blob.data(), blob.size());
  return scratch.write(name, {blob.begin(), blob.end()});
}

}  // namespace embert::test
