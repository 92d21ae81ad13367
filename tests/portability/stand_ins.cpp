// Implements macOS calls on Linux according to their manual pages, as far as coffer's macOS code
// uses them. This shows that the code compiles and works against the documentation, but not that
// macOS behaves as documented.
#include <dirent.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "include/libproc.h"
#include "include/macos.h"
#include "include/sys/event.h"

namespace {

struct Knote {
  std::uint16_t flags = 0;
  void* udata = nullptr;
  bool enabled = true;
};

/// One descriptor in one queue.
struct Source {
  std::optional<Knote> read;
  std::optional<Knote> write;
  bool write_first = false;
};

using Sources = std::map<std::pair<int, int>, Source>;  // by queue and descriptor

std::mutex& lock() {
  static std::mutex mutex;
  return mutex;
}

Sources& sources() {
  static Sources all;
  return all;
}

std::uint32_t mask_of(const std::optional<Knote>& knote, std::uint32_t wanted) {
  if (!knote || !knote->enabled) return 0;
  std::uint32_t mask = wanted;
  if ((knote->flags & EV_CLEAR) != 0) mask |= EPOLLET;
  if ((knote->flags & EV_DISPATCH) != 0) mask |= EPOLLONESHOT;
  return mask;
}

int watch(int queue, int operation, int fd, const Source& source) {
  epoll_event event{};
  event.events = mask_of(source.read, EPOLLIN | EPOLLRDHUP) | mask_of(source.write, EPOLLOUT);
  event.data.fd = fd;
  return ::epoll_ctl(queue, operation, fd, &event);
}

void update(std::optional<Knote>& knote, const struct kevent& change) {
  constexpr std::uint16_t kKept = EV_CLEAR | EV_DISPATCH;
  if (!knote) knote = Knote{static_cast<std::uint16_t>(change.flags & kKept), nullptr, true};
  knote->udata = change.udata;
  if ((change.flags & EV_DISABLE) != 0) knote->enabled = false;
  if ((change.flags & EV_ENABLE) != 0) knote->enabled = true;
}

/// 0, or -1 with `errno`.
int apply(int queue, const struct kevent& change) {
  const int fd = static_cast<int>(change.ident);
  Source& source = sources()[{queue, fd}];
  const auto side = change.filter == EVFILT_READ ? &Source::read : &Source::write;
  if ((change.flags & EV_DELETE) != 0) {
    if (!(source.*side)) {
      errno = ENOENT;
      return -1;
    }
    (source.*side).reset();
    const bool left = source.read || source.write;
    return watch(queue, left ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, fd, source);
  }
  // A closed descriptor has left both epoll's list and the queue, so this one is new.
  Source fresh;
  update(fresh.*side, change);
  if (watch(queue, EPOLL_CTL_ADD, fd, fresh) == 0) {
    source = fresh;
    return 0;
  }
  if (errno != EEXIST) return -1;
  update(source.*side, change);
  return watch(queue, EPOLL_CTL_MOD, fd, source);
}

/// kqueue reports the socket's error beside EV_EOF: what tells a reset from an end.
struct kevent event_of(int fd, std::int16_t filter, Knote& knote, std::uint32_t events) {
  if ((knote.flags & EV_DISPATCH) != 0) knote.enabled = false;
  const bool over = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  const auto flags = static_cast<std::uint16_t>(knote.flags | (over ? EV_EOF : 0));
  const std::uint32_t error = (events & EPOLLERR) != 0 ? ECONNRESET : 0;
  return {static_cast<std::uintptr_t>(fd), filter, flags, error, 0, knote.udata};
}

/// Converts the epoll event of one descriptor to up to two events; returns their number.
int translate(int queue, const epoll_event& ready, struct kevent* out, int room) {
  const int fd = ready.data.fd;
  const auto found = sources().find({queue, fd});
  if (found == sources().end()) return 0;
  Source& source = found->second;
  const bool over = (ready.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  const bool reads = source.read && source.read->enabled && (over || (ready.events & EPOLLIN) != 0);
  const bool writes = source.write && source.write->enabled &&
                      (ready.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
  const bool both = reads && writes;
  if (both && room < 2) {  // one now, in turn; the kernel is asked to report it again
    source.write_first = !source.write_first;
    watch(queue, EPOLL_CTL_MOD, fd, source);
  }
  const bool one = both && room < 2;
  int count = 0;
  if (reads && !(one && source.write_first)) {
    out[count++] = event_of(fd, EVFILT_READ, *source.read, ready.events);
  }
  if (writes && !(one && !source.write_first)) {
    out[count++] = event_of(fd, EVFILT_WRITE, *source.write, ready.events);
  }
  return count;
}

int entries_of(const char* folder) {
  int count = 0;
  DIR* dir = ::opendir(folder);
  if (dir == nullptr) return 0;
  while (const dirent* entry = ::readdir(dir)) count += entry->d_name[0] == '.' ? 0 : 1;
  ::closedir(dir);
  return count;
}

}  // namespace

int kqueue() {
  const int queue = ::epoll_create1(0);
  const std::lock_guard guard(lock());
  std::erase_if(sources(), [&](const auto& entry) { return entry.first.first == queue; });
  return queue;
}

int kevent(int queue, const struct kevent* changes, int change_count, struct kevent* events,
           int room, const struct timespec* timeout) {
  for (int i = 0; i < change_count; ++i) {
    const std::lock_guard guard(lock());
    if (apply(queue, changes[i]) != 0) return -1;
  }
  if (room == 0) return 0;
  const auto wait_ms =
      timeout == nullptr ? -1
                         : static_cast<int>(timeout->tv_sec * 1'000 + timeout->tv_nsec / 1'000'000);
  for (;;) {
    std::array<epoll_event, 32> ready;
    // Half of the capacity, because a descriptor may be ready in both directions.
    const int most = std::clamp(room / 2, 1, static_cast<int>(ready.size()));
    const int found = ::epoll_wait(queue, ready.data(), most, wait_ms);
    if (found <= 0) return found;
    const std::lock_guard guard(lock());
    int count = 0;
    for (int i = 0; i < found; ++i) {
      count += translate(queue, ready[static_cast<std::size_t>(i)], events + count, room - count);
    }
    if (count > 0) return count;
  }
}

int proc_pidinfo(int pid, int flavor, std::uint64_t, void* out, int bytes) {
  if (pid != ::getpid()) return 0;
  if (flavor == PROC_PIDLISTFDS) {
    const int wanted = (entries_of("/proc/self/fd") - 1) * static_cast<int>(sizeof(proc_fdinfo));
    if (out == nullptr) return wanted;
    const int given = std::min(wanted, bytes);
    std::memset(out, 0, static_cast<std::size_t>(given));
    return given;
  }
  static const std::time_t started = std::time(nullptr);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  proc_taskallinfo all{};
  std::ifstream("/proc/self/statm") >> all.ptinfo.pti_virtual_size >> all.ptinfo.pti_resident_size;
  all.ptinfo.pti_virtual_size *= page;
  all.ptinfo.pti_resident_size *= page;
  all.ptinfo.pti_threadnum = entries_of("/proc/self/task");
  all.pbsd.pbi_start_tvsec = static_cast<std::uint64_t>(started);
  std::memcpy(out, &all, sizeof all);
  return sizeof all;
}

int renamex_np(const char* from, const char* to, unsigned) {
  return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int getpeereid(int fd, uid_t* user, gid_t* group) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
  *user = peer.uid;
  *group = peer.gid;
  return 0;
}
