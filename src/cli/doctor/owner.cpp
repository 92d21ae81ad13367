#include "cli/doctor/owner.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>

#include "cli/control_wire.h"
#include "store/file/held_file.h"

namespace coffer::cli {
namespace {

/// The number at the first digit; 0 if there is no digit.
template <class Integer>
Integer leading_number(std::string_view text) {
  Integer value = 0;
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Owner find_owner(const std::string& database) {
  Owner owner;
  const int fd = ::open((database + ".lock").c_str(), O_RDONLY | O_CLOEXEC);
  owner.told = fd >= 0 || (errno != EACCES && errno != EPERM);
  if (fd >= 0) {
    // Takes a shared lock and releases it immediately, so that a server that is starting does not
    // fail.
    owner.locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    char text[32] = {};
    const ssize_t size = owner.locked ? ::pread(fd, text, sizeof text, 0) : 0;
    if (size > 0) owner.process = leading_number<int>({text, static_cast<std::size_t>(size)});
    ::close(fd);
  }
  // The lock file may have been removed.
  owner.locked = owner.locked || store::is_held(database);
  const int control = open_control_socket(control_socket_path(database), SocketRole::connect);
  if (control >= 0) ::close(control);
  owner.commanded = control >= 0;
  return owner;
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
    if (line.starts_with(kName)) return leading_number<long>(line.substr(kName.size()));
  }
  return std::nullopt;
#else
  return std::nullopt;  // unknown for other processes
#endif
}

}  // namespace coffer::cli
