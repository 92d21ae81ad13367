#include "outbound/operations/sendmail.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>

#include "base/environment.h"
#include "base/platform/descriptors.h"
#include "base/platform/lease.h"
#include "base/thread.h"

namespace coffer::outbound {
namespace {

constexpr int kLookEveryMs = 20;
constexpr std::size_t kOutputMax = 4096;

Unexpected not_sent(std::string detail) {
  return unexpected(Slug::provider_unavailable, std::move(detail));
}

/// Closes both ends that are still open.
struct Pipe {
  ~Pipe() {
    for (const int fd : ends) {
      if (fd >= 0) ::close(fd);
    }
  }
  int ends[2] = {-1, -1};
};

/// A pipe that already contains all of `input`, which fits into its buffer. Writing therefore never
/// blocks, even if the program does not read.
bool fill(Pipe& pipe, std::string_view input) {
  if (!open_pipe(pipe.ends)) return false;
  if (::fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK) != 0) return false;
  const auto written = ::write(pipe.ends[1], input.data(), input.size());
  ::close(pipe.ends[1]);
  pipe.ends[1] = -1;
  return written == static_cast<ssize_t>(input.size());
}

/// The program's process setup: its own process group, default signals, its input and output, and
/// no inherited descriptors.
struct SpawnPlan {
  SpawnPlan(int input, int output) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    int flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#if defined(__APPLE__)
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#else
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
    posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// Appends what can be read without waiting, at most a full pipe. Reads on beyond what is kept, so
/// that the program does not block.
void drain(int from, std::string& output) {
  char part[4096];
  for (int reads = 0; reads < 16; ++reads) {
    const auto length = ::read(from, part, sizeof(part));
    if (length <= 0) return;
    const auto room = kOutputMax - output.size();
    output.append(part, std::min(room, static_cast<std::size_t>(length)));
  }
}

/// The status from waitpid; nullopt if the call is over, in which case the program was killed.
/// Collects what the program writes to `from`.
std::optional<int> wait_for(pid_t child, int from, const http::CallDeadlines::Call& call,
                            std::string& output) {
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    drain(from, output);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (call.is_over()) break;
    rest(kLookEveryMs);
  }
  ::kill(-child, SIGKILL);
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return std::nullopt;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Result<void> run_sendmail(std::vector<std::string> command, std::string_view input,
                          const http::CallDeadlines::Call& call, std::string& output) {
  Pipe in;
  Pipe out;
  if (!fill(in, input)) return not_sent("The message could not be passed to sendmail.");
  if (!open_pipe(out.ends) || ::fcntl(out.ends[0], F_SETFL, O_NONBLOCK) != 0) {
    return not_sent("The output of sendmail could not be read.");
  }
  std::vector<std::string> environment = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
      ":/sbin:/bin",
      "LANG=C"};
  if (const auto home = environment_variable("HOME")) environment.push_back("HOME=" + *home);
  const std::string program = command.front();
  pid_t child = -1;
  require_lease();
  {
    const SpawnPlan plan(in.ends[0], out.ends[1]);
    const int error = ::posix_spawn(&child, program.c_str(), &plan.actions, &plan.attributes,
                                    pointers(command).data(), pointers(environment).data());
    if (error != 0)
      return not_sent("sendmail could not be started: error " + std::to_string(error));
  }
  const auto status = wait_for(child, out.ends[0], call, output);
  if (!status) return not_sent("sendmail did not exit in time.");
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {};
  return not_sent(WIFEXITED(*status)
                      ? "sendmail exited with " + std::to_string(WEXITSTATUS(*status)) + "."
                      : "sendmail was terminated by signal " + std::to_string(WTERMSIG(*status)) +
                            ".");
}

}  // namespace coffer::outbound
