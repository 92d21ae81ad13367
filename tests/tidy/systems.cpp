// Linux and macOS: every use of something that exists on one system only needs its counterpart.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rules.h"

namespace tidy {
namespace {

enum class System {
  any,
  linux,
  macos,
  either,   // both systems have the name with different meanings
  library,  // a name of a library, such as the GNU C library, which has its own condition
};

struct Name {
  std::string_view text;
  System system;
};

constexpr auto kHeaders = std::to_array<Name>({
    {"sys/epoll.h", System::linux},   {"sys/eventfd.h", System::linux},
    {"sys/timerfd.h", System::linux}, {"sys/signalfd.h", System::linux},
    {"sys/inotify.h", System::linux}, {"sys/prctl.h", System::linux},
    {"sys/vfs.h", System::linux},     {"sys/statfs.h", System::linux},
    {"sys/random.h", System::linux},  {"sys/sendfile.h", System::linux},
    {"sys/sysinfo.h", System::linux}, {"sys/auxv.h", System::linux},
    {"sys/syscall.h", System::linux}, {"endian.h", System::linux},
    {"byteswap.h", System::linux},    {"malloc.h", System::library},
    {"nss.h", System::library},       {"sys/event.h", System::macos},
    {"libproc.h", System::macos},     {"sys/proc_info.h", System::macos},
    {"sys/mount.h", System::macos},   {"sys/sysctl.h", System::macos},
});

constexpr auto kNames = std::to_array<Name>({
    {"epoll_create", System::linux},
    {"epoll_create1", System::linux},
    {"epoll_ctl", System::linux},
    {"epoll_wait", System::linux},
    {"epoll_pwait", System::linux},
    {"eventfd", System::linux},
    {"eventfd_read", System::linux},
    {"eventfd_write", System::linux},
    {"timerfd_create", System::linux},
    {"signalfd", System::linux},
    {"inotify_init1", System::linux},
    {"accept4", System::linux},
    {"pipe2", System::linux},
    {"dup3", System::linux},
    {"renameat2", System::linux},
    {"RENAME_NOREPLACE", System::linux},
    {"SO_PEERCRED", System::linux},
    {"ucred", System::linux},
    {"MSG_NOSIGNAL", System::linux},
    {"MSG_MORE", System::linux},
    {"SOCK_CLOEXEC", System::linux},
    {"SOCK_NONBLOCK", System::linux},
    {"POLLRDHUP", System::linux},
    {"TCP_USER_TIMEOUT", System::linux},
    {"TCP_KEEPIDLE", System::linux},
    {"TCP_DEFER_ACCEPT", System::linux},
    {"TCP_QUICKACK", System::linux},
    {"O_PATH", System::linux},
    {"O_TMPFILE", System::linux},
    {"O_DIRECT", System::linux},
    {"prctl", System::linux},
    {"syscall", System::linux},
    {"gettid", System::linux},
    {"sched_getaffinity", System::linux},
    {"sched_setaffinity", System::linux},
    {"pthread_setaffinity_np", System::linux},
    {"fdatasync", System::linux},
    {"syncfs", System::linux},
    {"sync_file_range", System::linux},
    {"fallocate", System::linux},
    {"posix_fallocate", System::linux},
    {"posix_fadvise", System::linux},
    {"splice", System::linux},
    {"copy_file_range", System::linux},
    {"memfd_create", System::linux},
    {"getrandom", System::linux},
    {"getauxval", System::linux},
    {"ppoll", System::linux},
    {"sigtimedwait", System::linux},
    {"sigwaitinfo", System::linux},
    {"clock_nanosleep", System::linux},
    {"CLOCK_BOOTTIME", System::linux},
    {"CLOCK_MONOTONIC_COARSE", System::linux},
    {"CLOCK_REALTIME_COARSE", System::linux},
    {"adjtimex", System::linux},
    {"st_atim", System::linux},
    {"st_mtim", System::linux},
    {"st_ctim", System::linux},
    {"secure_getenv", System::linux},
    {"explicit_bzero", System::linux},
    {"program_invocation_name", System::linux},
    {"program_invocation_short_name", System::linux},
    {"posix_spawn_file_actions_addclosefrom_np", System::linux},
    {"mallopt", System::library},
    {"malloc_trim", System::library},
    {"mallinfo2", System::library},
    {"__nss_configure_lookup", System::library},
    {"kqueue", System::macos},
    {"kevent", System::macos},
    {"proc_pidinfo", System::macos},
    {"renamex_np", System::macos},
    {"F_FULLFSYNC", System::macos},
    {"F_BARRIERFSYNC", System::macos},
    {"getpeereid", System::macos},
    {"SO_NOSIGPIPE", System::macos},
    {"arc4random_buf", System::macos},
    {"st_mtimespec", System::macos},
    {"st_ctimespec", System::macos},
    {"f_fstypename", System::macos},
    {"POSIX_SPAWN_CLOEXEC_DEFAULT", System::macos},
    {"fsync", System::either},
    {"sendfile", System::either},
    {"pthread_setname_np", System::either},
});

constexpr std::array<std::string_view, 3> kPlaces = {"/proc/", "/sys/", "/run/systemd/"};

/// The lines between two directives of one #if.
struct Branch {
  int from = 0;
  int to = 0;
  System system = System::any;
  bool has_other = false;
};

System opposite(System system) {
  if (system == System::linux) return System::macos;
  return system == System::macos ? System::linux : System::any;
}

System system_of(std::string_view condition) {
  const bool negated = condition.find('!') != std::string_view::npos;
  System system = System::any;
  if (condition.find("__linux__") != std::string_view::npos) system = System::linux;
  if (condition.find("__APPLE__") != std::string_view::npos) system = System::macos;
  if (condition.find("__GLIBC__") != std::string_view::npos ||
      condition.find("__has_include") != std::string_view::npos) {
    system = System::library;
  }
  return negated ? opposite(system) : system;
}

/// The word after the # of a directive; empty for any other line.
std::string_view directive_in(std::string_view line) {
  const auto hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') return {};
  const auto found = words(line.substr(hash));
  return found.empty() ? std::string_view() : found.front().text;
}

void close_branch(std::vector<Branch>& chain, int line) {
  if (!chain.empty() && chain.back().to == 0) chain.back().to = line;
}

std::vector<Branch> branches_of(std::string_view text) {
  std::vector<Branch> out;
  std::vector<std::vector<Branch>> open;
  int number = 1;
  for (std::size_t at = 0; at <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::string_view word = directive_in(line);
    at = end + 1;
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      open.push_back({{number, 0, system_of(line), false}});
    } else if (!open.empty() && (word == "elif" || word == "else")) {
      std::vector<Branch>& chain = open.back();
      const System other = opposite(chain.front().system);
      close_branch(chain, number);
      chain.push_back({number, 0, word == "else" ? other : system_of(line), false});
    } else if (!open.empty() && word == "endif") {
      std::vector<Branch>& chain = open.back();
      close_branch(chain, number);
      for (Branch& branch : chain) branch.has_other = chain.size() > 1;
      out.insert(out.end(), chain.begin(), chain.end());
      open.pop_back();
    }
  }
  return out;
}

bool stands_well(const std::vector<Branch>& branches, int line, System wanted, bool alone) {
  return std::any_of(branches.begin(), branches.end(), [&](const Branch& branch) {
    if (line <= branch.from || line >= branch.to || branch.system == System::any) return false;
    if (branch.system == System::library) return wanted == System::library;
    if (wanted == System::library) return branch.system == System::linux;
    const bool right = wanted == System::either || branch.system == wanted;
    return right && (alone || branch.has_other);
  });
}

/// Files named for a system need no #if, but each needs its counterpart.
System system_of_file(const File& file) {
  if (file.path.ends_with("_linux.cpp")) return System::linux;
  return file.path.ends_with("_macos.cpp") ? System::macos : System::any;
}

std::string counterpart_of(const std::string& path) {
  const bool linux_part = path.ends_with("_linux.cpp");
  const std::string stem = path.substr(0, path.size() - std::string_view("_linux.cpp").size());
  return stem + (linux_part ? "_macos.cpp" : "_linux.cpp");
}

std::string advice(std::string_view name, System system) {
  std::string out(name);
  out += system == System::macos     ? " is macOS's"
         : system == System::library ? " is not in every C library"
         : system == System::either  ? " is not the same on Linux and macOS"
                                     : " is Linux's";
  return out + "; look in base/platform, or write both into an #if defined(__linux__) ... #else, " +
         "or into NOUN_linux.cpp and NOUN_macos.cpp";
}

void judge(const File& file, Findings& out) {
  const System own = system_of_file(file);
  const auto branches = branches_of(file.code.names);
  const auto look = [&](std::string_view name, System system, int line, bool alone) {
    if (own != System::any && (system == own || system == System::either)) return;
    if (stands_well(branches, line, system, alone)) return;
    out.push_back({file.path, line, advice(name, system)});
  };
  for (const Include& include : file.code.includes) {
    for (const Name& header : kHeaders) {
      if (include.path == header.text) look(header.text, header.system, include.line, true);
    }
    if (include.path.starts_with("linux/")) look(include.path, System::linux, include.line, true);
    if (include.path.starts_with("mach/")) look(include.path, System::macos, include.line, true);
  }
  const std::string_view text = file.code.names;
  for (const Word& word : words(text)) {
    for (const Name& name : kNames) {
      if (word.text == name.text) look(name.text, name.system, line_at(text, word.offset), false);
    }
  }
  for (const Literal& literal : file.code.literals) {
    for (const std::string_view place : kPlaces) {
      if (literal.text.starts_with(place)) look(place, System::linux, literal.line, false);
    }
  }
}

}  // namespace

Findings check_systems(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!file.in("src") || !file.is_cpp()) continue;
    if (system_of_file(file) != System::any && tree.find(counterpart_of(path)) == nullptr) {
      out.push_back({path, 1, "its counterpart " + counterpart_of(path) + " is missing"});
    }
    judge(file, out);
  }
  return out;
}

}  // namespace tidy
