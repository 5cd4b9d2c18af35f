// SPDX-License-Identifier: Apache-2.0
// A model file with the threads that run it: what embert_hosted_open makes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "targets/hosted/model/model_file.hpp"
#include "targets/hosted/threads/thread_team.hpp"

namespace embert::hosted {

struct ModelOptions {
  uint32_t threads = 0;     ///< at most the processors of this process; 0: all of them
  uint32_t max_tokens = 0;  ///< longest text; 0: the model's own
  std::string isa = "auto";
  ModelMemory memory = ModelMemory::kPrivate;
  bool refuse_long = false;   ///< a text that exceeds the length fails instead of being cut
  bool tokens_alone = false;  ///< no pass will run: the kernels need not read the weights
};

class HostedModel {
 public:
  HostedModel(const std::string& path, const ModelOptions& options);
  /// In a child of the process that made it only the memory is freed: its threads are not here.
  ~HostedModel();
  HostedModel(const HostedModel&) = delete;
  HostedModel& operator=(const HostedModel&) = delete;

  const ModelFile& file() const { return file_; }
  uint32_t threads() const { return team_->threads(); }
  uint32_t max_tokens() const { return max_tokens_; }
  /// Throws TextError, with index 0, for a text that was cut if the model refuses these.
  void check_cut(bool truncated) const;

  /// Throws an Error with EMBERT_HOSTED_FORKED in a child of the process that made it.
  ThreadTeam& team();

 private:
  bool is_forked() const;

  ModelFile file_;
  pid_t process_;
  uint32_t max_tokens_ = 0;
  bool refuse_long_;
  std::unique_ptr<ThreadTeam> team_;
};

}  // namespace embert::hosted
