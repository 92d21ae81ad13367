// The number of processors, and the processor time of a thread.
#pragma once

#include <cstdint>

namespace coffer {

/// At least two, because one thread may be waiting in the kernel. Thread-safe.
int processors();

/// Processor time used by the calling thread, in microseconds.
std::int64_t thread_cpu_us();

}  // namespace coffer
