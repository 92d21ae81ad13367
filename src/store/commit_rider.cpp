#include "store/commit_rider.h"

#include "base/check.h"
#include "base/fibers/work_value.h"

namespace coffer::store {
namespace {

void set_rider(CommitRider* rider) {
  work_value(WorkValue::commit_rider) = reinterpret_cast<std::uintptr_t>(rider);
}

}  // namespace

CommitRider::CommitRider(CommitQueue::Command change) : change_(std::move(change)) {
  COFFER_CHECK(present() == nullptr);
  set_rider(this);
}

CommitRider::~CommitRider() { set_rider(nullptr); }

CommitRider* CommitRider::present() {
  return reinterpret_cast<CommitRider*>(work_value(WorkValue::commit_rider));
}

Result<void> CommitRider::carry(CommitQueue& queue, const CommitQueue::Command& command) {
  set_rider(nullptr);  // the queue then runs the command
  auto done = queue.run([&](WriteTx& tx) -> Result<void> {
    COFFER_TRY_VOID(change_(tx));
    return command(tx);
  });
  committed_ = done.has_value();
  if (!committed_) set_rider(this);
  return done;
}

}  // namespace coffer::store
