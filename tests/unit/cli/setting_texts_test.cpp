#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "base/platform/exit_code.h"
#include "cli/settings.h"
#include "config/config_options.h"
#include "source_dir.h"
#include "unit/cli/own_command.h"

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

TEST_CASE("the texts contain every setting and secret", "[cli]") {
  const std::string reference = settings_reference();
  const std::string sample = settings_file();
  for (const ConfigOption& option : config_options()) {
    const std::string name(option.name);
    if (name == "config") continue;
    INFO(name);
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

TEST_CASE("the unit loads every secret of the table as a credential, in its order", "[cli]") {
  std::vector<std::string> wanted;
  for (const ConfigOption& option : config_options()) {
    const std::string name(option.name);
    if (option.secret()) wanted.push_back("LoadCredential=" + name + ":coffer." + name);
  }
  std::vector<std::string> loaded;
  std::ifstream unit(std::string(COFFER_SOURCE_DIR) + "/packaging/debian/coffer.service");
  for (std::string line; std::getline(unit, line);) {
    if (line.starts_with("LoadCredential=")) loaded.push_back(line);
  }
  CHECK(loaded == wanted);
}

TEST_CASE("a setting in effect is printed, however the file spells it", "[cli]") {
  const cli::test::Folder folder;
  const std::string path = folder.file("coffer.toml");
  const std::string db = folder.file("a b.db");
  const auto printed = [&](const std::string& name) {
    return cli::test::run_own("settings", {{"WHAT", name}}, {{"config", path}}, false);
  };
  for (const std::string& line :
       {"db = \"" + db + "\"", "db = '" + db + "'", "\"db\"=\"" + db + "\" # here",
        "'db' = '" + db + "'", "db = \"\"\"\n" + db + "\"\"\"", "  db\t=\t'''" + db + "'''",
        "db = \"\\u002f" + db.substr(1) + "\"", std::string("db = \"a b.db\"")}) {
    CAPTURE(line);
    cli::test::put(path, "drain_s = 3\n" + line + "\n");
    CHECK(printed("db").out == db + "\n");
    CHECK(printed("drain_s").out == "3\n");
  }
  const cli::test::Ran secret = printed("metrics_token");
  CHECK(secret.code == exit_code::kUsage);
  CHECK(has(secret.err, "secret"));
  const cli::test::Ran unknown = printed("drain");
  CHECK(unknown.code == exit_code::kUsage);
  CHECK(has(unknown.err, "did you mean drain_s?"));
  cli::test::put(path, "db = \n");
  const cli::test::Ran invalid = printed("db");
  CHECK(invalid.code == exit_code::kConfiguration);
  CHECK(invalid.out.empty());
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
