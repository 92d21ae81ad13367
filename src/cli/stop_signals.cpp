#include "cli/stop_signals.h"

#include <signal.h>

namespace coffer::cli {
namespace {

sigset_t set_of(bool with_reload) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  if (with_reload) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = set_of(true);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

StopSignals::~StopSignals() {
  const sigset_t set = set_of(true);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

StopSignals::Kind StopSignals::wait() const {
  const sigset_t set = set_of(true);
  int number = SIGTERM;
  sigwait(&set, &number);
  return number == SIGHUP ? Kind::reload : Kind::stop;
}

void StopSignals::end_at_once() const {
  // A shell starts background jobs with SIGINT ignored: then unblocking alone would do nothing.
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  const sigset_t set = set_of(false);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace coffer::cli
