// SPDX-License-Identifier: Apache-2.0
// Signals that would end the tool wait until its output is written.
#pragma once

#include <csignal>
#include <iterator>

namespace embert::cli {

/// While an object lives, SIGINT, SIGTERM and SIGHUP are only noted; its destructor puts their
/// handlers back and raises the last one. An ignored signal stays ignored, and does not take the
/// place of one that was noted. There is one object at a time.
class SignalHold {
 public:
  SignalHold();
  ~SignalHold();
  SignalHold(const SignalHold&) = delete;
  SignalHold& operator=(const SignalHold&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kSignals)] = {};
};

}  // namespace embert::cli
