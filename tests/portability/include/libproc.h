// The part of macOS's libproc that coffer's macOS code uses; stand_ins.cpp fills it from /proc.
#pragma once

#include <cstdint>

#define PROC_PIDLISTFDS 1
#define PROC_PIDTASKALLINFO 2

struct proc_fdinfo {
  std::int32_t proc_fd;
  std::uint32_t proc_fdtype;
};
struct proc_bsdinfo {
  std::uint64_t pbi_start_tvsec;
  std::uint64_t pbi_start_tvusec;
};
struct proc_taskinfo {
  std::uint64_t pti_virtual_size;
  std::uint64_t pti_resident_size;
  std::int32_t pti_threadnum;
};
struct proc_taskallinfo {
  proc_bsdinfo pbsd;
  proc_taskinfo ptinfo;
};

extern "C" int proc_pidinfo(int pid, int flavor, std::uint64_t argument, void* out, int bytes);
