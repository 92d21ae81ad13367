#include "cli/manual/manual.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/manual/roff.h"
#include "cli/manual/setting_texts.h"
#include "config/config_options.h"
#include "source_dir.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The sample with every line enabled that has a constant default.
std::string taken_in(const std::string& sample) {
  std::istringstream lines(sample);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const bool setting = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    if (!setting) continue;
    const ConfigOption* option = find_config_option(line.substr(1, line.find(' ') - 1));
    REQUIRE(option != nullptr);
    if (option->default_note.empty() && !option->default_text().empty())
      out += line.substr(1) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("the manual contains every command, argument, setting and secret", "[cli]") {
  const std::string commands_text = commands_page();
  for (const Command& command : commands()) {
    INFO(command.path);
    CHECK(has(commands_text, ".SS coffer " + roff_text(command.path) + "\n"));
    for (const Argument& argument : command.arguments) {
      CHECK(has(commands_text, roff_text(argument.name)));
    }
  }
  const std::string page = settings_page();
  const std::string reference = settings_reference();
  const std::string sample = settings_file();
  for (const ConfigOption& option : config_options()) {
    const std::string name(option.name);
    if (name == "config") continue;
    INFO(name);
    CHECK(has(page, option.secret() ? option.variable() : "\\fB" + name + " ="));
    CHECK(has(reference, "| `" + (option.secret() ? option.variable() : name) + "` |"));
    CHECK(has(sample, "\n#" + name + " = ") != option.secret());
  }
}

TEST_CASE("the example file changes nothing, even with its defaults enabled", "[cli]") {
  const coffer::cli::test::Folder folder;
  for (const std::string& text : {settings_file(), taken_in(settings_file())}) {
    const std::string path = folder.file("coffer.toml");
    std::ofstream(path) << text;
    const std::map<std::string, std::string> environment = {{"COFFER_CONFIG", path},
                                                            {"COFFER_DB", folder.file("c.db")}};
    ConfigInputs inputs;
    inputs.environment = [&](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
    const auto config = load_config(inputs);
    if (!config) FAIL(config_error_text(config.error()));
    for (const ConfigOption& option : config_options()) {
      if (option.name == "config" || option.name == "db" || option.secret()) continue;
      if (!option.default_note.empty()) continue;
      INFO(option.name);
      CHECK(config_value_text(option, *config) == config_value_text(option, Config{}));
    }
  }
}

TEST_CASE("the reference in the documents equals the program's output", "[cli]") {
  std::ifstream file(std::string(COFFER_SOURCE_DIR) + "/docs/configuration.md");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str() == settings_reference());
}

TEST_CASE("the table of commands in the contract has the first word of every command", "[cli]") {
  std::ifstream file(std::string(COFFER_SOURCE_DIR) + "/docs/contract.md");
  std::string line;
  while (std::getline(file, line) && line != "| Command | Purpose |") {
  }
  REQUIRE(std::getline(file, line));  // the rule below the heading
  std::multiset<std::string> documented;
  while (std::getline(file, line) && line.starts_with("| ")) {
    const std::string cell = line.substr(0, line.find(" | "));
    for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at)) {
      const std::size_t end = cell.find('`', at + 1);
      documented.insert(cell.substr(at + 1, end - at - 1));
      at = end + 1;
    }
  }
  std::multiset<std::string> known;
  for (const Command& command : commands()) {
    const std::string word(command.path.substr(0, command.path.find(' ')));
    if (known.count(word) == 0) known.insert(word);
  }
  CHECK(documented == known);
}

TEST_CASE("texts contain no roff requests", "[cli]") {
  CHECK(roff_text("a-b") == "a\\-b");
  CHECK(roff_text(".TH x\n'so y\\n") == "\\&.TH x\n\\&'so y\\en");
  CHECK(roff_text("in . between") == "in . between");
}
