#include "base/telemetry/log_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/telemetry/log_scope.h"
#include "base/thread.h"

using namespace coffer;

namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "coffer-log-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string log(int number = 0) const {
    return path_ + "/coffer.log" + (number == 0 ? "" : "." + std::to_string(number));
  }

 private:
  std::string path_;
};

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) out.push_back(line);
  return out;
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

/// Sends the process's log lines to the file during its lifetime.
struct Started {
  explicit Started(LogFileSettings settings) { REQUIRE(start_log_file(std::move(settings))); }
  ~Started() { stop_log_file(); }
};

}  // namespace

TEST_CASE("only the owner can access the log file, even if it existed with more rights", "[log]") {
  const Folder folder;
  const mode_t before = ::umask(0);
  {
    auto file = LogFile::open({folder.log(), 1'000, 2}).value();
    CHECK(file->write("one"));
    CHECK(mode_of(folder.log()) == 0600);
  }
  fs::permissions(folder.log(), fs::perms(0644));
  {
    auto file = LogFile::open({folder.log(), 1'000, 2}).value();
    CHECK(file->write("two"));
    CHECK(mode_of(folder.log()) == 0600);
  }
  ::umask(before);
  CHECK(lines_of(folder.log()) == std::vector<std::string>{"one", "two"});
}

TEST_CASE("a full log file becomes .1 and so on, up to the number kept", "[log]") {
  const Folder folder;
  auto file = LogFile::open({folder.log(), 10, 2}).value();
  // Four bytes each with the newline: two fit.
  for (const char* line : {"111", "222", "333", "444", "555", "666", "777"}) {
    CHECK(file->write(line));
  }
  CHECK(lines_of(folder.log()) == std::vector<std::string>{"777"});
  CHECK(lines_of(folder.log(1)) == std::vector<std::string>{"555", "666"});
  CHECK(lines_of(folder.log(2)) == std::vector<std::string>{"333", "444"});
  CHECK_FALSE(fs::exists(folder.log(3)));
  CHECK(mode_of(folder.log(1)) == 0600);
}

TEST_CASE("with no old log files kept, there is one file within its size", "[log]") {
  const Folder folder;
  auto file = LogFile::open({folder.log(), 10, 0}).value();
  for (const char* line : {"111", "222", "333"}) CHECK(file->write(line));
  CHECK(lines_of(folder.log()) == std::vector<std::string>{"333"});
  CHECK_FALSE(fs::exists(folder.log(1)));
}

TEST_CASE("a line longer than the file limit is written completely, to a separate file", "[log]") {
  const Folder folder;
  auto file = LogFile::open({folder.log(), 10, 3}).value();
  const std::string longer(100, 'x');
  CHECK(file->write("a"));
  CHECK(file->write(longer));
  CHECK(file->write("b"));
  CHECK(lines_of(folder.log(2)) == std::vector<std::string>{"a"});
  CHECK(lines_of(folder.log(1)) == std::vector<std::string>{longer});
  CHECK(lines_of(folder.log()) == std::vector<std::string>{"b"});
}

TEST_CASE("after the log file is moved, reopening creates a new one", "[log]") {
  const Folder folder;
  auto file = LogFile::open({folder.log(), 1'000, 2}).value();
  CHECK(file->write("before"));
  fs::rename(folder.log(), folder.log(9));
  CHECK(file->write("still the old one"));
  CHECK(file->reopen());
  CHECK(file->write("after"));
  CHECK(lines_of(folder.log(9)) == std::vector<std::string>{"before", "still the old one"});
  CHECK(lines_of(folder.log()) == std::vector<std::string>{"after"});
}

TEST_CASE("an invalid log file is rejected with its path", "[log]") {
  const Folder folder;
  REQUIRE(::mkfifo(folder.log().c_str(), 0600) == 0);
  fs::create_symlink(folder.log(3), folder.log(2));
  for (const std::string& path :
       {folder.log(), std::string("/dev/null"), folder.log(1) + "/x", folder.log(2)}) {
    const auto file = LogFile::open({path, 1'000, 2});
    REQUIRE_FALSE(file);
    INFO(file.error().detail);
    CHECK(file.error().detail.find(path) != std::string::npos);
  }
  CHECK_FALSE(fs::exists(folder.log(3)));
}

TEST_CASE("a log file that cannot be rotated grows, and no line is lost", "[log]") {
  const Folder folder;
  auto file = LogFile::open({folder.log(), 10, 1}).value();
  fs::create_directory(folder.log(1));  // in the way of the first rotation
  for (const char* line : {"111", "222", "333", "444"}) CHECK(file->write(line));
  CHECK(lines_of(folder.log()) == std::vector<std::string>{"111", "222", "333", "444"});
  fs::remove(folder.log(1));
  for (const char* line : {"555", "666"}) CHECK(file->write(line));
  CHECK(lines_of(folder.log(1)).size() + lines_of(folder.log()).size() == 6);
  CHECK(fs::is_regular_file(folder.log(1)));
}

TEST_CASE("on a full disk, a log line is written completely or not at all", "[log]") {
  const Folder folder;
  auto file = LogFile::open({folder.log(), 1'000'000, 1}).value();
  CHECK(file->write("fits"));
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit tight = before;
  tight.rlim_cur = 20;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const bool taken = file->write(std::string(50, 'x'));
  const bool small_one = file->write("small");
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, old_action);
  CHECK_FALSE(taken);
  CHECK(small_one);
  CHECK(file->write("room again"));
  CHECK(lines_of(folder.log()) == std::vector<std::string>{"fits", "small", "room again"});
}

TEST_CASE("no log line is lost or truncated under concurrent writes, rotations and reopening",
          "[log]") {
  const Folder folder;
  constexpr int kThreads = 6;
  constexpr int kEach = 400;
  constexpr int kKeep = 500;
  configure_logging(LogLevel::info, LogFormat::json);
  const std::uint64_t counted = log_lines(LogLevel::info);
  {
    const Started started({folder.log(), 2'000, kKeep});
    std::vector<Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("writer", [i] {
        for (int n = 0; n < kEach; ++n) {
          const std::string id = std::to_string(i) + "-" + std::to_string(n);
          log_info("test", "line", {{"id", id}, {"filling", "abcdefghijklmnopqrstuvwxyz"}});
        }
      });
    }
    for (int i = 0; i < 50; ++i) CHECK(reopen_log_file());
  }
  configure_logging(LogLevel::info, default_log_format());
  std::set<std::string> seen;
  int files = 0;
  for (int number = 0; fs::exists(folder.log(number)); ++number, ++files) {
    CHECK(fs::file_size(folder.log(number)) <= 2'000);
    for (const std::string& line : lines_of(folder.log(number))) {
      INFO(line);
      REQUIRE(line.starts_with("{\"time\":"));
      REQUIRE(line.ends_with("\"filling\":\"abcdefghijklmnopqrstuvwxyz\"}"));
      const auto at = line.find("\"id\":\"") + 6;
      CHECK(seen.insert(line.substr(at, line.find('"', at) - at)).second);
    }
  }
  CHECK(seen.size() == kThreads * kEach);
  CHECK(files > 10);
  CHECK(log_lines(LogLevel::info) - counted == kThreads * kEach);
}

TEST_CASE("a log line has the fields of its thread", "[log]") {
  std::vector<std::string> lines;
  redirect_log([&](std::string_view line) { lines.emplace_back(line); });
  configure_logging(LogLevel::info, LogFormat::json);
  log_info("test", "outside");
  {
    const std::string id = "r-1";
    const LogScope request("request_id", id);
    log_info("test", "in one", {{"status", 200}});
    {
      const LogScope payment("payment", "p-1");
      log_info("test", "in two");
      log_info("test", "its own", {{"request_id", "r-2"}});
      const LogScope inner("request_id", "r-3");
      log_info("test", "the innermost");
    }
    const LogScope* mine = LogScope::current();
    Thread("another", [mine] {
      log_info("test", "without a scope");
      const LogScope::Adopted adopted(mine);
      log_info("test", "with a scope");
    }).join();
  }
  log_info("test", "outside again");
  redirect_log(nullptr);
  configure_logging(LogLevel::info, default_log_format());
  const auto ends = [&](std::size_t i, const std::string& end) {
    INFO(lines.at(i));
    CHECK(lines.at(i).ends_with(end));
  };
  ends(0, R"("message":"outside"})");
  ends(1, R"("message":"in one","status":200,"request_id":"r-1"})");
  ends(2, R"("message":"in two","payment":"p-1","request_id":"r-1"})");
  ends(3, R"("message":"its own","request_id":"r-2","payment":"p-1"})");
  ends(4, R"("message":"the innermost","request_id":"r-3","payment":"p-1"})");
  ends(5, R"("message":"without a scope"})");
  ends(6, R"("message":"with a scope","request_id":"r-1"})");
  ends(7, R"("message":"outside again"})");
}
