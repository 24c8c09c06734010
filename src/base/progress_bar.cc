#include "base/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "base/text.h"

namespace sotto {
namespace {

// Past the stream, which shows escape sequences instead of obeying them (base/terminal.h).
void Draw(const std::string& text) {
  const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
}

class Bar {
 public:
  void Show(const RunProgress& now) {
    using Clock = std::chrono::steady_clock;
    if (now.ended) return Draw("\r\033[K");
    if (now.done == 0) {
      start_ = Clock::now();
      last_shown_ = -1.0;
      return;
    }
    const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
    if (elapsed - last_shown_ < 0.1 && now.done < now.total) return;
    last_shown_ = elapsed;
    Draw("\r\033[K" + Printable(ProgressLine(now, elapsed)));
  }

 private:
  std::chrono::steady_clock::time_point start_{};
  double last_shown_ = -1.0;  // seconds after the start
};

}  // namespace

std::string FormatDuration(double seconds) {
  const auto total = static_cast<long long>(std::llround(std::max(seconds, 0.0)));
  if (total >= 3600) {
    return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  }
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string ProgressLine(const RunProgress& now, double elapsed_seconds) {
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(now.fraction * kWidth);
  std::string bar(static_cast<std::size_t>(filled), '#');
  bar.resize(kWidth, '.');
  std::string line =
      fmt::format("{} [{}] {}/{} {:3.0f}%", now.task, bar, now.done, now.total, 100 * now.fraction);
  if (now.fraction > 0.0 && elapsed_seconds > 0.0) {
    line += fmt::format(", {} left",
                        FormatDuration(elapsed_seconds * (1 - now.fraction) / now.fraction));
    if (now.audio_seconds > 0.0) {
      line += fmt::format(", {:.0f}x real time", now.audio_seconds / elapsed_seconds);
    }
  }
  return line;
}

RunWatch ProgressBar() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return {.progress = [bar = std::make_shared<Bar>()](const RunProgress& now) { bar->Show(now); },
          .cancelled = {}};
}

}  // namespace sotto
