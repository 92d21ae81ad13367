#include "base/platform/process.h"

#include <fcntl.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#if __has_include(<nss.h>)
#include <nss.h>
#endif
#include <signal.h>
#if defined(__linux__)
#include <sys/prctl.h>
#else
#include <sys/types.h>
#endif
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

extern char** environ;

namespace coffer {
namespace {

// A file that is opened while one of the three streams is closed would get its number, and output
// would go into that file.
void occupy_standard_streams() {
  int fd = -1;
  do {
    fd = ::open("/dev/null", O_RDWR);
    // Without /dev, as in an empty root directory, open the root itself, which cannot be written
    // to.
    if (fd < 0) fd = ::open("/", O_RDONLY | O_DIRECTORY);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // the leak sanitizer reads the memory from another process
#else
constexpr bool kSanitized = false;
#endif

/// The memory contains keys, so it is not written to core files. On Linux, other processes of the
/// same user cannot read it either.
void keep_memory_private() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
#if defined(__linux__)
  if (!kSanitized) ::prctl(PR_SET_DUMPABLE, 0);
#else
  static_cast<void>(kSanitized);
#endif
}

/// Ends the process with the signal. As the first process of a container, to which the system does
/// not apply the default action, exits like a shell that reports it.
void end_by(int number) {
  ::signal(number, SIG_DFL);
  ::raise(number);
  constexpr int kSignalled = 128;
  ::_exit(kSignalled + number);
}

/// From now on, the signal ends the process, whatever its number.
void end_on(int number) {
  struct sigaction action {};
  action.sa_handler = end_by;
  action.sa_flags = SA_NODEFER;  // so that raise() acts within the handler
  ::sigaction(number, &action, nullptr);
}

/// With `all`, includes the signals that do not stop the process.
sigset_t set_of(bool all) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  if (!all) return set;
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

std::vector<std::string> variables_with_prefix(std::string_view prefix) {
  std::vector<std::string> out;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    if (variable.starts_with(prefix)) out.emplace_back(variable.substr(0, variable.find('=')));
  }
  std::ranges::sort(out);
  return out;
}

void set_up_process() {
#if defined(__GLIBC__)
  // First, because a static binary that loads the machine's name services crashes on some machines.
  __nss_configure_lookup("hosts", "files dns");
  // Returns the memory of large bodies immediately instead of keeping it per thread. Without a
  // fixed threshold, the threshold would grow with the first large body.
  ::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  // Threads that share a heap wait for each other, even though few of them run at once. A rarely
  // used heap costs about 30 KiB.
  constexpr int kHeaps = 32;
  ::mallopt(M_ARENA_MAX, kHeaps);
#endif
  occupy_standard_streams();
  keep_memory_private();
  ::signal(SIGPIPE, SIG_IGN);  // writing to a closed connection returns EPIPE
  ::signal(SIGXFSZ, SIG_IGN);  // a file size limit returns EFBIG
  ::umask(077);
  if (::getpid() == 1) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) end_on(number);
  }
}

bool process_exists(int process) {
  return process > 0 && (::kill(process, 0) == 0 || errno == EPERM);
}

void return_free_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

bool has_spare_memory() {
  constexpr std::size_t kSpareBytes = 128 * 1024 * 1024;
  void* spare = ::mmap(nullptr, kSpareBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return spare != MAP_FAILED && ::munmap(spare, kSpareBytes) == 0;
}

StopSignals::StopSignals() {
  const sigset_t set = set_of(true);
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

StopSignals::~StopSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

StopSignals::Kind StopSignals::wait() const {
  const sigset_t set = set_of(true);
  int number = SIGTERM;
  sigwait(&set, &number);
  return number == SIGHUP ? Kind::reload : Kind::stop;
}

bool StopSignals::is_stopping() const {
  sigset_t arrived;
  sigemptyset(&arrived);
  ::sigpending(&arrived);
  return sigismember(&arrived, SIGTERM) == 1 || sigismember(&arrived, SIGINT) == 1;
}

void StopSignals::end_at_once() const {
  // A shell starts background jobs with SIGINT ignored, so unblocking alone would have no effect.
  end_on(SIGTERM);
  end_on(SIGINT);
  const sigset_t set = set_of(false);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace coffer
