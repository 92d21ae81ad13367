#include "cli/progress.h"

#include <algorithm>

#include "base/readable.h"
#include "base/text/columns.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";
constexpr std::int64_t kDrawEveryMs = 100;
constexpr std::int64_t kTellsRateMs = 1'000;  // an earlier rate would be unreliable
constexpr std::int64_t kBarWidth = 24;
constexpr std::int64_t kRedrawEveryMs = 1'000;
constexpr int kUsualColumns = 80;

const SystemClock kSystemClock;

/// 1234567 as `1,234,567`.
std::string grouped(std::int64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3;) out.insert(at -= 3, ",");
  return out;
}

std::string amount(std::int64_t number, Progress::Unit unit) {
  return unit == Progress::Unit::bytes ? readable_bytes(number) : grouped(number);
}

/// number * factor / divisor for non-negative numbers.
std::int64_t scaled(std::int64_t number, std::int64_t factor, std::int64_t divisor) {
  return static_cast<std::int64_t>(static_cast<long double>(number) *
                                   static_cast<long double>(factor) /
                                   static_cast<long double>(divisor));
}

std::string bar(const Progress& progress) {
  const std::int64_t done = std::clamp<std::int64_t>(progress.done, 0, progress.total);
  const std::int64_t percent = scaled(done, 100, progress.total);
  const auto full = static_cast<std::size_t>(percent * kBarWidth / 100);
  const std::string number = std::to_string(percent);
  return "[" + std::string(full, '#') + std::string(kBarWidth - full, '.') + "] " +
         std::string(3 - number.size(), ' ') + number + " %  ";
}

}  // namespace

std::string progress_text(const Progress& progress, std::int64_t elapsed_ms) {
  const bool known = progress.total > 0;
  std::string text = known ? bar(progress) : std::string();
  text += progress.what;
  if (progress.done > 0 || known) text += "  " + amount(progress.done, progress.unit);
  if (known) text += " of " + amount(progress.total, progress.unit);
  if (elapsed_ms < kTellsRateMs) return text;
  if (progress.done > 0 && progress.unit != Progress::Unit::steps) {
    text += "  " + amount(scaled(progress.done, 1'000, elapsed_ms), progress.unit) + "/s";
  }
  if (!known || progress.done == 0) return text + "  " + readable_duration(elapsed_ms);
  if (progress.done >= progress.total) return text;
  const std::int64_t left_ms = scaled(progress.total - progress.done, elapsed_ms, progress.done);
  return text + "  " + readable_duration((left_ms / 1'000 + 1) * 1'000) + " left";
}

ProgressLine::ProgressLine(const Console& console, Interruption& interruption)
    : ProgressLine(console, interruption, kSystemClock) {
  if (console.progress) redrawing_ = Thread("progress", [this] { redraw(); });
}

ProgressLine::~ProgressLine() {
  {
    const Lock lock(mutex_);
    over_ = true;
    ended_.notify_all();
    if (drawn_) console_.err << kClearLine << std::flush;
  }
  redrawing_.join();
}

void ProgressLine::redraw() {
  const Lock lock(mutex_);
  while (!over_) {
    ended_.wait_for_ms(mutex_, kRedrawEveryMs);
    if (!over_ && drawn_ && clock_.monotonic_ms() - drawn_ms_ >= kRedrawEveryMs) draw();
  }
}

void ProgressLine::draw() {
  const std::int64_t now_ms = clock_.monotonic_ms();
  Progress progress = last_;
  progress.what = what_;
  const int columns = console_.columns > 0 ? console_.columns : kUsualColumns;
  // One column less, because a full line may wrap.
  console_.err << kClearLine
               << cut_to(progress_text(progress, now_ms - began_ms_),
                         static_cast<std::size_t>(columns - 1))
               << std::flush;
  drawn_ms_ = now_ms;
  drawn_ = true;
}

void ProgressLine::show(const Progress& progress) {
  if (interruption_.requested()) throw Stopped{kServerStops};
  if (!console_.progress) return;
  const Lock lock(mutex_);
  if (!console_.err) throw Stopped{kOutputFails};
  const std::int64_t now_ms = clock_.monotonic_ms();
  // All steps belong to one phase; rows and bytes have their own rates.
  const bool steps = progress.unit == Progress::Unit::steps;
  const bool renamed = progress.what != what_;
  const bool same = progress.unit == last_.unit && progress.total == last_.total &&
                    progress.done >= last_.done && (steps || !renamed);
  if (!drawn_ || !same) began_ms_ = now_ms;
  what_ = progress.what;
  last_ = {{}, progress.done, progress.total, progress.unit};
  if (!drawn_ || renamed || now_ms - drawn_ms_ >= kDrawEveryMs) draw();
}

}  // namespace coffer::cli
