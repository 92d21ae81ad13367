// A change that is stored together with the next change of the same thread, whatever that one is.
#pragma once

#include "store/commit_queue.h"

namespace coffer::store {

/// While it exists, the first command that this thread commits also runs `change`, before its own
/// changes and in the same transaction. A Problem of either undoes both, and the rider waits for
/// the next command. Commands of other threads and dry runs do not carry it.
class CommitRider {
 public:
  explicit CommitRider(CommitQueue::Command change);
  ~CommitRider();
  CommitRider(const CommitRider&) = delete;
  CommitRider& operator=(const CommitRider&) = delete;

  /// Whether a commit contains the change.
  bool committed() const { return committed_; }

 private:
  friend class CommitQueue;
  /// The waiting rider of this thread, or nullptr.
  static CommitRider* waiting();
  Result<void> carry(CommitQueue& queue, const CommitQueue::Command& command);

  const CommitQueue::Command change_;
  bool committed_ = false;
};

}  // namespace coffer::store
