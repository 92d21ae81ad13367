#include "store/commit_rider.h"

#include "base/check.h"
#include "base/fibers/work_value.h"

namespace coffer::store {

CommitGuest::CommitGuest() {
  COFFER_CHECK(present() == nullptr);
  enter();
}

CommitGuest::~CommitGuest() { leave(); }

void CommitGuest::enter() {
  work_value(WorkValue::commit_guest) = reinterpret_cast<std::uintptr_t>(this);
}

void CommitGuest::leave() { work_value(WorkValue::commit_guest) = 0; }

CommitGuest* CommitGuest::present() {
  return reinterpret_cast<CommitGuest*>(work_value(WorkValue::commit_guest));
}

Result<void> CommitGuest::pass_on(CommitQueue& queue, const CommitQueue::Command& command) {
  leave();  // the queue then runs the command
  auto done = queue.run(command);
  enter();
  return done;
}

Result<void> CommitRider::carry(CommitQueue& queue, const CommitQueue::Command& command) {
  auto done = pass_on(queue, [&](WriteTx& tx) -> Result<void> {
    COFFER_TRY_VOID(change_(tx));
    return command(tx);
  });
  committed_ = done.has_value();
  if (committed_) leave();
  return done;
}

Result<void> CommitTrial::carry(CommitQueue& queue, const CommitQueue::Command& command) {
  if (!reached_) {
    COFFER_TRY_VOID(queue.run(command, CommitQueue::Mode::dry_run));
    reached_ = true;
  }
  return unexpected(Slug::conflict, "This is a trial, which stores nothing.");
}

}  // namespace coffer::store
