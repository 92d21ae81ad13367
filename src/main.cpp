// The process: set up once, then the command line decides.
#include <netdb.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "cli/program.h"

#if defined(__GLIBC__)
extern "C" int __nss_configure_lookup(const char* database, const char* services);
#endif

int main(int argc, char** argv) {
#if defined(__GLIBC__)
  // First of all: a static binary that loads the host's name services crashes on some hosts.
  __nss_configure_lookup("hosts", "files dns");
#endif
  ::signal(SIGPIPE, SIG_IGN);  // a peer that is gone shows as EPIPE
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow shows as EFBIG
  ::umask(077);
  coffer::prepare_crypto();
  return coffer::cli::run_program(argc, argv);
}
