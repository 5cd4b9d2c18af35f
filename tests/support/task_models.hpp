// SPDX-License-Identifier: Apache-2.0
// Small models with random weights, any task head and a small tokenizer, as files.
#pragma once

#include <string>

#include "runtime/format/blob_format.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::test {

/// The vocabulary is that of small_spec(): [PAD] [UNK] [CLS] [SEP] [MASK] a b c un aff ##aff ##able
/// ##a ##b hello world hell ##o cafe ... time ##s i ...
struct TaskModel {
  SyntheticModel shape;
  std::uint32_t classifier_task = 0, token_task = 0, problem = 0;
  bool has_tokenizer = true, has_mask = true;
};

TaskModel classifier(std::uint32_t labels, std::uint32_t task = kTaskSequence);
TaskModel token_classifier(std::uint32_t labels, std::uint32_t task = kTaskTokens);
TaskModel masked_language_model();
TaskModel decoder();
/// An encoder and its decoder.
TaskModel encoder_decoder();

/// Writes the model and returns the path.
std::string write_model(const ScratchFolder& scratch, const std::string& name,
                        const TaskModel& model);

}  // namespace embert::test
