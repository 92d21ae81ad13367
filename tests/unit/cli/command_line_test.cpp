#include "cli/command_line.h"

#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "base/platform/exit_code.h"
#include "cli/paths.h"
#include "unit/cli/help_of.h"

using namespace coffer;
using namespace coffer::cli;

namespace {

struct Read {
  CommandLine line;
  std::string out;
  std::string err;
};

Read read(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const Console console{out, err};
  CommandLine line = read_command_line(arguments, console);
  return {std::move(line), out.str(), err.str()};
}

/// The error of a line that is wrong usage.
std::string said(const std::vector<std::string>& arguments) {
  const Read wrong = read(arguments);
  CHECK(wrong.line.command == nullptr);
  CHECK(wrong.line.exit_code == exit_code::kUsage);
  return wrong.err;
}

}  // namespace

TEST_CASE("every command is found by its path and explains itself", "[cli]") {
  std::set<std::string_view> seen;
  for (const Command& command : commands()) {
    INFO(command.path);
    CHECK(seen.insert(command.path).second);
    CHECK(find_command(command.path) == &command);
    CHECK_FALSE(command.summary.empty());
    const cli::test::Help& help = cli::test::help_of(command);
    CHECK(help.line.command == nullptr);
    CHECK(help.line.exit_code == 0);
    CHECK(help.err.empty());
    CHECK(help.out.find(command.summary) == 0);
    CHECK(help.out.back() == '\n');
  }
  CHECK(find_command("frobnicate") == nullptr);
}

TEST_CASE("texts of commands: phrases without a period, consequences as sentences", "[cli]") {
  const auto is_phrase = [](std::string_view text) {
    return text.empty() || (text.front() < 'a' && !text.ends_with('.'));
  };
  for (const Command& command : commands()) {
    INFO(command.path);
    CHECK_FALSE(command.summary.empty());
    CHECK(is_phrase(command.summary));
    CHECK(is_phrase(command.label));
    CHECK(is_phrase(command.hint));
    CHECK((command.consequence.empty() || command.consequence.ends_with('.')));
    const bool on_page = command.is_on_file() && !command.streams && !requires_place(command);
    CHECK((!on_page || command.role == OperatorRole::viewer || !command.label.empty()));
    for (const Argument& argument : command.arguments) {
      INFO(argument.name);
      CHECK_FALSE(argument.help.empty());
      CHECK_FALSE(argument.help.ends_with('.'));
      CHECK(is_phrase(argument.label));
    }
  }
}

TEST_CASE("every command that prints data has --json, every one on a file has --db", "[cli]") {
  for (const Command& command : commands()) {
    INFO(command.path);
    const std::string& help = cli::test::help_of(command).out;
    CHECK((help.find("--json") != std::string::npos) ==
          (command.prints_data || command.path == "demo"));
    // The simulated provider has another kind of file.
    CHECK((help.find("--db") != std::string::npos) ==
          (command.settings != Settings::none || command.path == "provider-sim"));
    if (command.is_on_file()) CHECK(command.settings == Settings::file);
  }
}

TEST_CASE("the help marks exactly the required options of a command", "[cli]") {
  for (const Command& command : commands()) {
    const std::string& help = cli::test::help_of(command).out;
    for (const Argument& argument : command.arguments) {
      if (argument.kind == Argument::Kind::positional) continue;
      INFO(command.path << " --" << argument.name);
      const bool marked =
          help.find(std::string(argument.help) + " (required)") != std::string::npos;
      CHECK(marked == argument.required);
    }
  }
}

TEST_CASE("no arguments and only a group are wrong usage, with the help", "[cli]") {
  for (const auto& arguments : {std::vector<std::string>{}, {"rate"}}) {
    const Read none = read(arguments);
    CHECK(none.line.command == nullptr);
    CHECK(none.line.exit_code == exit_code::kUsage);
    CHECK(none.out.empty());
    CHECK(none.err.find("Usage: coffer") != std::string::npos);
  }
}

TEST_CASE("arguments, flags and switches reach the command", "[cli]") {
  const Read read_line = read({"application", "register", "--name", "backend", "--association", "x",
                               "--json", "--db", "/tmp/a.db"});
  REQUIRE(read_line.line.command != nullptr);
  CHECK(read_line.line.command->path == "application register");
  CHECK(read_line.line.arguments.text("name") == "backend");
  CHECK(read_line.line.arguments.text("environment") == "sandbox");  // the fallback
  CHECK(read_line.line.arguments.find("scopes") == std::nullopt);
  CHECK(read_line.line.arguments.json);
  CHECK(read_line.line.flags.at("db") == "/tmp/a.db");
}

