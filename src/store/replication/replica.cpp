#include "store/replication/replica.h"

#include <unistd.h>

#include <utility>

#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "store/replication/folder_log.h"
#include "store/replication/spool_log.h"

namespace coffer::store {
namespace {

constexpr std::string_view kFolderScheme = "folder:";

/// As for an unknown COMMIT: a response could turn one payment into two.
void end_process(const Appended& why) {
  log_error("replication", "this machine no longer leads, so the process exits without a response",
            {{"reason", why.why}});
  ::_exit(exit_code::kUncertain);
}

Result<std::unique_ptr<ReplicaLog>> open_log(LogPlace place, const std::string& ledger,
                                             Random& random) {
  if (is_postgres_url(place.where)) return PostgresLog::open(ledger, std::move(place));
  if (place.where.starts_with(kFolderScheme)) {
    return FolderLog::open(place.where.substr(kFolderScheme.size()) + '/' + ledger, random);
  }
  return unexpected(Slug::validation_failed, "\"" + place.where + "\" is not a log.");
}

}  // namespace

Result<std::unique_ptr<Replica>> Replica::open(LogPlace place, const Secret& root,
                                               const std::string& address, Random& random) {
  EntryKeys keys(root);
  COFFER_TRY(auto log, open_log(place, keys.ledger(), random));
  std::unique_ptr<Replica> out(new Replica(std::move(keys), std::move(log), address, random));
  // Each user has a connection of its own: a truncation takes longer than appends may wait.
  out->open_ = [&random, place = std::move(place), ledger = out->keys_.ledger()] {
    return open_log(place, ledger, random);
  };
  out->replication_.leader.truncate = [open = out->open_](std::int64_t seq) -> Result<void> {
    COFFER_TRY(const auto other, open());
    return other->truncate(seq);
  };
  return out;
}

std::unique_ptr<Replica> Replica::alone(const Secret& root, Random& random) {
  std::unique_ptr<Replica> out(
      new Replica(EntryKeys(root), std::make_unique<SpoolLog>(), {}, random));
  out->replication_.leader.alone = true;
  return out;
}

Result<ReplicaLog*> Replica::reader() {
  if (!open_) return log_.get();
  if (!read_) {
    COFFER_TRY(read_, open_());
  }
  return read_.get();
}

Replica::Replica(EntryKeys keys, std::unique_ptr<ReplicaLog> log, const std::string& address,
                 Random& random)
    : keys_(std::move(keys)),
      log_(std::move(log)),
      replication_{*log_, keys_, random, {.address = address, .end = end_process}} {}

}  // namespace coffer::store
