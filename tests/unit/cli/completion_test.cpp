#include "cli/shell/completion.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "base/platform/exit_code.h"
#include "cli/command_line.h"
#include "unit/cli/help_of.h"

using namespace coffer;
using namespace coffer::cli;

namespace {

using Words = std::vector<std::string>;

Words split(const std::string& text) {
  Words out;
  std::istringstream in(text);
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

/// The words offered after `typed`; a trailing space begins a new word.
Words offered(const std::string& typed) {
  Words words = split(typed);
  if (typed.empty() || typed.back() == ' ') words.emplace_back();
  const Offers offers = offers_for(words);
  if (offers.files) return {":file"};
  Words out;
  for (const Offer& offer : offers.words) out.push_back(offer.word);
  return out;
}

bool offers_word(const std::string& typed, const std::string& word) {
  const Words all = offered(typed);
  return std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

TEST_CASE("completion offers every command and every option of its help", "[cli]") {
  for (const Command& command : commands()) {
    const std::string path(command.path);
    INFO(path);
    CHECK(offers_word(path.substr(0, path.rfind(' ') == path.npos ? 0 : path.rfind(' ') + 1),
                      path.substr(path.rfind(' ') + 1)));
    const std::string& help = cli::test::help_of(command).out;
    for (const std::string& option : offered(path + " --")) {
      INFO(option);
      CHECK(help.find(option) != std::string::npos);
    }
    // Conversely: every option in the help.
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      const auto at = line.find("--");
      if (at == std::string::npos || line.find_first_not_of(" -h,") < at || at > 6) continue;
      INFO(line);
      CHECK(offers_word(path + " --", line.substr(at, line.find_first_of(" ,=\n", at) - at)));
    }
  }
}

TEST_CASE("every group has a summary", "[cli]") {
  for (const Offer& word : offers_for({""}).words) {
    INFO(word.word);
    CHECK_FALSE(word.summary.empty());
  }
}

TEST_CASE("completion offers values after each notation of an option", "[cli]") {
  const Words environments{"sandbox", "production"};
  CHECK(offered("rate set --environment ") == environments);
  CHECK(offered("rate set A B 1 --environment pro") == environments);
  CHECK(offered("rate set --environment =") == environments);      // bash, at the equals sign
  CHECK(offered("rate set --environment = pro") == environments);  // bash, behind it
  CHECK(offered("rate set --environment=pro") ==
        Words{"--environment=sandbox", "--environment=production"});
  CHECK(offered("verify --db ") == Words{":file"});
  CHECK(offered("verify --db=he") == Words{":file"});
  CHECK(offered("completion ") == Words{"bash", "zsh", "fish"});
  CHECK(offered("completion bash ").empty());
  CHECK(offered("verify --quick ") == Words{":file"});
  CHECK(offered("--no-color rate ") == offered("rate "));
  CHECK(offered("rate --no-color set --environment ") == environments);
  CHECK(offered("rate --no-c") == Words{"--help"});
  CHECK(offered("help ") == offered(""));
  CHECK(offered("help rate ") == offered("rate "));
  CHECK(offered("help verify ").empty());
  CHECK(offered("no-such-command ").empty());
  CHECK(offered("association no-such-command --").empty());
  CHECK(offers_word("-", "--version"));
  CHECK(offered("association -") == Words{"--help"});
}

TEST_CASE("completions are one line per word, or the marker for files", "[cli]") {
  std::ostringstream out;
  print_offers(out, {"verify", "--db", ""});
  CHECK(out.str() == ":file\n");
  out.str("");
  print_offers(out, {"completion", ""});
  CHECK(out.str() == "bash\t\nzsh\t\nfish\t\n");
}

TEST_CASE("an unknown shell", "[cli]") {
  std::ostringstream out;
  std::ostringstream err;
  const CommandLine line = read_command_line({"completion", "csh"}, {out, err});
  CHECK(line.command == nullptr);
  CHECK(line.exit_code == exit_code::kUsage);
  CHECK(err.str().find("bash|zsh|fish") != std::string::npos);
}
