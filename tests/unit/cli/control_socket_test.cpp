#include "cli/serve/control_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "base/platform/exit_code.h"
#include "cli/control_wire.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::Folder;

namespace {

int echo(const ControlRequest& request, std::ostream& out, std::ostream& err, Interruption&) {
  out << request.command;
  for (const auto& [name, value] : request.arguments) out << ' ' << name << '=' << value;
  err << (request.json ? "json" : "text");
  return 7;
}

struct Asked {
  std::optional<int> code;
  std::string out;
  std::string err;
};

Asked ask(const std::string& database, const ControlRequest& request) {
  std::ostringstream out;
  std::ostringstream err;
  const auto code = run_in_server(database, request, {out, err});
  return {code, out.str(), err.str()};
}

/// The server's response to raw bytes, until it closes the connection.
std::string say(const std::string& database, const std::string& bytes) {
  const int fd = open_control_socket(control_socket_path(database), SocketRole::connect);
  REQUIRE(fd >= 0);
  CHECK(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0);
  ::shutdown(fd, SHUT_WR);
  ControlStream stream(fd);
  const auto frame = stream.receive(10'000);
  return frame ? frame->content : "";
}

}  // namespace

TEST_CASE("a command runs in the server and prints in its own terminal", "[cli]") {
  const Folder folder;
  ControlSocket socket(echo);
  REQUIRE(socket.start(folder.file("a.db")));
  const Asked asked =
      ask(folder.file("a.db"),
          {.command = "rate set", .arguments = {{"SELL", "A"}, {"BUY", "Ü"}}, .json = true});
  CHECK(asked.code == 7);
  CHECK(asked.out == "rate set BUY=Ü SELL=A");
  CHECK(asked.err == "json");
}

TEST_CASE("long responses arrive complete, in pieces", "[cli]") {
  const Folder folder;
  const std::string line(1'000, 'x');
  ControlSocket socket([&](const ControlRequest&, std::ostream& out, std::ostream&, Interruption&) {
    for (int i = 0; i < 1'000; ++i) out << line;
    return 0;
  });
  REQUIRE(socket.start(folder.file("a.db")));
  const Asked asked = ask(folder.file("a.db"), {.command = "x"});
  CHECK(asked.code == 0);
  CHECK(asked.out.size() == 1'000'000);
}

TEST_CASE("without a listener, the command gets an error", "[cli]") {
  const Folder folder;
  CHECK(ask(folder.file("a.db"), {}).code == std::nullopt);
  {
    ControlSocket socket(echo);
    REQUIRE(socket.start(folder.file("a.db")));
  }
  CHECK_FALSE(std::filesystem::exists(folder.file("a.db.sock")));
  CHECK(ask(folder.file("a.db"), {}).code == std::nullopt);
}

TEST_CASE("the control socket is private, and replaces a stale one", "[cli]") {
  const Folder folder;
  const std::string path = folder.file("a.db.sock");
  ::close(open_control_socket(path, SocketRole::listen));  // as a killed server leaves it
  REQUIRE(std::filesystem::exists(path));
  CHECK(ask(folder.file("a.db"), {}).code == std::nullopt);
  ControlSocket socket(echo);
  REQUIRE(socket.start(folder.file("a.db")));
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  CHECK(ask(folder.file("a.db"), {}).code == 7);
}

TEST_CASE("a file at the path of the control socket is not removed", "[cli]") {
  const Folder folder;
  std::ofstream(folder.file("a.db.sock")) << "precious";
  ControlSocket socket(echo);
  const auto started = socket.start(folder.file("a.db"));
  REQUIRE_FALSE(started);
  CHECK(started.error().detail.find("a.db.sock") != std::string::npos);
  CHECK(std::filesystem::file_size(folder.file("a.db.sock")) == 8);
}

TEST_CASE("a control socket path longer than a socket address works", "[cli]") {
  const Folder folder;
  const std::string deep = folder.file(std::string(120, 'd'));
  std::filesystem::create_directories(deep);
  ControlSocket socket(echo);
  REQUIRE(socket.start(deep + "/a.db"));
  CHECK(std::filesystem::is_socket(deep + "/a.db.sock"));
  CHECK(ask(deep + "/a.db", {.command = "x"}).code == 7);
}

TEST_CASE("a control socket name that is too long is rejected", "[cli]") {
  const Folder folder;
  errno = 0;
  CHECK(open_control_socket(folder.file(std::string(150, 'n')), SocketRole::listen) == -1);
  CHECK(errno == ENAMETOOLONG);
}

TEST_CASE("a peer that violates the control protocol gets no response", "[cli]") {
  const Folder folder;
  std::atomic<int> runs{0};
  ControlSocket socket(
      [&](const ControlRequest&, std::ostream&, std::ostream&, Interruption&) { return ++runs; });
  REQUIRE(socket.start(folder.file("a.db")));
  using namespace std::string_literals;
  for (const std::string& bytes : {""s, "r"s, "GET / HTTP/1.1\r\n\r\n"s, "r\xff\xff\xff\xff"s,
                                   "r\0\0\0\2{}"s, "r\0\0\0\4[1,2"s,
                                   "x\0\0\0\1"
                                   "0"s,
                                   "r\0\0\0\x10{\"command\": 17 }"s}) {
    CHECK(say(folder.file("a.db"), bytes).empty());
  }
  CHECK(runs == 0);
  CHECK(ask(folder.file("a.db"), {.command = "x"}).code == 1);
}

TEST_CASE("stopping ends a long command early", "[cli]") {
  const Folder folder;
  std::atomic<bool> running{false};
  Mutex mutex;
  Condition changed;
  bool told = false;
  const auto wait_until_told = [&] {
    running = true;
    const Lock lock(mutex);
    while (!told) changed.wait(mutex);
  };
  const auto tell = [&] {
    const Lock lock(mutex);
    told = true;
    changed.notify_all();
  };
  ControlSocket socket(
      [&](const ControlRequest&, std::ostream&, std::ostream&, Interruption& interruption) {
        interruption.during(tell, wait_until_told);
        return interruption.requested() ? 75 : 0;
      });
  REQUIRE(socket.start(folder.file("a.db")));
  Asked asked;
  Thread client("client", [&] { asked = ask(folder.file("a.db"), {.command = "x"}); });
  while (!running) {
  }
  socket.stop();
  client.join();
  CHECK(asked.code == 75);
}

TEST_CASE("a command whose output cannot be written ends, and so does its work in the server",
          "[cli]") {
  const Folder folder;
  std::atomic<bool> noticed{false};
  ControlSocket socket([&](const ControlRequest&, std::ostream& out, std::ostream&, Interruption&) {
    while (out) out << std::string(100'000, 'x') << std::flush;
    noticed = true;
    return 0;
  });
  REQUIRE(socket.start(folder.file("a.db")));
  std::ostringstream out;
  std::ostringstream err;
  out.setstate(std::ios::badbit);
  CHECK(run_in_server(folder.file("a.db"), {.command = "x"}, {out, err}) == exit_code::kFailed);
  socket.stop();  // waits for the running ones
  CHECK(noticed);
  CHECK(err.str().empty());
}

TEST_CASE("a server that ends during a command is reported", "[cli]") {
  const Folder folder;
  const int listening = open_control_socket(folder.file("a.db.sock"), SocketRole::listen);
  REQUIRE(listening >= 0);
  Asked asked;
  Thread client("client", [&] { asked = ask(folder.file("a.db"), {.command = "x"}); });
  int fd = -1;
  while (fd < 0) fd = ::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  {
    ControlStream stream(fd);
    REQUIRE(stream.receive(10'000));
    REQUIRE(stream.send(FrameKind::accepted, {}, 10'000));
    REQUIRE(stream.send(FrameKind::out, "half", 10'000));
  }
  client.join();
  ::close(listening);
  CHECK(asked.code == exit_code::kUnreachable);
  CHECK(asked.out == "half");
  CHECK(asked.err.find("stopped before") != std::string::npos);
}

TEST_CASE("a control request survives a round trip", "[cli]") {
  const ControlRequest request{.command = "a b",
                               .arguments = {{"x", "\"quoted\" \\ Ü"}},
                               .json = true,
                               .terminal = true,
                               .progress = false,
                               .colour = true,
                               .columns = 132};
  const auto back = decode_request(encode(request));
  REQUIRE(back);
  CHECK(back->command == request.command);
  CHECK(back->arguments == request.arguments);
  CHECK(back->json);
  CHECK(back->terminal);
  CHECK_FALSE(back->progress);
  CHECK(back->colour);
  CHECK(back->columns == 132);
}
