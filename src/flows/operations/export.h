// Exports all data of the file as lines of JSON (NDJSON).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/telemetry/progress.h"

namespace coffer::flows {

struct ExportSink {
  std::function<void(const std::string& line)> line;  // with its line feed; may throw to stop
  ProgressFunction progress;
};

/// Exports one consistent state in constant memory, on a separate connection. Returns (type, lines)
/// in order. Throws SqlError.
std::vector<std::pair<std::string, std::int64_t>> export_everything(const std::string& database,
                                                                    const ExportSink& sink);

}  // namespace coffer::flows
