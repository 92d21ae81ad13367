// The supervisor's settings in the environment, and the messages to it.
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "app/service/supervisor.h"
#include "base/platform/exit_code.h"
#include "base/platform/process.h"
#include "cli/serve/serving.h"
#include "store/file/lock_file.h"
#include "unit/cli/own_command.h"
#include "unit/http/certificates.h"
#include "unit/http/running_server.h"

using namespace coffer;
using namespace coffer::cli;

namespace service_test {
namespace {

using Values = std::map<std::string, std::string>;

/// Variables for as long as it lives.
class Variables {
 public:
  explicit Variables(Values values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  Values values_;
};

constexpr int kForever = 600'000;

std::string own_pid() { return std::to_string(::getpid()); }

/// Replaces descriptor 3, and restores it afterwards.
class Third {
 public:
  explicit Third(int fd) : saved_(::dup(3)) {
    REQUIRE(::dup2(fd, 3) == 3);
    if (fd != 3) ::close(fd);
  }
  ~Third() {
    if (saved_ < 0) {
      ::close(3);
    } else {
      ::dup2(saved_, 3);
      ::close(saved_);
    }
  }
  Third(const Third&) = delete;
  Third& operator=(const Third&) = delete;

 private:
  int saved_;
};

int tcp_socket(bool listens) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  if (listens) REQUIRE(::listen(fd, 8) == 0);
  return fd;
}

int port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

/// The receiver of the messages to the supervisor, for as long as it lives.
class Supervisor {
 public:
  struct Message {
    std::string text;
    int fd = -1;  // the descriptor that came with it, for the caller to close
  };

