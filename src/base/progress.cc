#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace sotto {
namespace {

// Past the stream, which shows escape sequences instead of obeying them (base/terminal.h).
void Draw(const std::string& text) {
  const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
}

}  // namespace

std::string FormatDuration(double seconds) {
  const auto total = static_cast<long long>(std::llround(std::max(seconds, 0.0)));
  if (total >= 3600) {
    return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  }
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

Progress::Progress(std::string label, std::size_t total_items, double total_weight)
    : label_(std::move(label)),
      total_items_(total_items),
      total_weight_(std::max(total_weight, 1.0)),
      visible_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (visible_) Draw("\r\033[K");
}

void Progress::Done(double weight, double audio_seconds) {
  const std::lock_guard lock(mutex_);
  ++items_;
  weight_ += weight;
  audio_seconds_ += audio_seconds;
  if (!visible_) return;
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (elapsed - last_shown_ < 0.1 && items_ < total_items_) return;
  last_shown_ = elapsed;
  Draw("\r\033[K" + Printable(Line(elapsed)));
}

std::string Progress::Line(double elapsed_seconds) const {
  const double fraction = std::clamp(weight_ / total_weight_, 0.0, 1.0);
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(fraction * kWidth);
  std::string bar(static_cast<std::size_t>(filled), '#');
  bar.resize(kWidth, '.');
  std::string line =
      fmt::format("{} [{}] {}/{} {:3.0f}%", label_, bar, items_, total_items_, 100 * fraction);
  if (fraction > 0.0 && elapsed_seconds > 0.0) {
    line += fmt::format(", {} left", FormatDuration(elapsed_seconds * (1 - fraction) / fraction));
    if (audio_seconds_ > 0.0) {
      line += fmt::format(", {:.0f}x real time", audio_seconds_ / elapsed_seconds);
    }
  }
  return line;
}

}  // namespace sotto
