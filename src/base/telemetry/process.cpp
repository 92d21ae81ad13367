#include "base/telemetry/process.h"

#include <sys/resource.h>

namespace coffer {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ProcessFigures read_process_figures() {
  ProcessFigures out = figures_of_system();
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    out.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    out.max_descriptors = static_cast<std::int64_t>(limit.rlim_cur);
  }
  return out;
}

}  // namespace coffer
