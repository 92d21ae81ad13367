#include "cli/progress.h"

#include <algorithm>

namespace coffer::cli {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";
constexpr std::int64_t kBarWidth = 24;

}  // namespace

ProgressLine::~ProgressLine() {
  if (!shown_.empty()) console_.err << kClearLine << std::flush;
}

void ProgressLine::show(std::string_view what, std::int64_t done, std::int64_t total) {
  if (interruption_.requested()) throw Stopped();
  if (!console_.progress) return;
  const std::int64_t percent =
      total > 0 ? std::clamp<std::int64_t>(done * 100 / total, 0, 100) : 100;
  const auto full = static_cast<std::size_t>(percent * kBarWidth / 100);
  std::string line = "[" + std::string(full, '#') +
                     std::string(static_cast<std::size_t>(kBarWidth) - full, '.') + "] " +
                     std::to_string(percent) + " % " + std::string(what);
  if (line == shown_) return;
  console_.err << kClearLine << line << std::flush;
  if (!console_.err) throw Stopped();  // whoever asked is gone
  shown_ = std::move(line);
}

}  // namespace coffer::cli
