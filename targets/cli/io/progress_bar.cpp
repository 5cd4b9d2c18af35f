// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "targets/cli/io/messages.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr double kQuietSeconds = 2;  // shorter work needs no bar

/// "1:02:03", "2:03" or "3 s".
std::string duration(double seconds) {
  const auto whole = static_cast<unsigned long long>(seconds + 0.5);
  if (whole < 60) return std::to_string(whole) + " s";
  const auto two_digits = [](unsigned long long value) {
    return (value < 10 ? ":0" : ":") + std::to_string(value);
  };
  const std::string seconds_text = two_digits(whole % 60);
  if (whole < 3600) return std::to_string(whole / 60) + seconds_text;
  return std::to_string(whole / 3600) + two_digits(whole / 60 % 60) + seconds_text;
}

}  // namespace

ProgressBar::ProgressBar()
    : wanted_(isatty(STDERR_FILENO) == 1 && !is_quiet()),
      begin_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() {
  if (!shown_.empty()) std::fputs("\r\033[K", stderr);
}

std::string ProgressBar::line_of(const State& state, double seconds) const {
  std::string line;
  if (state.share) {
    const double share = std::clamp(*state.share, 0.0, 1.0);
    const auto filled = static_cast<size_t>(share * kBarWidth);
    line = std::to_string(static_cast<int>(share * 100)) + " % [";
    line.append(filled, '#').append(kBarWidth - filled, '.').append("] ");
  }
  if (state.count > 0) line += hosted::grouped(state.count) + " ";
  line += state.stage;
  if (state.count > 0) {
    const double rate = static_cast<double>(state.count) / seconds;
    line += ", " +
            (rate < 10 ? hosted::fixed(rate, 1)
                       : hosted::grouped(static_cast<unsigned long long>(rate))) +
            " a second";
  }
  // Of less than a hundredth the time that is left would be a guess.
  if (state.share && *state.share >= 0.01) {
    line += ", " + duration(seconds * (1 - *state.share) / *state.share) + " left";
  }
  return line.substr(0, terminal_width(STDERR_FILENO) - 1);
}

void ProgressBar::show(const State& state) {
  if (!wanted_) return;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (seconds < kQuietSeconds) return;
  std::string line = line_of(state, seconds);
  if (line == shown_) return;
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
  shown_ = std::move(line);
}

int show_texts(void* bar, size_t done, size_t total) {
  const double share = static_cast<double>(done) / static_cast<double>(total);
  static_cast<ProgressBar*>(bar)->show({"texts", share, done});
  return 0;
}

}  // namespace embert::cli
