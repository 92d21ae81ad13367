#include "store/commit_rider.h"

#include <utility>

#include "base/check.h"

namespace coffer::store {
namespace {

thread_local CommitRider* of_this_thread = nullptr;

}  // namespace

CommitRider::CommitRider(CommitQueue::Command change) : change_(std::move(change)) {
  COFFER_CHECK(of_this_thread == nullptr);
  of_this_thread = this;
}

CommitRider::~CommitRider() { of_this_thread = nullptr; }

CommitRider* CommitRider::waiting() { return of_this_thread; }

Result<void> CommitRider::carry(CommitQueue& queue, const CommitQueue::Command& command) {
  of_this_thread = nullptr;
  auto done = queue.run([&](WriteTx& tx) -> Result<void> {
    COFFER_TRY_VOID(change_(tx));
    return command(tx);
  });
  if (done) {
    committed_ = true;
  } else {
    of_this_thread = this;
  }
  return done;
}

}  // namespace coffer::store