TEST_CASE("an option with an implied value takes one or none", "[cli]") {
  CHECK_FALSE(read({"demo"}).line.arguments.has("env"));
  CHECK(read({"demo", "--env"}).line.arguments.text("env") == ".env");
  const Read followed = read({"demo", "--env", "--json", "--port", "0"});
  CHECK(followed.line.arguments.text("env") == ".env");
  CHECK(followed.line.arguments.json);
  CHECK(followed.line.arguments.text("port") == "0");
  for (const auto& arguments : {std::vector<std::string>{"demo", "--env=keys.env"},
                                {"demo", "--env", "keys.env", "--json"}}) {
    CHECK(read(arguments).line.arguments.text("env") == "keys.env");
  }
  CHECK(said({"demo", "--env", "a", "b"}).find("unexpected argument \"b\"") != std::string::npos);
}

TEST_CASE("wrong usage names the error and the help", "[cli]") {
  const auto fault = [](const std::vector<std::string>& arguments) {
    const Read wrong = read(arguments);
    CHECK(wrong.line.command == nullptr);
    CHECK(wrong.line.exit_code == exit_code::kUsage);
    CHECK(wrong.out.empty());
    return wrong.err;
  };
  CHECK(fault({"frobnicate"}).find("frobnicate") != std::string::npos);
  CHECK(fault({"association", "create"}).find("see coffer association create --help") !=
        std::string::npos);
  CHECK(fault({"association", "create", "a", "b"}).find("coffer:") == 0);
  CHECK(fault({"application", "register"}).find("--name") != std::string::npos);
  CHECK(fault({"rate", "list", "--environment", "moon"}).find("sandbox|production") !=
        std::string::npos);
  CHECK(fault({"association", "create", " "}).find("NAME must not be blank") != std::string::npos);
}

TEST_CASE("a typo gets a suggestion, and the help of its command", "[cli]") {
  CHECK(said({"walet", "list"}) ==
        "coffer: unknown command \"walet\"; did you mean \"wallet\"? See coffer --help\n");
  CHECK(said({"walet", "verify"}) ==
        "coffer: unknown command \"walet\"; did you mean \"wallet\"? See coffer --help\n");
  CHECK(said({"frobnicate"}) == "coffer: unknown command \"frobnicate\"; see coffer --help\n");
  CHECK(said({"rate", "sett"}) ==
        "coffer: unknown command \"sett\"; did you mean \"set\"? See coffer rate --help\n");
  CHECK(
      said({"rate", "list", "--jsno"}) ==
      "coffer: unknown option \"--jsno\"; did you mean \"--json\"? See coffer rate list --help\n");
  // A missing option is often only misspelled.
  CHECK(said({"application", "register", "--nmae=x"}) ==
        "coffer: unknown option \"--nmae\"; did you mean \"--name\"? See coffer application "
        "register --help\n");
  CHECK(said({"rate", "list", "--environment", "Sandbox"}) ==
        "coffer: --environment \"Sandbox\" is not one of sandbox|production; did you mean "
        "\"sandbox\"? See coffer rate list --help\n");
  CHECK(said({"verify", "a", "b"}) ==
        "coffer: unexpected argument \"b\"; see coffer verify --help\n");
  CHECK(said({"WALLET"}) ==
        "coffer: unknown command \"WALLET\"; did you mean \"wallet\"? See coffer --help\n");
  CHECK(said({"--verison"}) ==
        "coffer: unknown option \"--verison\"; did you mean \"--version\"? See coffer --help\n");
  CHECK(said({"rate", "list", "-json"}) ==
        "coffer: unknown option \"-json\"; did you mean \"--json\"? See coffer rate list --help\n");
  CHECK(said({"serve", "--listen-htp", "x"}) ==
        "coffer: unknown option \"--listen-htp\"; did you mean \"--listen-http\"? See coffer serve "
        "--help\n");
  CHECK(said({"completion", "bsh"}) ==
        "coffer: SHELL \"bsh\" is not one of bash|zsh|fish; did you mean \"bash\"? See coffer "
        "completion --help\n");
  CHECK(said({"association", "create", "--nmae", "x"}) ==
        "coffer: unknown option \"--nmae\"; see coffer association create --help\n");
}

