#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "base/platform/exit_code.h"
#include "cli/paths.h"
#include "support/unknown_id.h"
#include "unit/cli/open_file.h"
#include "unit/cli/own_command.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::Folder;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::cli::test::run_own;
using coffer::test::kUnknownId;

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

/// An unknown ID, and for the other arguments a word of the choice or any text.
std::map<std::string, std::string> values_without_object(const Command& command) {
  std::map<std::string, std::string> out;
  for (const Argument& argument : command.arguments) {
    if (!argument.required) continue;
    std::string_view value = "1";
    if (!argument.placeholder.empty()) {
      value = argument.placeholder.substr(0, argument.placeholder.find('|'));
    }
    if (!argument.hint.empty()) value = kUnknownId;
    out.emplace(argument.name, value);
  }
  return out;
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

TEST_CASE("the error for an unknown ID says once how to find one", "[cli]") {
  OpenFile file;
  fill(file);
  std::size_t tried = 0;
  for (const Command& command : commands()) {
    const auto with_hint = std::ranges::find_if(
        command.arguments, [](const Argument& argument) { return !argument.hint.empty(); });
    if (!command.is_on_file() || with_hint == command.arguments.end()) continue;
    const std::string_view lists = with_hint->hint.substr(with_hint->hint.find("coffer "));
    const Ran ran = file.run(std::string(command.path), values_without_object(command));
    INFO(command.path << ": " << ran.err);
    const auto at = ran.err.find(lists);
    if (at == std::string::npos) continue;  // another value is rejected first
    CHECK(ran.err.find(lists, at + 1) == std::string::npos);
    ++tried;
  }
  CHECK(tried > 20);
}

TEST_CASE("a command that changes only given values has no fallbacks, and needs a value", "[cli]") {
  OpenFile file;
  std::size_t tried = 0;
  for (const Command& command : commands()) {
    if (!command.partial) continue;
    ++tried;
    INFO(command.path);
    std::map<std::string, std::string> ids;
    for (const Argument& argument : command.arguments) {
      CHECK(argument.fallback.empty());
      if (!argument.is_positional()) CHECK_FALSE(argument.required);
      if (argument.is_positional()) ids.emplace(argument.name, kUnknownId);
    }
    const Ran ran = file.run(std::string(command.path), ids);
    CHECK(ran.code == exit_code::kUsage);
    CHECK(ran.err.find("nothing to change") != std::string::npos);
  }
  CHECK(tried >= 5);
}

TEST_CASE("every command reads only arguments of its row, which may each be given alone", "[cli]") {
  const Folder folder;
  OpenFile file([&](Config& config) { config.backup_dir = folder.file("backups"); });
  fill(file);
  std::size_t tried = 0;
  const auto run = [&](const Command& command, std::map<std::string, std::string> values) {
    for (const Argument& argument : command.arguments) {
      const auto given = values.find(std::string(argument.name));
      if (given == values.end() || !names_place(argument)) continue;
      given->second = folder.file("place-" + std::to_string(tried));
    }
    const Ran ran = file.run(std::string(command.path), values);
    INFO(command.path << " " << ran.err);
    CHECK(ran.err.find("internal error") == std::string::npos);
    ++tried;
  };
  for (const Command& command : commands()) {
    if (!command.is_on_file() || command.streams || command.calls_out) continue;
    const auto values = values_without_object(command);
    run(command, values);
    for (const Argument& argument : command.arguments) {
      if (argument.required) continue;
      const auto words = argument.placeholder.substr(0, argument.placeholder.find('|'));
      auto with = values;
      with.emplace(argument.name, argument.kind == Argument::Kind::choice ? words : "1");
      run(command, with);
    }
  }
  CHECK(tried > 150);
}

TEST_CASE("an option that names a place does not replace the database", "[cli]") {
  const Folder folder;
  const ConfigFlags flags{{"db", folder.file("ledger.db")}};
  REQUIRE(run_own("init", {}, flags, false).code == exit_code::kDone);
  std::size_t tried = 0;
  for (const Command& command : commands()) {
    if (!command.is_on_file() || command.streams || requires_place(command)) continue;
    for (const Argument& argument : command.arguments) {
      if (!names_place(argument) || argument.is_positional()) continue;
      CommandLine line{.command = &command, .arguments = {}, .flags = flags};
      line.arguments.values = values_without_object(command);
      line.arguments.values.emplace(argument.name, folder.file("none"));
      REQUIRE(check_arguments(command, line.arguments));
      std::ostringstream out;
      std::ostringstream err;
      const int code = run_command(line, {out, err});
      INFO(command.path << " --" << argument.name << ": " << err.str());
      CHECK(code != exit_code::kDone);
      CHECK_THAT(err.str(), Catch::Matchers::Contains(folder.file("none")));
      CHECK(err.str().find("internal error") == std::string::npos);
      ++tried;
    }
  }
  CHECK(tried > 0);
}
