// SPDX-License-Identifier: Apache-2.0
// A progress bar on stderr if stderr is a terminal; otherwise nothing.
#pragma once

#include <string>

namespace embert::cli {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  ///< erases the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// stage: the name of the work in progress; done: 0 to 1.
  void show(const std::string& stage, double done);

 private:
  bool on_terminal_;
  std::string shown_;
};

}  // namespace embert::cli