TEST_CASE("wrong numbers of arguments and values name the argument and what it takes", "[cli]") {
  CHECK(said({"wallet", "show"}) ==
        "coffer: missing ID (ID of the wallet); see coffer wallet show --help\n");
  CHECK(said({"wallet", "fund", "--amount", "1"}) ==
        "coffer: missing ID (ID of the wallet), --asset CODE; see coffer wallet fund --help\n");
  CHECK(said({"rate", "list", "--environment"}) ==
        "coffer: --environment needs a value: sandbox|production; see coffer rate list --help\n");
  CHECK(said({"payment", "list", "--limit="}) ==
        "coffer: --limit needs a value: N; see coffer payment list --help\n");
  CHECK(said({"payment", "list", "--limit", "1", "--limit", "2"}) ==
        "coffer: --limit may be given only once; see coffer payment list --help\n");
  for (const char* flag : {"--json=no", "--json=5", "--json=maybe"}) {
    CHECK(said({"rate", "list", flag}) ==
          "coffer: --json takes no value; see coffer rate list --help\n");
  }
  CHECK(said({"verify", "--quick=x"}) ==
        "coffer: --quick takes no value; see coffer verify --help\n");
  CHECK(said({"serve", "--admin-plain-http=x"}) ==
        "coffer: --admin-plain-http \"x\" must be true or false; see coffer serve --help\n");
  CHECK(read({"serve", "--admin-plain-http=false"}).line.flags.at("admin_plain_http") == "false");
  CHECK(said({"--db", "x", "verify"}) ==
        "coffer: option \"--db\" must follow its command; see coffer --help\n");
}

TEST_CASE("the help of every command is its own, and an unknown command has none", "[cli]") {
  std::set<std::string> groups;
  for (const Command& command : commands()) {
    INFO(command.path);
    const std::string& help = cli::test::help_of(command).out;
    CHECK(help.find("Usage: coffer " + std::string(command.path)) != std::string::npos);
    const auto space = command.path.find(' ');
    if (space != std::string_view::npos) groups.emplace(command.path.substr(0, space));
  }
  for (const std::string& group : groups) {
    INFO(group);
    const Read unknown = read({group, "frobnicate", "--help"});
    CHECK(unknown.line.exit_code == exit_code::kUsage);
    CHECK(unknown.out.empty());
    CHECK(unknown.err ==
          "coffer: unknown command \"frobnicate\"; see coffer " + group + " --help\n");
  }
  CHECK(read({"frobnicate", "--help"}).line.exit_code == exit_code::kUsage);
  CHECK(read({"rate", "sett", "-h"}).err.find("did you mean \"set\"?") != std::string::npos);
  // Help after other mistakes, because it explains them.
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"rate", "set", "A", "B", "C", "D", "--help"}, {"rate", "list", "--jsno", "--help"}}) {
    const Read help = read(words);
    CHECK(help.line.exit_code == exit_code::kDone);
    CHECK(help.out.find("Usage: coffer " + words[0] + " " + words[1]) != std::string::npos);
  }
}

TEST_CASE("help is a command, too, and -v prints the version", "[cli]") {
  const auto printed = [](const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    const Console console{out, err};
    const CommandLine line = read_command_line(words, console);
    REQUIRE(line.command != nullptr);
    CHECK(std::get<OwnCommand>(line.command->run)(console, line.arguments, line.flags) == 0);
    CHECK(err.str().empty());
    return out.str();
  };
  CHECK(printed({"help"}) == read({"--help"}).out);
  CHECK(printed({"help", "rate"}) == read({"rate", "--help"}).out);
  CHECK(printed({"help", "rate", "set"}) == read({"rate", "set", "--help"}).out);
  CHECK(printed({"help", "help"}) == read({"help", "--help"}).out);
  CHECK(read({"-v"}).out == read({"--version"}).out);
  CHECK_FALSE(read({"-v"}).out.empty());
}

TEST_CASE("help for an unknown word fails like the command itself", "[cli]") {
  const auto said = [](const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    const Console console{out, err};
    const CommandLine line = read_command_line(words, console);
    REQUIRE(line.command != nullptr);
    CHECK(std::get<OwnCommand>(line.command->run)(console, line.arguments, line.flags) ==
          exit_code::kUsage);
    CHECK(out.str().empty());
    return err.str();
  };
  CHECK(said({"help", "walet"}) ==
        "coffer: unknown command \"walet\"; did you mean \"wallet\"? See coffer --help\n");
  CHECK(said({"help", "wallet", "shwo"}) ==
        "coffer: unknown command \"shwo\"; did you mean \"show\"? See coffer wallet --help\n");
  CHECK(said({"help", "verify", "x"}) ==
        "coffer: unexpected argument \"x\"; see coffer verify --help\n");
}

