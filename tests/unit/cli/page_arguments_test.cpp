// Places that an argument names: files, and texts on other machines.
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "base/files/descriptor.h"
#include "cli/paths.h"
#include "support/listener.h"
#include "support/unknown_id.h"
#include "unit/cli/admin_browser.h"
#include "unit/store/ledger_fixture.h"

namespace page_arguments_test {
namespace {

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;
using coffer::test::kUnknownId;
using coffer::test::Listener;

bool is_ready(int fd) {
  pollfd ready{fd, POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1;
}

/// A file that notices when a process opens it.
class Trap {
 public:
  Trap() : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    std::ofstream(path()) << "trap\n";
    ::inotify_add_watch(events_.get(), path().c_str(), IN_OPEN);
  }
  std::string path() const { return folder_.file("trap"); }
  bool was_opened() const { return is_ready(events_.get()); }

 private:
  store::test::TemporaryFolder folder_;
  Descriptor events_;
};

std::string path_of(const Command& command) {
  std::string path(command.path);
  std::ranges::replace(path, ' ', '/');
  return "/admin/api/run/" + path;
}

/// A value for each required argument, and `value` for `chosen`.
Json body_with(const Command& command, const Argument& chosen, const std::string& value) {
  Json body = Json::object();
  for (const Argument& argument : command.arguments) {
    if (!argument.required && &argument != &chosen) continue;
    std::string given = argument.hint.empty() ? "1" : std::string(kUnknownId);
    if (argument.placeholder.find('|') != std::string_view::npos) {
      given = argument.placeholder.substr(0, argument.placeholder.find('|'));
    }
    body[std::string(argument.name)] = &argument == &chosen ? value : given;
  }
  return body;
}

std::string query_of(const Json& body) {
  std::string query;
  for (const auto& [name, value] : body.items()) {
    query += (query.empty() ? "?" : "&") + name + "=" + value.get<std::string>();
  }
  return query;
}

}  // namespace

TEST_CASE("an argument that names a file or a URL says so in its type", "[cli]") {
  for (const Command& command : commands()) {
    for (const Argument& argument : command.arguments) {
      if (argument.kind == Argument::Kind::toggle) continue;
      const std::string words = std::string(argument.name) + " " +
                                std::string(argument.placeholder) + " " +
                                std::string(argument.help);
      const bool names = std::ranges::any_of(
          std::initializer_list<std::string_view>{"FILE", "URL", "PATH", "FOLDER", "://", "-file",
                                                  "File ", "file to ", "folder"},
          [&](std::string_view word) { return words.find(word) != std::string::npos; });
      INFO(command.path << " " << argument.spelled());
      if (names) CHECK(argument.value != Argument::Value::text);
    }
  }
}

TEST_CASE("admin: no argument of any command leads the server to a file or a URL", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  REQUIRE(browser.sign_in("ada", cli::test::kPassword) == 204);
  const Trap trap;
  const Listener listener;
  REQUIRE_FALSE(trap.was_opened());
  std::size_t rejected = 0;
  for (const Command& command : commands()) {
    for (const Argument& argument : command.arguments) {
      for (const std::string& value : {trap.path(), listener.url(), std::string("/dev/zero")}) {
        INFO(command.path << " " << argument.spelled() << " " << value);
        const Json body = body_with(command, argument, value);
        const auto posted = browser.post(path_of(command), body);
        const auto got = browser.get(path_of(command) + query_of(body));
        CHECK_FALSE(trap.was_opened());
        CHECK_FALSE(is_ready(listener.fd()));
        if (!names_place(argument)) continue;
        CHECK((posted.status == 403 || posted.status == 404));
        CHECK((got.status == 403 || got.status == 404 || got.status == 405));
        rejected += posted.status == 403 ? 1 : 0;
      }
    }
  }
  CHECK(rejected >= 9);  // backup FILE, verify FILE and --checkpoint
}

TEST_CASE("admin: the page does not learn of arguments that name a place", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  REQUIRE(browser.sign_in("ada", cli::test::kPassword) == 204);
  const Json offered = Json::parse(browser.get("/admin/api/commands").body);
  for (const Json& row : offered.at("data")) {
    const Command* command = find_command(row.at("command").get<std::string>());
    REQUIRE(command != nullptr);
    for (const Json& shown : row.at("arguments")) {
      const auto argument = std::ranges::find(command->arguments,
                                              shown.at("name").get<std::string>(), &Argument::name);
      REQUIRE(argument != command->arguments.end());
      CHECK_FALSE(names_place(*argument));
    }
  }
}

}  // namespace page_arguments_test
