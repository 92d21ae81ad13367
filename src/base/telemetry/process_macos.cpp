#include <libproc.h>
#include <unistd.h>

#include <vector>

#include "base/telemetry/process.h"

namespace coffer {
namespace {

std::optional<std::int64_t> count_descriptors() {
  const int guess = ::proc_pidinfo(::getpid(), PROC_PIDLISTFDS, 0, nullptr, 0);
  if (guess <= 0) return std::nullopt;
  std::vector<proc_fdinfo> found(static_cast<std::size_t>(guess) / sizeof(proc_fdinfo) + 1);
  const int bytes = ::proc_pidinfo(::getpid(), PROC_PIDLISTFDS, 0, found.data(),
                                   static_cast<int>(found.size() * sizeof(proc_fdinfo)));
  if (bytes <= 0) return std::nullopt;
  return bytes / static_cast<std::int64_t>(sizeof(proc_fdinfo));
}

}  // namespace

ProcessFigures figures_of_system() {
  ProcessFigures out;
  out.open_descriptors = count_descriptors();
  proc_taskallinfo all{};
  constexpr int kBytes = sizeof all;
  if (::proc_pidinfo(::getpid(), PROC_PIDTASKALLINFO, 0, &all, kBytes) != kBytes) return out;
  out.threads = all.ptinfo.pti_threadnum;
  out.virtual_bytes = all.ptinfo.pti_virtual_size;
  out.resident_bytes = all.ptinfo.pti_resident_size;
  out.start_seconds = static_cast<double>(all.pbsd.pbi_start_tvsec) +
                      static_cast<double>(all.pbsd.pbi_start_tvusec) / 1e6;
  return out;
}

}  // namespace coffer
