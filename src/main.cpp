// The process: set up once, then the command line decides.
#include <fcntl.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#if __has_include(<nss.h>)
#include <nss.h>
#endif
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/platform/processors.h"
#include "cli/program.h"

namespace {

// A file that is opened while one of the three is closed gets its number, and what is printed then
// lands in that file.
void occupy_standard_streams() {
  int fd = -1;
  do {
    fd = ::open("/dev/null", O_RDWR);
    // Without a /dev, as in an empty root, the root itself: nothing can be written to it.
    if (fd < 0) fd = ::open("/", O_RDONLY | O_DIRECTORY);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
#if defined(__GLIBC__)
  // First of all: a static binary that loads the host's name services crashes on some hosts.
  __nss_configure_lookup("hosts", "files dns");
  // Memory of large bodies goes back at once, instead of staying with whichever threads had one: by
  // itself the threshold would rise with the first of them.
  ::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  // The same for what many small pieces had taken: eight heaps for each processor, as there would
  // be, keep eight times as much. More threads than processors do not run at once.
  ::mallopt(M_ARENA_MAX, coffer::processors());
#endif
  occupy_standard_streams();
  ::signal(SIGPIPE, SIG_IGN);  // a peer that is gone shows as EPIPE
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow shows as EFBIG
  ::umask(077);
  return coffer::cli::run_program(argc, argv);
}
