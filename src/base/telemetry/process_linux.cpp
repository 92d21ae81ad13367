#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/telemetry/process.h"

namespace coffer {
namespace {

namespace fs = std::filesystem;

/// The fields of /proc/self/stat after the process name, which may contain any characters. The
/// first one is field 3.
std::vector<std::string> stat_fields() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(text.substr(end_of_name + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

std::optional<double> boot_seconds() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double value = 0;
    if (word == "btime" && file >> value) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> count_entries(const char* folder) {
  std::error_code error;
  std::int64_t count = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    ++count;
  }
  if (error) return std::nullopt;
  return count - 1;  // without the descriptor that reads the folder
}

}  // namespace

ProcessFigures figures_of_system() {
  ProcessFigures out;
  out.open_descriptors = count_entries("/proc/self/fd");
  constexpr std::size_t kThreads = 20 - 3, kStart = 22 - 3, kVirtual = 23 - 3, kResident = 24 - 3;
  const auto fields = stat_fields();
  if (fields.size() <= kResident) return out;
  out.threads = std::stoll(fields[kThreads]);
  out.virtual_bytes = std::stoull(fields[kVirtual]);
  out.resident_bytes =
      std::stoull(fields[kResident]) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto boot = boot_seconds();
  if (boot) {
    out.start_seconds =
        *boot + std::stod(fields[kStart]) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return out;
}

}  // namespace coffer
