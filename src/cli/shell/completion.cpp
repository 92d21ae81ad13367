#include "cli/shell/completion.h"

#include <array>

#include "cli/exit_code.h"

namespace coffer::cli {
namespace {

struct Shell {
  std::string_view name;
  std::string (*script)();
};
constexpr std::array<Shell, 3> kShells = {
    {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}};

int completion(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  for (const Shell& shell : kShells) {
    if (shell.name == arguments.text("SHELL")) console.out << shell.script() << std::flush;
  }
  return exit_code::kDone;
}

}  // namespace

std::vector<Command> completion_commands() {
  return {{.path = "completion",
           .summary = "Print a script that completes coffer's commands in a shell",
           .run = completion,
           .arguments = {positional_choice("SHELL", "bash|zsh|fish", "bash, zsh or fish")},
           .settings = Settings::none,
           .prints_data = false,
           .details = "bash: source <(coffer completion bash), in ~/.bashrc to keep it\n"
                      "zsh:  coffer completion zsh > a file _coffer in a folder of $fpath\n"
                      "fish: coffer completion fish > ~/.config/fish/completions/coffer.fish"}};
}

}  // namespace coffer::cli
