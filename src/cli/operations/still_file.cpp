#include "cli/operations/still_file.h"

#include "app/app.h"
#include "flows/operations/backups.h"

namespace coffer::cli {

Result<void> with_still_file(const Session& session, const ProgressFunction& progress,
                             const std::function<void(const std::string&)>& use) {
  const std::string& path = session.app.database().path();
  if (!session.app.server_stats()) {
    use(path);
    return {};
  }
  const auto floor_mib = static_cast<std::uint64_t>(session.app.config().disk_floor_mib);
  return flows::with_copy(session.app.flows(),
                          {.path = path + ".copy", .floor_bytes = floor_mib << 20}, progress, use);
}

}  // namespace coffer::cli
