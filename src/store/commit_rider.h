// Hooks into the commits of the current work (base/fibers/work_value.h): a change that is stored
// together with the next commit, or a trial that stores nothing.
#pragma once

#include <utility>

#include "store/commit_queue.h"

namespace coffer::store {

/// Runs the commands of the current work in place of the queue, except dry runs. At most one guest
/// exists at a time.
class CommitGuest {
 public:
  CommitGuest(const CommitGuest&) = delete;
  CommitGuest& operator=(const CommitGuest&) = delete;

 protected:
  CommitGuest();
  virtual ~CommitGuest();
  /// Runs the command as the queue does.
  Result<void> pass_on(CommitQueue& queue, const CommitQueue::Command& command);
  /// From now on, the queue runs the commands of the work.
  static void leave();

 private:
  friend class CommitQueue;
  void enter();
  /// The guest of the current work, or nullptr.
  static CommitGuest* present();
  virtual Result<void> carry(CommitQueue& queue, const CommitQueue::Command& command) = 0;
};

/// While it exists, the first command that this work commits also runs `change`, before its own
/// changes and in the same transaction. A Problem of either undoes both, and the rider waits for
/// the next command. Commands of other work and dry runs do not carry it.
class CommitRider final : private CommitGuest {
 public:
  explicit CommitRider(CommitQueue::Command change) : change_(std::move(change)) {}

  /// Whether a commit contains the change.
  bool committed() const { return committed_; }

 private:
  Result<void> carry(CommitQueue& queue, const CommitQueue::Command& command) override;

  const CommitQueue::Command change_;
  bool committed_ = false;
};

/// While it exists, the current work commits nothing. The first command that would be committed is
/// run and undone. If it succeeded, it returns a Problem all the same, as do all later ones, so
/// that the work ends as after any failed commit. A command with a Problem returns it as usual.
class CommitTrial final : private CommitGuest {
 public:
  /// Whether the work has succeeded up to its first commit. Its result then says nothing.
  bool reached() const { return reached_; }

 private:
  Result<void> carry(CommitQueue& queue, const CommitQueue::Command& command) override;

  bool reached_ = false;
};

}  // namespace coffer::store
