#include "store/commit_rider.h"

#include "base/check.h"

namespace coffer::store {
namespace {

thread_local CommitGuest* of_this_thread = nullptr;

}  // namespace

CommitGuest::CommitGuest() {
  COFFER_CHECK(of_this_thread == nullptr);
  of_this_thread = this;
}

CommitGuest::~CommitGuest() { leave(); }

void CommitGuest::leave() { of_this_thread = nullptr; }

CommitGuest* CommitGuest::present() { return of_this_thread; }

Result<void> CommitGuest::pass_on(CommitQueue& queue, const CommitQueue::Command& command) {
  leave();  // so that the queue runs it
  auto done = queue.run(command);
  of_this_thread = this;
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
  bool reached = false;
  auto done = pass_on(queue, [&](WriteTx& tx) -> Result<void> {
    COFFER_TRY_VOID(command(tx));
    reached = true;
    return unexpected(Slug::conflict);  // so that the queue undoes it
  });
  if (reached) throw Reached();
  return done;
}

}  // namespace coffer::store
