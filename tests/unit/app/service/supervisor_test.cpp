#include "app/service/supervisor.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;

namespace {

class Supervisor {
 public:
  /// `name` as in NOTIFY_SOCKET.
  explicit Supervisor(const std::string& name) : fd_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  ~Supervisor() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(fd_);
  }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  std::string heard() const {
    char text[100];
    const ssize_t size = ::recv(fd_, text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
  }

 private:
  int fd_;
};

}  // namespace

TEST_CASE("the supervisor is notified at a path or an abstract name", "[cli]") {
  const test::Folder folder;
  for (const std::string& name :
       {folder.file("notify"), "@coffer-notify-test-" + std::to_string(::getpid())}) {
    const Supervisor supervisor(name);
    notify_supervisor("READY=1");
    CHECK(supervisor.heard() == "READY=1");
  }
}

TEST_CASE("a missing supervisor is not an error", "[cli]") {
  notify_supervisor("READY=1");
  ::setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
  notify_supervisor("READY=1");
  ::setenv("NOTIFY_SOCKET", std::string(200, 'x').c_str(), 1);
  notify_supervisor("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
}
