// Free space on the disk of the database: below the floor, the queue rejects writes.
#include "base/fault.h"
#include "base/telemetry/log.h"
#include "store/commit_queue.h"

namespace coffer::store {
namespace {

constexpr std::int64_t kDiskCheckEveryMs = 250;

}  // namespace

/// Checks before writing, so that the disk always has room for the recovery of the file.
bool CommitQueue::disk_is_full() {
  const std::int64_t now = clock_.monotonic_ms();
  if (!storage_full_ && disk_checked_ms_ >= 0 && now - disk_checked_ms_ < kDiskCheckEveryMs) {
    return false;
  }
  disk_checked_ms_ = now;
  if (has_room()) return false;  // Only a stored batch proves that there is enough space.
  note_full(true);
  return true;
}

bool CommitQueue::has_room() const {
  return database_.free_bytes() >= options_.disk_floor_bytes && !COFFER_FAULT_FAILS("disk.full");
}

void CommitQueue::note_full(bool full) {
  if (full == storage_full_) return;
  storage_full_ = full;
  full ? log_error("store", "disk is full, rejecting writes",
                   {{"free", database_.free_bytes()}, {"disk_floor", options_.disk_floor_bytes}})
       : log_info("store", "disk has free space again, accepting writes");
}

}  // namespace coffer::store
