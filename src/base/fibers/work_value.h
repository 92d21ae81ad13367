// Values of the work that a thread currently does, such as the fields of its log lines. Unlike
// thread_local variables, they stay with a fiber when it continues on another thread
// (base/fibers/fiber.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace coffer {

/// The purpose of each value.
enum class WorkValue { log_scope, commit_rider, readers };

/// Zero at the start of a thread and of a fiber.
using WorkValues = std::array<std::uintptr_t, 3>;

/// The values of the calling thread's current work. Do not keep the reference: after a call that
/// waits, it may belong to other work.
WorkValues& work_values();

inline std::uintptr_t& work_value(WorkValue which) {
  return work_values()[static_cast<std::size_t>(which)];
}

}  // namespace coffer
