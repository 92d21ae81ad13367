// Work with its own stack. While it waits for a Completion (base/fibers/completion.h), its thread
// does other work, and any thread can continue it. A few threads can therefore serve many requests
// that wait for the same commit, and the commit wakes those few threads instead of one thread per
// request.
//
// The body is ordinary code, with two rules. It uses thread_local variables only between waits;
// values that it needs for longer are in base/fibers/work_value.h. Exceptions must not leave it.
#pragma once

#include <functional>
#include <memory>

namespace coffer {

/// Reusable: after the body has returned, the next `resume` runs it again. `resume` and the
/// destructor may be called from any thread, but not while the body runs or waits.
class Fiber {
 public:
  /// `on_ready` is called when the body can continue after a wait, on the thread that completed
  /// what it waited for. It must arrange a call of `resume` and must not block. Throws
  /// std::bad_alloc if there is no memory for the stack.
  Fiber(std::function<void()> body, std::function<void()> on_ready);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body from its beginning or from where it waits. Returns true when the body has
  /// returned, and false if it waits; the fiber may then already be running on another thread.
  bool resume();

  /// The fiber that the calling thread runs, if it can leave the thread now; otherwise nullptr. It
  /// cannot leave while it holds a mutex, which only the same thread may unlock, or while it
  /// handles an exception, whose state the C++ runtime keeps per thread.
  static Fiber* movable();
  /// Called by the body of this fiber: leaves the thread, and returns after the next `resume`.
  /// `leaves(argument)` runs on the thread after the body has left. If it returns false, the body
  /// continues immediately. If it returns true, `make_ready` may be called.
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
