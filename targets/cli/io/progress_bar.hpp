// SPDX-License-Identifier: Apache-2.0
// A progress bar on stderr for work of more than two seconds, if stderr is a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace embert::cli {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  ///< erases the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  struct State {
    std::string stage;            ///< the name of the work in progress
    std::optional<double> share;  ///< 0 to 1 of all the work; nothing: not known
    size_t count = 0;             ///< of what the stage names; 0: no rate is shown
  };
  void show(const State& state);

 private:
  std::string line_of(const State& state, double seconds) const;

  bool wanted_;
  std::chrono::steady_clock::time_point begin_;
  std::string shown_;
};

/// Shows texts that are done; an embert_hosted_progress whose context is a ProgressBar.
int show_texts(void* bar, size_t done, size_t total);

}  // namespace embert::cli
