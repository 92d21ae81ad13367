#include "base/limits/pace.h"

#include <algorithm>

#include "base/platform/processors.h"
#include "base/thread.h"

namespace coffer {
namespace {

constexpr std::int64_t kRestsPerCpu = 3;
constexpr std::int64_t kUsPerMs = 1'000;

}  // namespace

Pace::Pace() : cpu_us_(thread_cpu_us()) {}

std::int64_t Pace::rest_us(std::int64_t elapsed_us, std::int64_t cpu_us) {
  return std::max(kRestsPerCpu * cpu_us, elapsed_us);
}

std::int64_t Pace::rest_ms() {
  const std::int64_t cpu_us = thread_cpu_us();
  const std::int64_t out_ms = rest_us(watch_.elapsed_us(), cpu_us - cpu_us_) / kUsPerMs;
  if (out_ms == 0) return 0;
  watch_ = Stopwatch();
  cpu_us_ = cpu_us;
  return out_ms;
}

void Pace::rest() {
  const std::int64_t ms = rest_ms();
  if (ms == 0) return;
  coffer::rest(ms);
  watch_ = Stopwatch();
}

}  // namespace coffer
