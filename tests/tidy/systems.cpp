// Linux and macOS: every use of something that exists on one system only needs its counterpart.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
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

struct SystemNames {
  System system;
  std::string_view names;  // of headers, calls and constants
};

constexpr auto kNames = std::to_array<SystemNames>({
    {System::linux,
     "sys/epoll.h sys/eventfd.h sys/timerfd.h sys/signalfd.h sys/inotify.h sys/prctl.h "
     "sys/vfs.h sys/statfs.h sys/random.h sys/sendfile.h sys/sysinfo.h sys/auxv.h "
     "sys/syscall.h endian.h byteswap.h epoll_create epoll_create1 epoll_ctl epoll_wait "
     "epoll_pwait eventfd eventfd_read eventfd_write timerfd_create signalfd "
     "inotify_init1 accept4 pipe2 dup3 renameat2 RENAME_NOREPLACE SO_PEERCRED ucred "
     "MSG_NOSIGNAL MSG_MORE SOCK_CLOEXEC SOCK_NONBLOCK POLLRDHUP TCP_USER_TIMEOUT "
     "TCP_KEEPIDLE TCP_DEFER_ACCEPT TCP_QUICKACK O_PATH O_TMPFILE O_DIRECT prctl syscall "
     "gettid sched_getaffinity sched_setaffinity pthread_setaffinity_np fdatasync syncfs "
     "sync_file_range fallocate posix_fallocate posix_fadvise splice copy_file_range "
     "memfd_create getrandom getauxval ppoll sigtimedwait sigwaitinfo clock_nanosleep "
     "CLOCK_BOOTTIME CLOCK_MONOTONIC_COARSE CLOCK_REALTIME_COARSE adjtimex st_atim "
     "st_mtim st_ctim secure_getenv explicit_bzero program_invocation_name "
     "program_invocation_short_name posix_spawn_file_actions_addclosefrom_np "},
    {System::macos,
     "sys/event.h libproc.h sys/proc_info.h sys/mount.h sys/sysctl.h kqueue kevent "
     "proc_pidinfo renamex_np F_FULLFSYNC F_BARRIERFSYNC getpeereid SO_NOSIGPIPE "
     "arc4random_buf st_mtimespec st_ctimespec f_fstypename POSIX_SPAWN_CLOEXEC_DEFAULT "},
    {System::either, "fsync sendfile pthread_setname_np "},
    {System::library, "malloc.h nss.h mallopt malloc_trim mallinfo2 __nss_configure_lookup "},
});

const std::map<std::string_view, System>& systems() {
  static const auto all = [] {
    std::map<std::string_view, System> out;
    for (const auto& [system, names] : kNames) {
      for (std::size_t at = 0, end = 0; at < names.size(); at = end + 1) {
        end = std::min(names.find(' ', at), names.size());
        out.emplace(names.substr(at, end - at), system);
      }
    }
    return out;
  }();
  return all;
}

System system_of_name(std::string_view name) {
  if (name.starts_with("linux/")) return System::linux;
  if (name.starts_with("mach/")) return System::macos;
  const auto found = systems().find(name);
  return found == systems().end() ? System::any : found->second;
}

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
    if (system == System::any) return;
    if (own != System::any && (system == own || system == System::either)) return;
    if (stands_well(branches, line, system, alone)) return;
    out.push_back({file.path, line, advice(name, system)});
  };
  for (const Include& include : file.code.includes) {
    look(include.path, system_of_name(include.path), include.line, true);
  }
  const std::string_view text = file.code.names;
  for (const Word& word : words(text)) {
    if (const System system = system_of_name(word.text); system != System::any) {
      look(word.text, system, line_at(text, word.offset), false);
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
