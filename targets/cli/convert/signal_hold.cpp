// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/convert/signal_hold.hpp"

#include <cstddef>
#include <iterator>

namespace embert::cli {
namespace {

volatile std::sig_atomic_t held_signal = 0;

extern "C" void hold_signal(int signal) { held_signal = signal; }

}  // namespace

SignalHold::SignalHold() {
  held_signal = 0;
  struct sigaction hold = {};
  hold.sa_handler = hold_signal;
  sigemptyset(&hold.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &hold, nullptr);
  }
}

SignalHold::~SignalHold() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &before_[i], nullptr);
  if (held_signal != 0) (void)raise(held_signal);
}

}  // namespace embert::cli
