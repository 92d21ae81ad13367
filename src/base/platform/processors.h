// The processors: how many threads can run at once, and how long this one has.
#pragma once

#include <cstdint>

namespace coffer {

/// At least two: one of them may be asleep in the kernel. Any thread.
int processors();

/// Processor time that the calling thread has used so far, in microseconds.
std::int64_t thread_cpu_us();

}  // namespace coffer