TEST_CASE("a command name is also accepted as an argument", "[cli]") {
  for (const char* name : {"list", "wallet", "association", "verify"}) {
    const Read backup = read({"backup", name});
    REQUIRE(backup.line.command != nullptr);
    CHECK(backup.line.command->path == "backup");
    CHECK(backup.line.arguments.text("FILE") == name);
  }
}

TEST_CASE("-- separates the arguments of a command, and not its words", "[cli]") {
  CHECK(said({"--", "nonsense"}) == said({"nonsense"}));
  CHECK(said({"wallet", "--", "lst"}) == said({"wallet", "lst"}));
  CHECK(said({"rate", "list", "--", "x"}) == said({"rate", "list", "x"}));
  CHECK(said({"backup", "--", "x", "y"}) == said({"backup", "x", "y"}));
  CHECK(read({"--", "rate", "list"}).line.command->path == "rate list");
  CHECK(read({"rate", "--", "list"}).line.command->path == "rate list");
  CHECK(read({"backup", "--", "--x"}).line.arguments.text("FILE") == "--x");
  CHECK(read({"association", "create", "--", "--"}).line.arguments.text("NAME") == "--");
}

TEST_CASE("every command takes --no-color", "[cli]") {
  CHECK(read({"rate", "list", "--no-color"}).line.command != nullptr);
  CHECK(read({"--no-color", "rate", "list"}).line.command != nullptr);
}

TEST_CASE("text must be UTF-8 of limited length, without control characters", "[cli]") {
  const auto accepted = [](const std::string& name) {
    return read({"association", "create", name}).line.command != nullptr;
  };
  CHECK(accepted("Müller & Söhne"));
  CHECK(accepted("北京 🏦"));
  CHECK_FALSE(accepted("\xff"));
  CHECK_FALSE(accepted("\xc0\x80"));          // an overlong NUL
  CHECK_FALSE(accepted("\xe0\x80\x80"));      // overlong
  CHECK_FALSE(accepted("\xed\xa0\x80"));      // a surrogate
  CHECK_FALSE(accepted("\xf4\x90\x80\x80"));  // beyond Unicode
  CHECK_FALSE(accepted("abc\xe2\x82"));       // cut short
  CHECK_FALSE(accepted("a\x1b[2J"));
  CHECK_FALSE(accepted("a\nb"));
  CHECK_FALSE(accepted(std::string(5'000, 'x')));
}

TEST_CASE("requests on the control socket are checked with the same table", "[cli]") {
  const Command& command = *find_command("rate list");
  Arguments unknown{{{"nonsense", "x"}}, false};
  CHECK_FALSE(check_arguments(command, unknown));
  Arguments wrong{{{"environment", "moon"}}, false};
  CHECK_FALSE(check_arguments(command, wrong));
  Arguments fine{{{"environment", "production"}}, false};
  CHECK(check_arguments(command, fine));
  Arguments missing;
  CHECK_FALSE(check_arguments(*find_command("association create"), missing));
}

TEST_CASE("numbers of options: integers within bounds, with an explanation", "[cli]") {
  const auto fault_of = [](const std::string& text, int min, int max) {
    const Arguments arguments{{{"n", text}}, false};
    const auto number = number_argument(arguments, "n", min, max);
    return number ? std::to_string(*number) : number.error().detail;
  };
  CHECK(fault_of("7", 1, 10) == "7");
  CHECK(fault_of("11", 1, 10) == "--n \"11\" must be a whole number from 1 to 10.");
  for (const char* text : {"0", "7x", " 7", "", "1.0", "99999999999999999999"}) {
    CHECK(fault_of(text, 1, 10).find("must be") != std::string::npos);
  }
  constexpr int kMin = std::numeric_limits<int>::min();
  constexpr int kMax = std::numeric_limits<int>::max();
  CHECK(fault_of("-7", kMin, kMax) == "-7");
  CHECK(fault_of("x", kMin, kMax) == "--n \"x\" must be a whole number.");
  CHECK(fault_of("-1", 0, kMax) == "--n \"-1\" must be a whole number of at least 0.");
  CHECK(fault_of("3", kMin, 2) == "--n \"3\" must be a whole number of at most 2.");
}
