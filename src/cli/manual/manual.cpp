#include "cli/manual/manual.h"

#include <algorithm>
#include <array>

#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "cli/command_line.h"
#include "cli/manual/roff.h"
#include "cli/manual/setting_texts.h"
#include "cli/settings.h"
#include "config/config_options.h"

namespace coffer::cli {
namespace {

struct Text {
  std::string_view name;
  std::string (*print)();
};
constexpr std::array<Text, 2> kPages = {
    {{"coffer", commands_page}, {"coffer.toml", settings_page}}};
constexpr std::array<Text, 2> kSettings = {
    {{"toml", settings_file}, {"markdown", settings_reference}}};

struct ExitCode {
  int code;
  std::string_view meaning;
};
constexpr auto kExitCodes = std::to_array<ExitCode>({
    {exit_code::kDone, "Done."},
    {exit_code::kFailed, "Failed; the reason is on standard error."},
    {exit_code::kUsage, "Usage error. A restart does not help."},
    {exit_code::kFault, "Not healthy, or verification found a violation."},
    {exit_code::kUnreachable, "The server cannot be reached."},
    {70, "It is unknown whether the last write is on disk. Restart the server to find out."},
    {exit_code::kCannotCreate, "A file cannot be created."},
    {exit_code::kCorrupt, "The database is damaged, missing or not a database."},
    {exit_code::kBusy, "Another process uses the database. Try again later."},
    {exit_code::kPermission, "Permission denied."},
    {exit_code::kConfiguration, "The configuration is invalid. A restart does not help."},
    {141, "The reader of standard output exited (SIGPIPE), as a shell reports it."},
});

/// Whether there is such a text.
bool print_one(const Console& console, const std::array<Text, 2>& texts,
               const std::string& wanted) {
  const auto text = std::ranges::find(texts, wanted, &Text::name);
  if (text != texts.end()) console.out << text->print() << std::flush;
  return text != texts.end();
}

/// The table of arguments has already checked the name.
int man(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  print_one(console, kPages, arguments.text("PAGE"));
  return exit_code::kDone;
}

int settings(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  const std::string& what = arguments.text("WHAT");
  if (print_one(console, kSettings, what)) return exit_code::kDone;
  const ConfigOption* option = find_config_option(what);
  if (option == nullptr || option->secret()) {
    const std::string_view nearest = nearest_config_option(what);
    print_error(console,
                option != nullptr
                    ? what + " is a secret, which is not printed"
                    : what + " is not a setting" +
                          (nearest.empty() ? std::string()
                                           : "; did you mean " + std::string(nearest) + "?"));
    return exit_code::kUsage;
  }
  int code = exit_code::kDone;
  if (const auto config = read_settings(console, {.flags = flags}, code)) {
    console.out << config_value_text(*option, *config) << std::endl;
  }
  return code;
}

/// `ID --name TEXT [--json]`, as in the first line of the help.
std::string usage_of(const Command& command) {
  std::string text;
  for (const Argument& argument : command.arguments) {
    std::string one = argument.spelled();
    if (!argument.is_positional() && !argument.placeholder.empty())
      one += " " + std::string(argument.placeholder);
    text += (text.empty() ? "" : " ") + (argument.required ? one : "[" + one + "]");
  }
  if (command.prints_data) text += text.empty() ? "[--json]" : " [--json]";
  return text;
}

void describe(RoffPage& page, const Command& command) {
  page.subsection("coffer " + std::string(command.path));
  page.usage("coffer " + std::string(command.path), usage_of(command));
  page.paragraph(std::string(command.summary) + ".");
  if (!command.details.empty()) page.paragraph(command.details);
  for (const Argument& argument : command.arguments) {
    const bool bare = argument.is_positional();
    std::string text = std::string(argument.help) + ".";
    if (argument.required && !bare) text += " Required.";
    if (!argument.fallback.empty()) text += " Default: " + std::string(argument.fallback) + ".";
    page.item(argument.spelled(), bare ? "" : argument.placeholder, text);
  }
}

}  // namespace

std::string commands_page() {
  RoffPage page("coffer", 1, "payment gateway in one file");
  page.section("SYNOPSIS");
  page.usage("coffer", "COMMAND [ARGUMENTS] [SETTINGS]");
  page.usage("coffer", "help [COMMAND [SUBCOMMAND]]");
  page.section("DESCRIPTION");
  page.paragraph(
      "coffer serves a payment API from one SQLite file: wallets on a double-entry ledger, "
      "payments that are on disk before they are acknowledged, statements, webhooks, and an admin "
      "page. If a server has the file open, commands on that file run inside the server.");
  page.paragraph(
      "To try coffer, run coffer demo. To run it as a service, edit /etc/coffer/coffer.toml and "
      "run coffer admin link.");
  page.section("COMMANDS");
  for (const Command& command : commands()) describe(page, command);
  page.section("OPTIONS");
  page.item("-h, --help", {}, "Print the help of the command.");
  page.item("-v, --version", {}, "Print the version.");
  page.item(std::string(kNoColor), {}, "Turn colours off; every command accepts it.");
  page.section("SETTINGS");
  page.paragraph(
      "Commands that work on a file accept --config, --db and the other settings of the file; "
      "serve and demo accept all settings. Each setting is also a variable and a key of the "
      "configuration file: see coffer.toml(5).");
  page.section("EXIT STATUS");
  for (const ExitCode& code : kExitCodes) page.item(std::to_string(code.code), {}, code.meaning);
  page.section("SIGNALS");
  page.item("SIGTERM, SIGINT", {},
            "Finish the requests in progress, then stop. A second signal stops immediately.");
  page.item("SIGHUP", {}, "Reload the TLS certificate and key, and reopen the log file.");
  page.section("ENVIRONMENT");
  page.item("COFFER_...", {}, "Settings, see coffer.toml(5).");
  page.item("NOTIFY_SOCKET, WATCHDOG_USEC, LISTEN_FDS", {},
            "Set by systemd(1): readiness notification, watchdog, and the kept socket.");
  page.item("CREDENTIALS_DIRECTORY", {},
            "Folder with secrets, in files named after their settings.");
  page.item("NO_COLOR, TERM", {},
            "Colours appear on terminals only, and not with NO_COLOR or TERM=dumb.");
  page.item("COLUMNS", {}, "Width of a terminal that does not report it.");
  page.section("SEE ALSO");
  page.paragraph("coffer.toml(5), systemd.service(5)");
  return page.text();
}

std::vector<Command> manual_commands() {
  return {
      {.path = "man",
       .summary = "Print a manual page",
       .run = man,
       .arguments = {positional_choice("PAGE", "coffer|coffer.toml",
                                       "Page to print: coffer, or coffer.toml for the settings")},
       .settings = Settings::none,
       .prints_data = false},
      {.path = "settings",
       .summary = "Print all settings as a configuration file or as a reference, or one in effect",
       .run = settings,
       .arguments = {positional("WHAT",
                                "toml (a configuration file), markdown (a reference), or the name "
                                "of a setting, whose value in effect is printed")},
       .settings = Settings::server,
       .prints_data = false}};
}

}  // namespace coffer::cli
