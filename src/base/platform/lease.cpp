#include "base/platform/lease.h"

#include <unistd.h>

#include <atomic>
#include <ctime>

#include "base/platform/exit_code.h"

namespace coffer {
namespace {

constexpr std::int64_t kNoLease = INT64_MAX;
std::atomic<std::int64_t> lease_until{kNoLease};

}  // namespace

std::int64_t boot_ms() {
#if defined(__linux__)
  constexpr clockid_t kClock = CLOCK_BOOTTIME;
#else
  constexpr clockid_t kClock = CLOCK_MONOTONIC;  // counts while macOS sleeps
#endif
  timespec now{};
  ::clock_gettime(kClock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000 + now.tv_nsec / 1'000'000;
}

void hold_lease_until(std::int64_t until_boot_ms) { lease_until = until_boot_ms; }
void end_lease() { lease_until = kNoLease; }

bool lease_holds() {
  const std::int64_t until = lease_until.load(std::memory_order_relaxed);
  return until == kNoLease || boot_ms() < until;
}

void require_lease() {
  if (!lease_holds()) ::_exit(exit_code::kUncertain);
}

}  // namespace coffer
