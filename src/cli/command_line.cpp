#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <utility>

#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "config/config_options.h"
#include "config/usage_error.h"
#include "embedded/embedded.h"

namespace coffer::cli {
namespace {

struct Group {
  std::string_view name;
  std::string_view summary;
};

/// First words with subcommands.
constexpr auto kGroups = std::to_array<Group>({
    {"association", "Tenants, which own applications, wallets and all other data"},
    {"application", "Applications that call the API: register, rotate secrets, suspend"},
    {"user", "Users who log in with a password and a one-time code"},
    {"payment", "Find and show payments, retry and resolve stuck ones"},
    {"wallet", "Review and fund wallets, show balances and statements"},
    {"statement", "Statements of wallets as files"},
    {"arrival", "Customer payments without a known reference"},
    {"reconcile", "Statements of banks, matched with payments"},
    {"beneficiary", "Beneficiaries of all associations"},
    {"quote", "Quotes for off-ramp and on-ramp payments"},
    {"asset", "Assets and the liquidity of the market"},
    {"country", "Countries and their codes"},
    {"currency", "Currencies and their codes"},
    {"rate", "Exchange rates of the market"},
    {"connector", "Payment providers: terms, endpoints, requirements"},
    {"fee", "Connector fees for single associations"},
    {"limit", "Limits of payments"},
    {"period", "Closed months of the ledger"},
    {"report", "Settlement, fees and conversions of a period"},
    {"events", "List, follow and resend events"},
    {"webhook", "Webhooks and their deliveries"},
    {"notification", "Messages to recipients of payments"},
    {"alert", "Alerts to the operator by webhook and e-mail"},
    {"logs", "API requests, with redacted bodies"},
    {"archive", "Archive of the database"},
    {"backups", "Backups in backup_dir"},
    {"replica", "Role of a server in a replicated ledger"},
    {"sandbox", "Clock of a demo"},
    {"operator", "Operators of the admin page and their roles"},
    {"operator token", "Tokens of operators' programs"},
    {"admin", "Access to the admin page"},
    {"approval", "Commands that wait for a second operator"},
    {"audit", "Audit log of operator actions"},
    {"key", "Master key that seals the secrets"},
});

std::string one_line_version() {
  return "coffer " + std::string(embedded::version()) + " (" + std::string(embedded::commit()) +
         ")";
}

/// The parser's tree, built from the table of commands. It writes parsed options into `line`, which
/// must outlive it. Only commands whose names are among `words` have their options, because all
/// together are several thousand.
class Tree {
 public:
  Tree(CommandLine& line, std::vector<std::string> words)
      : line_(line),
        words_(std::move(words)),
        root_("Payment gateway in one binary and one SQLite file.", "coffer") {
    root_.set_help_flag("-h,--help", "Print this help");
    root_.set_version_flag("-v,--version", one_line_version(), "Print the version");
    root_.require_subcommand(0, 1);
    take_no_color(root_);
    const auto formatter = root_.get_formatter();
    formatter->column_width(34);
    formatter->label("SUBCOMMAND", "COMMAND");
    formatter->label("REQUIRED", "");
    for (const Command& command : commands()) add(command);
    root_.footer(
        "coffer COMMAND --help describes a command. To try coffer: coffer demo");  // not inherited
                                                                                   // now
  }

  /// Parses the words. Throws CLI::ParseError.
  void parse() {
    drop_separators();
    // The parser takes them from the back.
    root_.parse(std::vector<std::string>(words_.rbegin(), words_.rend()));
  }

  /// Help of the last command or group on the line.
  std::string help() const { return whole_line(root_.help()); }
  std::string help_of(const CLI::App& app) const {
    const CLI::App* parent = app.get_parent();
    return whole_line(app.help(parent == nullptr ? std::string() : command_path(*parent)));
  }
  const Command* chosen() const {
    const auto found = leaves_.find(&named_command(root_));
    return found == leaves_.end() ? nullptr : found->second;
  }
  /// The command or group with this name below `at`; nullptr if not found.
  static const CLI::App* find(const CLI::App& at, const std::string& name) {
    for (const CLI::App* one : at.get_subcommands(nullptr)) {
      if (one->get_name() == name) return one;
    }
    return nullptr;
  }
  const CLI::App& root() const { return root_; }

 private:
  static CLI::App* add_to(CLI::App& parent, const std::string& name, std::string_view summary) {
    CLI::App* added = parent.add_subcommand(name, std::string(summary));
    added->group("Commands");
    added->require_subcommand(
        0, 1);  // after the command, words are arguments, even "list" and "wallet"
    take_no_color(*added);
    return added;
  }

  static void take_no_color(CLI::App& app) {
    const std::string help = "Turn colours off, like NO_COLOR=1";
    take_no_value(*app.add_flag(std::string(kNoColor), help));
  }

  static std::string whole_line(std::string text) {
    return text.ends_with('\n') ? text : text + "\n";
  }

  CLI::App& parent_of(std::string_view path) {
    const auto space = path.rfind(' ');
    if (space == std::string_view::npos) return root_;
    const std::string group(path.substr(0, space));
    CLI::App* there = groups_[group];
    if (there == nullptr) {
      there = add_to(parent_of(group), group.substr(group.rfind(' ') + 1), group_summary(group));
      groups_[group] = there;
    }
    return *there;
  }

