// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace embert::cli {

static constexpr int kBarWidth = 30;

ProgressBar::ProgressBar() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (!shown_.empty()) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(const std::string& stage, double done) {
  if (!on_terminal_) return;
  const double share = std::clamp(done, 0.0, 1.0);
  const auto filled = static_cast<size_t>(share * kBarWidth);
  std::string line = std::to_string(static_cast<int>(share * 100)) + " % [";
  line.append(filled, '#').append(kBarWidth - filled, '.').append("] ").append(stage);
  if (line == shown_) return;
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
  shown_ = std::move(line);
}

}  // namespace embert::cli
