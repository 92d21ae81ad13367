// macOS calls implemented with Linux calls, as far as coffer's macOS sources use them, by their
// manual pages. They show that the sources compile, and work as the manual pages describe, but not
// that macOS behaves as described.
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

#include "include/libproc.h"
#include "include/macos.h"
#include "include/sys/event.h"

namespace {

/// A queue is an epoll set of two others: one for the read filters, one for the write filters.
struct Filters {
  int read = -1;
  int write = -1;
};

int made_inside(int queue) {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{EPOLLIN, {}};
  ::epoll_ctl(queue, EPOLL_CTL_ADD, set, &event);
  return set;
}

/// `renew`: the queue is new, and an earlier one with its number was closed.
Filters filters_of(int queue, bool renew = false) {
  static std::mutex mutex;
  static std::map<int, Filters> all;
  const std::lock_guard guard(mutex);
  Filters& filters = all[queue];
  if (renew) {
    for (const int old : {filters.read, filters.write}) {
      if (old >= 0) ::close(old);
    }
    filters = {made_inside(queue), made_inside(queue)};
  }
  return filters;
}

/// 0, or -1 with `errno`.
int apply(int queue, const struct kevent& change) {
  const bool reads = change.filter == EVFILT_READ;
  const int set = reads ? filters_of(queue).read : filters_of(queue).write;
  const int fd = static_cast<int>(change.ident);
  if ((change.flags & EV_DELETE) != 0) return ::epoll_ctl(set, EPOLL_CTL_DEL, fd, nullptr);
  epoll_event event{};
  event.data.ptr = change.udata;
  event.events = reads ? EPOLLIN | EPOLLRDHUP : EPOLLOUT;
  if ((change.flags & EV_CLEAR) != 0) event.events |= EPOLLET;
  if (::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0) return 0;
  return errno == EEXIST ? ::epoll_ctl(set, EPOLL_CTL_MOD, fd, &event) : -1;
}

/// Collects the ready events of one filter without waiting, and returns their number. kqueue
/// reports the socket's error with EV_EOF, which distinguishes a reset from an end.
int take(int set, std::int16_t filter, struct kevent* out, int room) {
  std::array<epoll_event, 32> ready;
  const int most = std::min(room, static_cast<int>(ready.size()));
  const int found = most > 0 ? ::epoll_wait(set, ready.data(), most, 0) : 0;
  for (int i = 0; i < found; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    const bool over = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    const std::uint32_t error = (event.events & EPOLLERR) != 0 ? ECONNRESET : 0;
    out[i] = {0, filter, static_cast<std::uint16_t>(over ? EV_EOF : 0), error, 0, event.data.ptr};
  }
  return std::max(found, 0);
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
  filters_of(queue, true);
  return queue;
}

int kevent(int queue, const struct kevent* changes, int change_count, struct kevent* events,
           int room, const struct timespec* timeout) {
  for (int i = 0; i < change_count; ++i) {
    if (apply(queue, changes[i]) != 0) return -1;
  }
  if (room == 0) return 0;
  const auto wait_ms =
      timeout == nullptr ? -1
                         : static_cast<int>(timeout->tv_sec * 1'000 + timeout->tv_nsec / 1'000'000);
  for (;;) {
    epoll_event any;
    const int found = ::epoll_wait(queue, &any, 1, wait_ms);
    if (found <= 0) return found;
    const Filters filters = filters_of(queue);
    int count = take(filters.write, EVFILT_WRITE, events, room);
    count += take(filters.read, EVFILT_READ, events + count, room - count);
    if (count > 0) return count;  // otherwise another thread took the events
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
