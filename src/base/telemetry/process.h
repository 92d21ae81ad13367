// Figures of this process from the operating system, for /metrics.
#pragma once

#include <cstdint>
#include <optional>

namespace coffer {

/// A figure that the system does not provide is empty.
struct ProcessFigures {
  double cpu_seconds = 0;               // user and system
  std::optional<double> start_seconds;  // since 1970
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> virtual_bytes;
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> open_descriptors;
  std::optional<std::int64_t> max_descriptors;
};
ProcessFigures read_process_figures();
/// The figures that are read differently on each system.
ProcessFigures figures_of_system();

}  // namespace coffer
