// Work with a stack of its own. While it waits for a Completion (base/fibers/completion.h), its
// thread does other work, and any thread can continue it. So a few threads serve many requests that
// wait for the same commit, and the commit wakes those threads instead of one thread per request.
//
// The body is ordinary code, with two rules. It uses thread_local variables only between waits;
// values that it needs for longer are in base/fibers/work_value.h. Exceptions must not leave it.
#pragma once

#include <functional>
#include <memory>

namespace coffer {

/// One at a time: the owner runs the body again and again. `resume` and the destructor may be
/// called from any thread, but not while the body runs or waits elsewhere.
class Fiber {
 public:
  /// `on_ready` is called when the body can continue after a wait, on the thread that completed
  /// what it waited for. It must arrange a call of `resume` and must not block.
  Fiber(std::function<void()> body, std::function<void()> on_ready);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body, from its beginning or from where it waits. Returns true when it has returned;
  /// false if it waits, in which case the fiber may run on another thread already.
  bool resume();

  /// The fiber whose body the calling thread runs, if it can leave the thread now; otherwise
  /// nullptr. It cannot while it holds a mutex, which only the same thread may unlock, nor while it
  /// handles an exception, which the C++ runtime keeps for each thread.
  static Fiber* movable();
  /// Called by the body of this fiber: leaves the thread, and returns after the next `resume`.
  /// `leaves(argument)` runs on the thread after the body has left. If it returns false, the body
  /// continues at once; after it has returned true, `make_ready` may be called.
  void leave(bool (*leaves)(void*), void* argument);
  void make_ready() { on_ready_(); }

 private:
  struct Stack;
  void run();

  const std::function<void()> body_;
  const std::function<void()> on_ready_;
  std::unique_ptr<Stack> stack_;
};

}  // namespace coffer
