#include "base/platform/processors.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace coffer {

int processors() { return static_cast<int>(std::max(2L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

std::int64_t thread_cpu_us() {
  struct timespec used {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * 1'000'000 + used.tv_nsec / 1'000;
}

}  // namespace coffer
