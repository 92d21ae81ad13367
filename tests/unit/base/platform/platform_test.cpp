// Functions that Linux and macOS implement differently have the same behaviour.
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/files/descriptor.h"
#include "base/platform/descriptors.h"
#include "base/platform/durable.h"
#include "base/platform/short_name.h"
#include "base/platform/terminal.h"
#include "base/platform/wake_up.h"

using namespace coffer;
namespace fs = std::filesystem;

namespace {

struct Scratch {
  Scratch() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Scratch() { fs::remove_all(path); }
  std::string path = (fs::temp_directory_path() / "coffer-platform-XXXXXX").string();
};

bool is_readable(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  return ::poll(&wanted, 1, 0) == 1;
}

bool is_inherited(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; }

bool may_wait(int fd) { return (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0; }

}  // namespace

TEST_CASE("a wake-up is readable from signal to clear", "[base]") {
  WakeUp wake;
  CHECK_FALSE(is_readable(wake.fd()));
  CHECK_FALSE(is_inherited(wake.fd()));
  wake.signal();
  CHECK(is_readable(wake.fd()));
  wake.signal();
  wake.clear();
  CHECK_FALSE(is_readable(wake.fd()));
  wake.clear();  // does not wait
  // More than any pipe holds.
  for (int i = 0; i < 100'000; ++i) wake.signal();
  CHECK(is_readable(wake.fd()));
  wake.clear();
  CHECK_FALSE(is_readable(wake.fd()));
}

TEST_CASE("sockets and pipes are not inherited, and sockets do not wait", "[base]") {
  const Scratch scratch;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, (scratch.path + "/s").c_str());
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  const Descriptor listening(open_socket(AF_UNIX, SOCK_STREAM));
  REQUIRE(listening.is_open());
  CHECK_FALSE(is_inherited(listening.get()));
  CHECK_FALSE(may_wait(listening.get()));
  REQUIRE(::bind(listening.get(), name, sizeof address) == 0);
  REQUIRE(::listen(listening.get(), 2) == 0);
  CHECK(accept_socket(listening.get(), nullptr, nullptr) == -1);
  CHECK(errno == EAGAIN);

  const Descriptor client(open_socket(AF_UNIX, SOCK_STREAM, Waiting::allowed));
  REQUIRE(client.is_open());
  CHECK_FALSE(is_inherited(client.get()));
  CHECK(may_wait(client.get()));
  REQUIRE(::connect(client.get(), name, sizeof address) == 0);
  sockaddr_un peer{};
  socklen_t size = sizeof peer;
  const Descriptor accepted(
      accept_socket(listening.get(), reinterpret_cast<sockaddr*>(&peer), &size));
  REQUIRE(accepted.is_open());
  CHECK(peer.sun_family == AF_UNIX);
  CHECK_FALSE(is_inherited(accepted.get()));
  CHECK_FALSE(may_wait(accepted.get()));
  CHECK(peer_user(accepted.get()) == ::geteuid());

  const Descriptor second(open_socket(AF_UNIX, SOCK_STREAM));
  REQUIRE(::connect(second.get(), name, sizeof address) == 0);
  const Descriptor waiting(accept_socket(listening.get(), nullptr, nullptr, Waiting::allowed));
  CHECK(may_wait(waiting.get()));
  CHECK_FALSE(peer_user(-1).has_value());

  int ends[2] = {-1, -1};
  REQUIRE(open_pipe(ends));
  const Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  CHECK_FALSE(is_inherited(ends[0]));
  CHECK_FALSE(is_inherited(ends[1]));
  CHECK(may_wait(ends[0]));
}

TEST_CASE("writing to a closed connection returns an error without a signal", "[base]") {
  const Scratch scratch;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, (scratch.path + "/s").c_str());
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  const Descriptor listening(open_socket(AF_UNIX, SOCK_STREAM));
  REQUIRE(::bind(listening.get(), name, sizeof address) == 0);
  REQUIRE(::listen(listening.get(), 1) == 0);
  const Descriptor client(open_socket(AF_UNIX, SOCK_STREAM));
  REQUIRE(::connect(client.get(), name, sizeof address) == 0);
  ::close(accept_socket(listening.get(), nullptr, nullptr));
  struct sigaction usual {};
  struct sigaction before {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &usual, &before);
  const auto sent = ::send(client.get(), "x", 1, kNoSignal);
  const int reason = errno;
  ::sigaction(SIGPIPE, &before, nullptr);
  CHECK(sent == -1);
  CHECK(reason == EPIPE);
}

TEST_CASE("a file is renamed only where its name is free", "[base]") {
  const Scratch scratch;
  const std::string from = scratch.path + "/from";
  const std::string to = scratch.path + "/to";
  std::ofstream(from) << "new";
  std::ofstream(to) << "old";
  CHECK_FALSE(rename_exclusively(from, to));
  CHECK(errno == EEXIST);
  CHECK(fs::exists(from));
  fs::remove(to);
  REQUIRE(rename_exclusively(from, to));
  CHECK_FALSE(fs::exists(from));
  CHECK(fs::file_size(to) == 3);
  CHECK_FALSE(rename_exclusively(from, scratch.path + "/other"));
  CHECK(errno == ENOENT);
}

TEST_CASE("files are synchronised, and any other path is an error", "[base]") {
  const Scratch scratch;
  const Descriptor file(::open((scratch.path + "/f").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(file.is_open());
  CHECK(sync_file(file.get()));
  CHECK(sync_content(file.get()));
  CHECK_FALSE(sync_file(-1));
  CHECK(errno == EBADF);
  CHECK_FALSE(sync_content(-1));
  CHECK(errno == EBADF);
  struct stat status {};
  REQUIRE(::fstat(file.get(), &status) == 0);
  CHECK(changed_ns(status) / 1'000'000'000 == status.st_ctime);
}

TEST_CASE("a folder of any length has a short name for a while", "[base]") {
  const Scratch scratch;
  std::string folder = scratch.path;
  for (int i = 0; i < 10; ++i) folder += "/" + std::string(50, 'n');
  fs::create_directories(folder);
  std::string short_path;
  {
    const ShortName name(folder);
    short_path = name.path();
    REQUIRE_FALSE(short_path.empty());
    CHECK(short_path.size() < 40);
    std::ofstream(short_path + "/file") << "here";
    CHECK(fs::file_size(folder + "/file") == 4);
  }
  CHECK_FALSE(fs::exists(short_path + "/file"));
  const ShortName none(folder + "/none");
  CHECK(none.path().empty());
  CHECK(errno == ENOENT);
}

TEST_CASE("the reader of a pipe or a socket is gone once it is closed, of a file never") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  CHECK_FALSE(reader_is_gone(ends[1]));
  ::close(ends[0]);
  CHECK(reader_is_gone(ends[1]));
  ::close(ends[1]);
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  CHECK_FALSE(reader_is_gone(ends[1]));
  ::close(ends[0]);
  CHECK(reader_is_gone(ends[1]));
  ::close(ends[1]);
  const Descriptor nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  CHECK_FALSE(reader_is_gone(nothing.get()));
  CHECK(terminal_columns(nothing.get()) == 0);
}
