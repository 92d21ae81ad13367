// The supervisor's settings in the environment, and the messages to it.
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>

#include "app/service/activation.h"
#include "app/service/watchdog.h"
#include "cli/serving.h"
#include "store/file/lock_file.h"
#include "unit/cli/open_file.h"

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

}  // namespace

TEST_CASE("serving: connections leave descriptors for the server") {
  CHECK(connections_within(4'096, 65'536) == 4'096);
  CHECK(connections_within(4'096, 4'096) == 2'048);
  CHECK(connections_within(4'096, 1'024) == 512);
  CHECK(connections_within(100, 1'024) == 100);
  CHECK(connections_within(4'096, 1) == 1);
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

TEST_CASE("a socket passed to this process is used", "[cli]") {
  const Third third(tcp_socket(true));
  {
    const Variables variables(Values{{"LISTEN_PID", own_pid()}, {"LISTEN_FDS", "1"}});
    const auto passed = passed_socket();
    REQUIRE(passed);
    REQUIRE(*passed);
    CHECK((*passed)->fd == 3);
    CHECK((*passed)->address.host == "127.0.0.1");
    CHECK((*passed)->address.port > 0);
  }
  for (const Values& variables :
       {Values{}, Values{{"LISTEN_FDS", "1"}}, Values{{"LISTEN_PID", "1"}, {"LISTEN_FDS", "1"}},
        Values{{"LISTEN_PID", own_pid()}, {"LISTEN_FDS", "0"}}}) {
    const Variables set(variables);
    const auto passed = passed_socket();
    REQUIRE(passed);
    CHECK_FALSE(*passed);
  }
}

TEST_CASE("a passed socket that cannot be served is an error with a remedy", "[cli]") {
  const auto rejected = [](int fd, const std::string& count) {
    const Third third(fd);
    const Variables variables(Values{{"LISTEN_PID", own_pid()}, {"LISTEN_FDS", count}});
    const auto passed = passed_socket();
    REQUIRE_FALSE(passed);
    return passed.error().detail;
  };
  CHECK(rejected(tcp_socket(true), "2").find("one ListenStream") != std::string::npos);
  CHECK(rejected(tcp_socket(false), "1").find("ListenStream=") != std::string::npos);
  CHECK(rejected(::socket(AF_UNIX, SOCK_STREAM, 0), "1").find("ListenStream=") !=
        std::string::npos);
}

TEST_CASE("a configured address is checked against the passed socket", "[cli]") {
  const HostPort there{"127.0.0.1", 8080};
  CHECK(same_address({"127.0.0.1", 8080}, there));
  CHECK(same_address({"localhost", 8080}, there));
  CHECK(same_address({"127.0.0.1", 0}, there));
  CHECK(same_address({"pay.example.com", 8080}, there));
  CHECK(same_address({"0:0::1", 8080}, {"::1", 8080}));
  CHECK_FALSE(same_address({"127.0.0.1", 8081}, there));
  CHECK_FALSE(same_address({"0.0.0.0", 8080}, there));
  CHECK_FALSE(same_address({"::", 8080}, {"0.0.0.0", 8080}));
}

TEST_CASE("keep-alive messages are sent while the writer makes progress", "[cli]") {
  const cli::test::Folder folder;
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder.file("notify");
  std::memcpy(address.sun_path, path.data(), path.size());
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const auto heard = [&] {
    char text[100];
    const ssize_t size = ::recv(fd, text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
  };
  const Variables variables(
      Values{{"NOTIFY_SOCKET", path}, {"WATCHDOG_USEC", "30000000"}, {"WATCHDOG_PID", own_pid()}});
  bool alive = true;
  Watchdog watchdog([&] { return alive; });
  CHECK(watchdog.step() == 15'000);
  CHECK(heard() == "WATCHDOG=1");
  alive = false;
  CHECK(watchdog.step() == 15'000);
  CHECK(heard().empty());
  ::close(fd);
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
