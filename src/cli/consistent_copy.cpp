#include "cli/consistent_copy.h"

#include "app/app.h"
#include "flows/operations/backups.h"

namespace coffer::cli {

Result<void> with_consistent_copy(const Session& session, const std::string& command,
                                  const ProgressFunction& progress,
                                  const std::function<void(const std::string&)>& use) {
  const std::string& path = session.app.database().path();
  if (!session.app.listeners().api_stats()) {
    use(path);
    return {};
  }
  const auto floor_mib = static_cast<std::uint64_t>(session.app.config().disk_floor_mib);
  auto done = flows::with_copy(session.app.flows(),
                               {.path = path + ".copy-" + command, .floor_bytes = floor_mib << 20},
                               progress, use);
  if (done || done.error().slug != Slug::storage_full) return done;
  return unexpected(Slug::storage_full,
                    "While a server runs, this command works on a copy of the database next to it, "
                    "for which the disk has too little free space. Free disk space, or stop the "
                    "server for this command.");
}

}  // namespace coffer::cli
