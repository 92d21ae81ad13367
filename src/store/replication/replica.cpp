#include "store/replication/replica.h"

#include <unistd.h>

#include <utility>

#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "store/replication/folder_log.h"

namespace coffer::store {
namespace {

constexpr std::string_view kFolderScheme = "folder:";

Result<std::unique_ptr<ReplicaLog>> open_log(const std::string& where, const EntryKeys& keys,
                                             Random& random) {
  if (!where.starts_with(kFolderScheme)) {
    return unexpected(Slug::validation_failed,
                      "\"" + where + "\" is not a log. Use folder:PATH with an absolute path.");
  }
  return FolderLog::open(where.substr(kFolderScheme.size()) + '/' + keys.ledger(), random);
}

/// As for an unknown COMMIT: a response could turn one payment into two.
void end_process(const Appended& why) {
  log_error("replication", "this machine no longer leads, so the process exits without a response",
            {{"reason", why.why}});
  ::_exit(exit_code::kUncertain);
}

}  // namespace

Result<std::unique_ptr<Replica>> Replica::open(const std::string& where, const Secret& root,
                                               const std::string& address, Random& random) {
  EntryKeys keys(root);
  COFFER_TRY(auto log, open_log(where, keys, random));
  std::unique_ptr<Replica> out(new Replica(std::move(keys), std::move(log), address, random));
  // With a connection of its own, because a truncation takes longer than appends may wait.
  out->replication_.leader.truncate = [&, where,
                                       keys = &out->keys_](std::int64_t seq) -> Result<void> {
    COFFER_TRY(const auto other, open_log(where, *keys, random));
    return other->truncate(seq);
  };
  return out;
}

Replica::Replica(EntryKeys keys, std::unique_ptr<ReplicaLog> log, const std::string& address,
                 Random& random)
    : keys_(std::move(keys)),
      log_(std::move(log)),
      replication_{*log_, keys_, random, {.address = address, .end = end_process}} {}

}  // namespace coffer::store
