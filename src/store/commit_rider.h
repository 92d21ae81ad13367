// A change that is stored together with the next commit of the current work
// (base/fibers/work_value.h).
#pragma once

#include <utility>

#include "base/check.h"
#include "base/fibers/work_value.h"
#include "store/commit_queue.h"

namespace coffer::store {

/// While it exists, the first command that this work commits also runs `change`, before its own
/// changes or after them, in the same transaction. A Problem of either undoes both, and the rider
/// waits for the next command. Commands of other work and dry runs do not carry it. At most one
/// exists at a time.
class CommitRider {
 public:
  enum class Runs { before, after };
  explicit CommitRider(CommitQueue::Command change, Runs runs = Runs::before)
      : change_(std::move(change)), runs_(runs) {
    COFFER_CHECK(present() == nullptr);
    set(this);
  }
  ~CommitRider() { set(nullptr); }
  CommitRider(const CommitRider&) = delete;
  CommitRider& operator=(const CommitRider&) = delete;

  /// While it exists, the commits of this work do not carry the change: they prepare the command,
  /// such as its quote, and stay if it fails.
  class Aside {
   public:
    Aside() : rider_(present()) { set(nullptr); }
    ~Aside() { set(rider_); }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    CommitRider* const rider_;
  };

  /// Whether a commit contains the change.
  bool committed() const { return committed_; }

 private:
  friend class CommitQueue;
  static void set(CommitRider* rider) {
    work_value(WorkValue::commit_rider) = reinterpret_cast<std::uintptr_t>(rider);
  }
  /// The rider of the current work, or nullptr.
  static CommitRider* present() {
    return reinterpret_cast<CommitRider*>(work_value(WorkValue::commit_rider));
  }
  /// Runs the command in place of the queue.
  Result<void> carry(CommitQueue& queue, const CommitQueue::Command& command) {
    set(nullptr);  // the queue then runs the command
    auto done = queue.run([&](WriteTx& tx) -> Result<void> {
      const bool first = runs_ == Runs::before;
      COFFER_TRY_VOID(first ? change_(tx) : command(tx));
      return first ? command(tx) : change_(tx);
    });
    committed_ = done.has_value();
    if (!committed_) set(this);
    return done;
  }

  const CommitQueue::Command change_;
  const Runs runs_;
  bool committed_ = false;
};

}  // namespace coffer::store
