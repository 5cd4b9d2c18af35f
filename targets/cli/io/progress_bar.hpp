// SPDX-License-Identifier: Apache-2.0
// A bar on stderr where that is a terminal; nothing otherwise.
#pragma once

#include <string>

namespace embert::cli {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  ///< takes the bar away
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// done: 0 to 1.
  void show(const std::string& step, double done);

 private:
  bool on_terminal_;
  std::string shown_;
};

}  // namespace embert::cli
