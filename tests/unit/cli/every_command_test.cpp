#include <algorithm>
#include <catch2/catch.hpp>

#include "base/platform/exit_code.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;

namespace {

/// Some rows for each list.
void fill(OpenFile& file) {
  const std::string association =
      file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  REQUIRE(
      file.run("application register", {{"name", "backend"}, {"association", association}}).code ==
      0);
  REQUIRE(file.run("user add", {{"USERNAME", "ada"}, {"association", association}}).code == 0);
  for (const char* code : {"USDC", "EURC"}) {
    REQUIRE(file.run("asset add", {{"CODE", code}, {"name", code}}).code == 0);
  }
  REQUIRE(file.run("rate set", {{"SELL", "USDC"}, {"BUY", "EURC"}, {"RATE", "0.92"}}).code == 0);
}

bool needs_nothing(const Command& command) {
  return std::none_of(command.arguments.begin(), command.arguments.end(),
                      [](const Argument& argument) { return argument.required; });
}

bool has_key(const Record& record, std::string_view key) {
  return std::any_of(record.begin(), record.end(),
                     [&](const Field& field) { return field.key == key; });
}

}  // namespace

TEST_CASE("every command that only reads prints JSON, and a table or lines", "[cli]") {
  OpenFile file;
  fill(file);
  std::size_t tried = 0;
  for (const Command& command : commands()) {
    if (!command.is_on_file() || command.role != OperatorRole::viewer) continue;
    if (!command.prints_data || !needs_nothing(command)) continue;
    INFO(command.path);
    ++tried;
    const Ran json = file.run(std::string(command.path));
    const Ran plain = file.run(std::string(command.path), {}, false);
    CHECK(json.code == plain.code);
    if (json.code != exit_code::kDone) {
      CHECK(json.out.empty());
      CHECK(json.err == plain.err);
      continue;
    }
    CHECK(json.err.empty());
    CHECK(std::count(json.out.begin(), json.out.end(), '\n') == 1);
    const auto data = json.json();
    CHECK((data.is_array() || data.is_object()));
    CHECK(plain.out != json.out);
    // An empty list is a message as text and an empty array in JSON.
    CHECK(plain.out.empty() == (data.is_array() && data.empty()));
  }
  CHECK(tried > 8);
}

TEST_CASE("every column of a table is a key of its records", "[cli]") {
  OpenFile file;
  fill(file);
  Interruption interruption;
  std::ostringstream out;
  const Console console{out, out};
  const Actor actor = command_line_actor(0);
  Session session{file.app(), console, interruption, actor};
  for (const Command& command : commands()) {
    if (!command.is_on_file() || command.role != OperatorRole::viewer) continue;
    if (!needs_nothing(command)) continue;
    INFO(command.path);
    Arguments arguments;
    arguments.json = true;
    REQUIRE(check_arguments(command, arguments));
    const auto answer = carry_out(session, command, arguments);
    if (!answer) continue;
    for (const Record& record : answer->records) {
      for (const std::string_view column : answer->columns) {
        INFO(column);
        CHECK(has_key(record, column));
      }
    }
  }
}