  /// Drops each `--` before the name of a command is complete, and after one without positional
  /// arguments: the parser would take the next word for the name of another command.
  void drop_separators() {
    const CLI::App* at = &root_;
    for (auto word = words_.begin(); word != words_.end();) {
      const bool separates = *word == "--";
      if (separates && std::ranges::any_of(at->get_options(), &CLI::Option::get_positional)) return;
      if (const CLI::App* named = find(*at, *word)) at = named;
      word = separates ? words_.erase(word) : word + 1;
    }
  }

  bool may_be_named(const Command& command) const {
    for (const auto part : std::views::split(command.path, ' ')) {
      const std::string_view name(part.begin(), part.end());
      if (std::ranges::find(words_, name) == words_.end()) return false;
    }
    return true;
  }

  void add(const Command& command) {
    CLI::App& parent = parent_of(command.path);
    const std::string name(command.path.substr(command.path.rfind(' ') + 1));
    CLI::App* leaf = add_to(parent, name, command.summary);
    leaves_[leaf] = &command;
    if (!may_be_named(command)) return;
    for (const Argument& argument : command.arguments) add(*leaf, argument);
    if (command.prints_data) {
      take_no_value(*leaf->add_flag("--json", line_.arguments.json, "Print JSON"));
    }
    if (command.settings != Settings::none) {
      const bool serves = command.settings == Settings::server;
      add_config_options(*leaf, serves ? ConfigScope::server : ConfigScope::file, line_.flags);
    }
    if (command.details.empty()) return;
    const std::string below = leaf->get_footer();
    leaf->footer(std::string(command.details) + (below.empty() ? "" : "\n\n") + below);
  }

  void add(CLI::App& leaf, const Argument& argument) {
    const std::string name(argument.name);
    auto& values = line_.arguments.values;
    if (argument.kind == Argument::Kind::toggle) {
      take_no_value(*leaf.add_flag_function(
          argument.spelled(), [&values, name](std::int64_t) { values[name] = "true"; },
          std::string(argument.help)));
      return;
    }
    const std::string implied(argument.implied);
    CLI::Option* option = leaf.add_option_function<std::string>(
        argument.spelled(),
        [&values, name, implied](const std::string& text) {
          values[name] = text.empty() ? implied : text;
        },
        help_of(argument));
    if (!implied.empty()) option->expected(0, 1);
    option->required(argument.required);
    option->type_name(argument.is_positional() ? "" : std::string(argument.placeholder));
  }

  static std::string help_of(const Argument& argument) {
    std::string text(argument.help);
    if (argument.required && !argument.is_positional()) text += " (required)";
    if (!argument.fallback.empty()) text += " [" + std::string(argument.fallback) + "]";
    return text;
  }

  CommandLine& line_;
  std::vector<std::string> words_;
  CLI::App root_;
  std::map<std::string, CLI::App*> groups_;
  std::map<const CLI::App*, const Command*> leaves_;
};

int fail_usage(const Console& console, const std::string& message) {
  print_error(console, message);
  return exit_code::kUsage;
}

int help(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  std::vector<std::string> words;
  for (const char* name : {"COMMAND", "SUBCOMMAND", "ACTION"}) {
    if (const auto word = arguments.find(name)) words.push_back(*word);
  }
  CommandLine none;
  const Tree tree(none, words);
  const CLI::App* at = &tree.root();
  for (const std::string& word : words) {
    const CLI::App* found = Tree::find(*at, word);
    if (found == nullptr) {
      return fail_usage(console, with_help(unexpected_word(*at, word), *at));
    }
    at = found;
  }
  console.out << tree.help_of(*at);
  return exit_code::kDone;
}

}  // namespace

std::string_view group_summary(std::string_view name) {
  for (const Group& group : kGroups) {
    if (group.name == name) return group.summary;
  }
  return {};
}

CommandLine read_command_line(const std::vector<std::string>& arguments, const Console& console) {
  CommandLine line;
  Tree tree(line, arguments);
  try {
    tree.parse();
  } catch (const CLI::CallForVersion&) {
    console.out << one_line_version() << std::endl;
    return line;
  } catch (const CLI::Success&) {
    if (const std::string fault = unknown_command(tree.root()); !fault.empty()) {
      line.exit_code = fail_usage(console, fault);
    } else {
      console.out << tree.help() << std::flush;
    }
    return line;
  } catch (const CLI::ParseError& error) {
    line.exit_code = fail_usage(console, usage_error(tree.root(), error));
    return line;
  }
  line.command = tree.chosen();
  if (line.command == nullptr) {
    console.err << tree.help();
    line.exit_code = exit_code::kUsage;
    return line;
  }
  if (const auto judged = check_arguments(*line.command, line.arguments); !judged) {
    std::string what = judged.error().detail;
    if (what.ends_with('.')) what.pop_back();
    line.command = nullptr;
    line.exit_code = fail_usage(console, with_help(what, named_command(tree.root())));
  }
  return line;
}

std::vector<Command> help_commands() {
  return {{.path = "help",
           .summary = "Print the help of coffer or of a command",
           .run = help,
           .arguments = {{"COMMAND", "Command to describe", Argument::Kind::positional},
                         {"SUBCOMMAND", "Subcommand to describe", Argument::Kind::positional},
                         {"ACTION", "Command below it", Argument::Kind::positional}},
           .settings = Settings::none,
           .prints_data = false}};
}

}  // namespace coffer::cli
