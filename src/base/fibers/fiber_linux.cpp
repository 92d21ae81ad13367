#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "base/fault.h"
#include "base/fibers/fiber.h"
#include "base/fibers/work_value.h"
#include "base/mutex.h"
#include "base/platform/process.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace coffer {
namespace {

// Address space; memory is used only for the part that was touched.
constexpr std::size_t kStackBytes = 1024 * 1024;

thread_local Fiber* running = nullptr;

/// Where a stack continues: frame, address and stack pointer, as the compiler saves them. Nothing
/// else differs between the stacks of coffer. In particular, all threads block the same signals, so
/// a switch does not save the signal mask as swapcontext does, with a system call each time.
using Place = std::array<void*, 5>;

[[gnu::noinline, noreturn]] void continue_at(Place& place) { __builtin_longjmp(place.data(), 1); }

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

/// Tells the sanitizers about stack switches. One for the body and one for the thread.
class Side {
 public:
#if defined(__SANITIZE_ADDRESS__)
  void is_stack(const void* bottom, std::size_t bytes) { bottom_ = bottom, bytes_ = bytes; }
  void is_present_thread() {}
  void switch_to(Side& other) {
    __sanitizer_start_switch_fiber(&fake_stack_, other.bottom_, other.bytes_);
  }
  void arrive_from(Side& other) {
    __sanitizer_finish_switch_fiber(fake_stack_, &other.bottom_, &other.bytes_);
  }
  void destroy() {}

 private:
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
#elif defined(__SANITIZE_THREAD__)
  void is_stack(const void*, std::size_t) { fiber_ = __tsan_create_fiber(0); }
  void is_present_thread() { fiber_ = __tsan_get_current_fiber(); }
  void switch_to(Side& other) { __tsan_switch_to_fiber(other.fiber_, 0); }
  void arrive_from(Side&) {}
  void destroy() { __tsan_destroy_fiber(fiber_); }

 private:
  void* fiber_ = nullptr;
#else
  void is_stack(const void*, std::size_t) {}
  void is_present_thread() {}
  void switch_to(Side&) {}
  void arrive_from(Side&) {}
  void destroy() {}
#endif
};

}  // namespace

struct Fiber::Stack {
  ~Stack() {
    if (memory != nullptr) ::munmap(memory, page_bytes() + kStackBytes);
  }

  void* memory = nullptr;
  ucontext_t first{};  // where the body begins
  bool entered = false;
  Place own{};
  Place thread{};  // of the thread that called `resume`
  Side own_side;
  Side thread_side;
  WorkValues values{};  // of the body, while it does not run; otherwise of the thread
  bool ended = false;
  bool (*leaves)(void*) = nullptr;
  void* argument = nullptr;

  [[gnu::noinline]] void to_thread() {
    own_side.switch_to(thread_side);
    if (__builtin_setjmp(own.data()) == 0) continue_at(thread);
    own_side.arrive_from(thread_side);
  }
  [[gnu::noinline]] void to_body() {
    thread_side.is_present_thread();
    thread_side.switch_to(own_side);
    if (__builtin_setjmp(thread.data()) == 0) {
      if (entered) continue_at(own);
      entered = true;
      ::setcontext(&first);
    }
    thread_side.arrive_from(own_side);
  }
};

Fiber::Fiber(std::function<void()> body, std::function<void()> on_ready)
    : body_(std::move(body)), on_ready_(std::move(on_ready)), stack_(std::make_unique<Stack>()) {
  Stack& stack = *stack_;
  const std::size_t guard = page_bytes();  // an overflow ends the process
  if (!has_spare_memory() || COFFER_FAULT_FAILS("fiber.stack")) throw std::bad_alloc();
  void* memory = ::mmap(nullptr, guard + kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  stack.memory = memory;
  if (::mprotect(memory, guard, PROT_NONE) != 0) throw std::bad_alloc();
  ::getcontext(&stack.first);
  stack.first.uc_stack.ss_sp = static_cast<char*>(memory) + guard;
  stack.first.uc_stack.ss_size = kStackBytes;
  stack.own_side.is_stack(stack.first.uc_stack.ss_sp, kStackBytes);
  // makecontext passes only integers, so the address is split into two halves.
  const auto enter = [](unsigned high, unsigned low) {
    reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low)->run();
  };
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&stack.first, reinterpret_cast<void (*)()>(+enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

Fiber::~Fiber() { stack_->own_side.destroy(); }

void Fiber::run() {
  stack_->own_side.arrive_from(stack_->thread_side);
  for (;;) {
    body_();
    stack_->ended = true;
    stack_->to_thread();
  }
}

bool Fiber::resume() {
  Stack& stack = *stack_;
  for (;;) {
    stack.ended = false;
    running = this;
    std::swap(work_values(), stack.values);
    stack.to_body();
    std::swap(work_values(), stack.values);
    running = nullptr;
    if (stack.ended) return true;
    if (stack.leaves(stack.argument)) return false;
  }
}

// Not inlined, because a compiler may keep the address of `running` across a wait.
[[gnu::noinline]] Fiber* Fiber::movable() {
  if (running == nullptr || held_mutexes != 0) return nullptr;
  const bool handles_exception =
      std::uncaught_exceptions() != 0 || std::current_exception() != nullptr;
  return handles_exception ? nullptr : running;
}

void Fiber::leave(bool (*leaves)(void*), void* argument) {
  stack_->leaves = leaves;
  stack_->argument = argument;
  stack_->to_thread();
}

}  // namespace coffer