  Supervisor() : variables_({{"NOTIFY_SOCKET", folder_.file("notify")}}) {
    const std::string path = folder_.file("notify");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~Supervisor() { ::close(fd_); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// The oldest message that was not read yet, if any.
  Message heard() const { return receive(MSG_DONTWAIT); }
  Message waits_for() const { return receive(0); }

 private:
  Message receive(int flags) const {
    std::string text(100, '\0');
    iovec into{text.data(), text.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr message{};
    message.msg_iov = &into;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t size = ::recvmsg(fd_, &message, flags);
    Message out{size < 0 ? "" : text.substr(0, static_cast<std::size_t>(size))};
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr) {
      std::memcpy(&out.fd, CMSG_DATA(header), sizeof out.fd);
    }
    return out;
  }

  const cli::test::Folder folder_;
  const Variables variables_;
  const int fd_ = ::socket(AF_UNIX, SOCK_DGRAM, 0);
};

}  // namespace

TEST_CASE("serving: connections leave descriptors for the server") {
  CHECK(connections_within(4'096, 65'536) == 4'096);
  CHECK(connections_within(4'096, 4'096) == 2'048);
  CHECK(connections_within(4'096, 1'024) == 512);
  CHECK(connections_within(100, 1'024) == 100);
  CHECK(connections_within(4'096, 1) == 1);
}

TEST_CASE(
    "after the first signal to stop, the second ends the process, also as the first of a container",
    "[cli]") {
  for (const int flags : {0, CLONE_NEWPID}) {
    CAPTURE(flags);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      if (::unshare(flags) != 0) ::_exit(143);  // only root can try it
      const pid_t first = ::fork();
      if (first == 0) {
        const StopSignals signals;
        ::raise(SIGTERM);
        signals.wait();
        signals.end_at_once();
        ::raise(SIGTERM);
        ::_exit(0);
      }
      int status = 0;
      ::waitpid(first, &status, 0);
      ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 128 + SIGTERM);
  }
}

TEST_CASE("healthcheck asks the API with the same settings", "[cli]") {
  const http::test::Certificates files;
  files.make("DNS:pay.example", 1);
  for (const bool tls : {false, true}) {
    CAPTURE(tls);
    const auto secured = [&](http::ServerOptions& options) {
      if (tls) options.tls_cert_file = files.cert();
      if (tls) options.tls_key_file = files.key();
    };
    http::test::RunningServer server(secured, [](http::Request& request) {
      http::Response response;
      if (request.path != "/healthz") response.status = 404;
      return response;
    });
    ConfigFlags flags{{"listen_http", "0.0.0.0:" + std::to_string(server.port())},
                      {"db", "none.db"}};
    if (tls) flags.insert({{"tls_cert", files.cert()}, {"tls_key", files.key()}});
    const auto checked = [&] {
      return cli::test::run_own("healthcheck", {{"timeout-ms", "5000"}}, flags);
    };
    const cli::test::Ran found = checked();
    CHECK(found.err.empty());
    CHECK(found.code == exit_code::kDone);
    flags["listen_http"] = "127.0.0.1:1";
    CHECK(checked().code == exit_code::kUnreachable);
  }
}

TEST_CASE("a starting server waits for a command, and for no server", "[cli]") {
  const auto go_on = [] { return false; };
  const store::LockState server{.locked = true, .process = 7};
  const store::LockState command{.locked = true, .process = 8, .command = "verify"};
  std::string logged;
  set_log_level(LogLevel::info);
  redirect_log([&](std::string_view line) { logged += line; });
  CHECK_FALSE(wait_for_commands(0, go_on)(command));
  CHECK_FALSE(wait_for_commands(kForever, [] { return true; })(command));  // a signal to stop
  // What the file says at first may be of a process that has ended.
  auto waits = wait_for_commands(kForever, go_on);
  CHECK(waits(server));
  CHECK(waits(command));
  CHECK(logged.empty());
  CHECK(waits(command));
  CHECK(waits(command));
  CHECK(logged.find("verify") != std::string::npos);
  CHECK(std::count(logged.begin(), logged.end(), '\n') <= 1);
  CHECK(waits(server));
  CHECK_FALSE(waits(server));
  redirect_log(nullptr);
}

TEST_CASE("the socket that the supervisor kept is used at its own address", "[cli]") {
  const int fd = tcp_socket(true);
  const int port = port_of(fd);
  const Third third(fd);
  const Variables variables(Values{{"LISTEN_PID", own_pid()}, {"LISTEN_FDS", "1"}});
  CHECK(kept_socket({"127.0.0.1", port}) == 3);
  CHECK(kept_socket({"localhost", port}) == 3);
  for (const HostPort& other : {HostPort{"127.0.0.1", port + 1}, HostPort{"127.0.0.1", 0},
                                HostPort{"0.0.0.0", port}, HostPort{"::", port}}) {
    CAPTURE(other.to_string());
    CHECK(kept_socket(other) == -1);
  }
}

TEST_CASE("descriptors of others are not used", "[cli]") {
  const int fd = tcp_socket(true);
  const HostPort there{"127.0.0.1", port_of(fd)};
  const Third third(fd);
  for (const Values& variables :
       {Values{}, Values{{"LISTEN_FDS", "1"}}, Values{{"LISTEN_PID", "1"}, {"LISTEN_FDS", "1"}},
        Values{{"LISTEN_PID", own_pid()}, {"LISTEN_FDS", "0"}},
        Values{{"LISTEN_PID", own_pid()}, {"LISTEN_FDS", "x"}}}) {
    const Variables set(variables);
    CHECK(kept_socket(there) == -1);
  }
  const Variables variables(Values{{"LISTEN_PID", own_pid()}, {"LISTEN_FDS", "1"}});
  const Third quiet(tcp_socket(false));
  CHECK(kept_socket(there) == -1);
}

TEST_CASE("a listening socket is given to the supervisor, and taken back when the address changes",
          "[cli]") {
  const Supervisor supervisor;
  const int fd = tcp_socket(true);
  const int port = port_of(fd);
  keep_socket(fd);
  const auto kept = supervisor.heard();
  CHECK(kept.text == "FDSTORE=1\nFDPOLL=0\nFDNAME=api");
  REQUIRE(kept.fd >= 0);
  CHECK(port_of(kept.fd) == port);
  ::close(fd);
  const Third third(kept.fd);
  const Variables variables(Values{{"LISTEN_PID", own_pid()}, {"LISTEN_FDS", "1"}});
  release_other_sockets({"127.0.0.1", port});
  CHECK(supervisor.heard().text.empty());
  CHECK(kept_socket({"127.0.0.1", port}) == 3);
  // It waits until the supervisor has closed the socket, because the new address may contain the
  // old one.
  std::thread closes([&] {
    CHECK(supervisor.waits_for().text == "FDSTOREREMOVE=1\nFDNAME=api");
    const auto barrier = supervisor.waits_for();
    CHECK(barrier.text == "BARRIER=1");
    ::close(barrier.fd);
  });
  release_other_sockets({"0.0.0.0", port});
  closes.join();
  CHECK(kept_socket({"127.0.0.1", port}) == -1);
}

TEST_CASE("keep-alive messages are sent while the writer makes progress", "[cli]") {
  const Supervisor supervisor;
  const Variables variables(Values{{"WATCHDOG_USEC", "30000000"}, {"WATCHDOG_PID", own_pid()}});
  bool alive = true;
  Watchdog watchdog([&] { return alive; });
  CHECK(watchdog.step() == 15'000);
  CHECK(supervisor.heard().text == "WATCHDOG=1");
  alive = false;
  CHECK(watchdog.step() == 15'000);
  CHECK(supervisor.heard().text.empty());
}

TEST_CASE("the watchdog interval comes from the environment and is optional", "[cli]") {
  for (const Values& variables :
       {Values{}, Values{{"WATCHDOG_USEC", "soon"}}, Values{{"WATCHDOG_USEC", "0"}},
        Values{{"WATCHDOG_USEC", "30000000"}, {"WATCHDOG_PID", "1"}}}) {
    const Variables set(variables);
    CHECK_FALSE(watchdog_ms());
  }
  const Variables set(Values{{"WATCHDOG_USEC", "1500"}});
  CHECK(watchdog_ms() == 1);
}

}  // namespace service_test
