#include "base/fibers/work_value.h"

namespace coffer {
namespace {

thread_local WorkValues of_this_thread{};

}  // namespace

// Not inlined, because a compiler may keep the address of a thread_local variable across a call in
// which the work moves to another thread.
[[gnu::noinline]] WorkValues& work_values() { return of_this_thread; }

}  // namespace coffer
