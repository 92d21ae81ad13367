#include "store/replication/replica.h"

#include <unistd.h>

#include <utility>

#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "store/replication/folder_log.h"

namespace coffer::store {
namespace {

constexpr std::string_view kFolderScheme = "folder:";

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
  if (!where.starts_with(kFolderScheme)) {
    return unexpected(Slug::validation_failed,
                      "\"" + where + "\" is not a log. Use folder:PATH with an absolute path.");
  }
  COFFER_TRY(auto log,
             FolderLog::open(where.substr(kFolderScheme.size()) + '/' + keys.ledger(), random));
  return std::unique_ptr<Replica>(new Replica(std::move(keys), std::move(log), address, random));
}

Replica::Replica(EntryKeys keys, std::unique_ptr<ReplicaLog> log, const std::string& address,
                 Random& random)
    : keys_(std::move(keys)),
      log_(std::move(log)),
      replication_{*log_, keys_, random, {.address = address, .end = end_process}} {}

}  // namespace coffer::store
