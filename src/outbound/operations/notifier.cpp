#include "outbound/operations/notifier.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/platform/descriptors.h"
#include "base/text/ascii.h"
#include "base/thread.h"
#include "domain/parties/contact.h"
#include "outbound/wire/address_trial.h"

namespace coffer::outbound {
namespace {

constexpr int kLookEveryMs = 20;

Unexpected failed(std::string detail) {
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

/// The program's process setup: its own process group, default signals, its input, and no inherited
/// descriptors.
struct SpawnPlan {
  explicit SpawnPlan(int input) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
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

/// The status from waitpid; nullopt after a timeout, in which case the program was killed.
std::optional<int> wait_for(pid_t child, int timeout_ms) {
  const SystemClock clock;
  const std::int64_t deadline = clock.monotonic_ms() + timeout_ms;
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (clock.monotonic_ms() >= deadline) break;
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

/// Runs a program without a shell, and without this process's environment, which may contain
/// secrets.
Result<void> run(std::vector<std::string> command, std::string_view input, int timeout_ms) {
  Pipe pipe;
  if (!fill(pipe, input)) return failed("The message could not be passed to sendmail.");
  std::vector<std::string> environment = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
      ":/sbin:/bin",
      "LANG=C"};
  if (const auto home = environment_variable("HOME")) environment.push_back("HOME=" + *home);
  const std::string program = command.front();
  pid_t child = -1;
  {
    const SpawnPlan plan(pipe.ends[0]);
    const int error = ::posix_spawn(&child, program.c_str(), &plan.actions, &plan.attributes,
                                    pointers(command).data(), pointers(environment).data());
    if (error != 0) return failed("sendmail could not be started: error " + std::to_string(error));
  }
  const auto status = wait_for(child, timeout_ms);
  if (!status) return failed("sendmail did not exit in time.");
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {};
  return failed(WIFEXITED(*status)
                    ? "sendmail exited with " + std::to_string(WEXITSTATUS(*status)) + "."
                    : "sendmail was terminated by signal " + std::to_string(WTERMSIG(*status)) +
                          ".");
}

bool is_plain(std::string_view text) {
  return text.find(' ') == std::string_view::npos && !ascii::has_control(text);
}

std::string mail_text(const Mail& mail, const std::string& from) {
  return "From: " + from + "\nTo: " + mail.recipient + "\nSubject: " + mail.subject +
         "\nMessage-ID: <" + mail.id + from.substr(from.rfind('@')) +
         ">\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\n"
         "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n" +
         mail.text + "\n";
}

std::string gateway_body(const Notification& notification) {
  const std::string payment = notification.payment.to_string();
  const nlohmann::json body = {{"to", notification.recipient},
                               {"text", notification.text},
                               {"paymentId", payment},
                               {"idempotencyKey", "notification-" + payment}};
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

bool ConfiguredNotifier::serves(NotificationChannel channel) const {
  return channel == NotificationChannel::email ? !settings_.sendmail.empty()
                                               : !settings_.gateway_url.empty();
}

Result<void> ConfiguredNotifier::send(const Notification& notification) {
  if (!serves(notification.channel)) return failed("The channel is not configured.");
  return notification.channel == NotificationChannel::email ? mail(notification)
                                                            : post(notification);
}

Result<void> send_mail(const MailSettings& settings, const Mail& mail) {
  const std::string& to = mail.recipient;
  if (!is_email(to) || !is_plain(to)) return failed("The recipient is not an e-mail address.");
  return run({settings.sendmail, "-i", "-f", settings.from, "--", to},
             mail_text(mail, settings.from), settings.timeout_ms);
}

Result<void> ConfiguredNotifier::mail(const Notification& notification) const {
  return send_mail({settings_.sendmail, settings_.from, settings_.timeout_ms},
                   {notification.recipient, "Payment received", notification.payment.to_string(),
                    notification.text});
}

Result<void> ConfiguredNotifier::post(const Notification& notification) const {
  const auto url = parse_url(settings_.gateway_url);
  if (!url) return failed("The URL of the gateway is not valid.");
  http::ClientRequest request = request_to(*url);
  request.method = "POST";
  request.connect_timeout_ms = settings_.timeout_ms;
  request.headers = {{"Authorization", "Bearer " + settings_.gateway_token.reveal()},
                     {"Content-Type", "application/json"},
                     {"User-Agent", "coffer-notifications/1"}};
  request.body = gateway_body(notification);
  COFFER_TRY(const auto response,
             send_to_host(std::move(request), client_, resolver_, settings_.timeout_ms));
  if (response.status >= 200 && response.status < 300) return {};
  return failed("The gateway responded with " + std::to_string(response.status) + ".");
}

std::string check_gateway_url(const std::string& text) {
  const auto url = parse_url(text);
  if (!url) return "\"" + text + "\" is not a URL. Write https://HOST/PATH";
  if (!url->is_protected()) return "the token would be sent in plain text. Use https";
  return {};
}

}  // namespace coffer::outbound
