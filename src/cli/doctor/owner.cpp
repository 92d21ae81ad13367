#include "cli/doctor/owner.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "cli/control_client.h"
#include "cli/control_wire.h"
#include "store/file/held_file.h"
#include "store/file/lock_file.h"

namespace coffer::cli {
namespace {

/// The number at the first digit; 0 if there is no digit.
long leading_number(std::string_view text) {
  long value = 0;
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Owner find_owner(const std::string& database) {
  const store::LockState lock = store::lock_state(database);
  Owner owner{.told = lock.readable, .process = lock.process, .command = lock.command};
  // The lock file may have been removed.
  owner.locked = lock.locked || store::is_held(database);
  const int control = open_control_socket(control_socket_path(database), SocketRole::connect);
  if (control >= 0) ::close(control);
  owner.commanded = control >= 0;
  return owner;
}

std::optional<http::JsonValue> server_overview(const std::string& database, int timeout_ms) {
  std::ostringstream said;
  std::ostringstream ignored;
  const ControlRequest request{.command = "overview", .arguments = {}, .json = true};
  if (run_in_server(database, request, {said, ignored}, timeout_ms) != 0) return std::nullopt;
  auto parsed = http::parse_json(said.str());
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

std::optional<long> descriptor_limit(int process) {
  if (process == 0) {
    // A server raises its limit to the hard limit.
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
    return static_cast<long>(limit.rlim_max);
  }
#if defined(__linux__)
  std::ifstream limits("/proc/" + std::to_string(process) + "/limits");
  constexpr std::string_view kName = "Max open files";
  for (std::string line; std::getline(limits, line);) {
    if (line.starts_with(kName)) return leading_number(line.substr(kName.size()));
  }
  return std::nullopt;
#else
  return std::nullopt;  // unknown for other processes
#endif
}

}  // namespace coffer::cli
