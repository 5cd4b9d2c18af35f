// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/hosted_model.hpp"

#include <unistd.h>

#include <algorithm>

#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/isa_choice.hpp"

namespace embert::hosted {

HostedModel::HostedModel(const std::string& path, const ModelOptions& options)
    : file_(path, isa_mask_of(options.isa), options.memory),
      process_(getpid()),
      refuse_long_(options.refuse_long) {
  if (!options.tokens_alone) file_.require_kernels();
  const embert_model_info& info = file_.info();
  max_tokens_ = options.max_tokens != 0 ? options.max_tokens : info.max_tokens;
  if (max_tokens_ > info.max_positions) {
    throw UsageError(quoted_path(path) + ": the model has " + std::to_string(info.max_positions) +
                     " positions, not " + std::to_string(max_tokens_));
  }
  const uint32_t processors = allowed_processors();
  const uint32_t threads =
      options.threads == 0 ? processors : std::min(options.threads, processors);
  team_ = std::make_unique<ThreadTeam>(file_, threads, max_tokens_);
}

void HostedModel::check_cut(bool truncated) const {
  if (!truncated || !refuse_long_) return;
  throw TextError(0, "the text has more than " + std::to_string(max_tokens_) +
                         " tokens, the model's length (" +
                         embert_status_name(EMBERT_STATUS_TRUNCATION) + ")");
}

HostedModel::~HostedModel() {
  // Joining a thread that is not there would never return.
  if (is_forked()) (void)team_.release();
}

bool HostedModel::is_forked() const { return getpid() != process_; }

ThreadTeam& HostedModel::team() {
  if (is_forked()) {
    throw Error(EMBERT_HOSTED_FORKED, quoted_path(file_.path()) +
                                          ": opened before fork(), and threads do not survive it; "
                                          "open the model again in this process");
  }
  return *team_;
}

}  // namespace embert::hosted
