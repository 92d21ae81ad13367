#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "provider_sim/options.h"

namespace coffer::cli {
namespace {

/// The path of coffer-provider-sim in the folder of this program. If the system does not report
/// that folder, its bare name, which is looked up in PATH.
std::string program() {
  std::filesystem::path folder;
#if defined(__linux__)
  std::error_code unknown;
  folder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
#elif defined(__APPLE__)
  // Homebrew installs both into a folder of PATH.
#endif
  return folder / provider_sim::kProgram;
}

int provider_sim_run(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  std::vector<std::string> words = {program()};
  for (const auto& [name, value] : arguments.values) words.push_back("--" + name + "=" + value);
  if (arguments.json) words.emplace_back("--json");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  print_error(console, "cannot run " + words.front() + ": " + std::strerror(errno) +
                           ". Install it next to coffer");
  return exit_code::kFailed;
}

std::vector<Argument> options() {
  std::vector<Argument> out;
  for (const auto& row : provider_sim::kOptions) {
    const auto value = row.is_path  ? Argument::Value::path
                       : row.is_url ? Argument::Value::url
                                    : Argument::Value::text;
    out.push_back(naming(value, option(row.name, row.placeholder, row.help, row.fallback)));
  }
  return out;
}

}  // namespace

std::vector<Command> provider_sim_commands() {
  return {{.path = "provider-sim",
           .summary = "Run a simulated payment provider that implements the provider protocol",
           .run = provider_sim_run,
           .arguments = options(),
           .settings = Settings::none,
           .details =
               "The last four digits of the account select the outcome, as in the sandbox. A "
               "fault is\nname=probability[:ms]; separate several with commas. PUT "
               "/control/faults changes them at run time."}};
}

}  // namespace coffer::cli
