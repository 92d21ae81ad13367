#include "cli/shell/completion.h"

#include <array>
#include <utility>

#include "base/platform/exit_code.h"
#include "cli/command_groups.h"

namespace coffer::cli {
namespace {

// Works with bash 3.2 and later, without the bash-completion package. bash splits words at =, so
// `--option=value` arrives as three words.
constexpr std::string_view kBash = R"sh(# bash completion of coffer, made by: coffer completion bash
# In ~/.bashrc: source <(coffer completion bash)

_coffer() {
  local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]} coffer=${COMP_WORDS[0]/#\~/$HOME} line words=
  [ "$current" != = ] || current=
  COMPREPLY=()
  for line in $("$coffer" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    if [ "$line" = :file ]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$current"))
      return
    fi
    words+=${line%%$'\t'*}$'\n'
  done
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _coffer coffer
)sh";

constexpr std::string_view kZsh = R"sh(#compdef coffer
# zsh completion of coffer, made by: coffer completion zsh
# Save it as _coffer in a folder of $fpath, or: source <(coffer completion zsh)

_coffer() {
  local line
  local -a offers
  for line in ${(f)"$(${~words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    if [[ $line = :file ]]; then
      compset -P '--*='
      _files
      return
    fi
    offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  _describe 'coffer' offers
}

# As a function of $fpath it is called by its name; sourced, it has to say what it completes.
if [ "$funcstack[1]" = _coffer ]; then _coffer "$@"; else compdef _coffer coffer; fi
)sh";

constexpr std::string_view kFish = R"sh(# fish completion of coffer, made by: coffer completion fish
# Save it as ~/.config/fish/completions/coffer.fish

function __coffer_offers
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l offers ($words[1] __complete $words[2..] "$current" 2>/dev/null)
    if test "$offers[1]" = :file
        __fish_complete_path $current
    else
        printf '%s\n' $offers
    end
end
complete -c coffer -f -a '(__coffer_offers)'
)sh";

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kScripts = {
    {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}};

int completion(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  for (const auto& [shell, script] : kScripts) {
    if (shell == arguments.text("SHELL")) console.out << script << std::flush;
  }
  return exit_code::kDone;
}

}  // namespace

void print_offers(std::ostream& out, std::vector<std::string> typed) {
  const Offers offers = offers_for(std::move(typed));
  if (offers.files) out << ":file\n";
  for (const Offer& offer : offers.words) out << offer.word << '\t' << offer.summary << '\n';
}

std::vector<Command> completion_commands() {
  return {{.path = "completion",
           .summary = "Print a completion script for a shell",
           .run = completion,
           .arguments = {positional_choice("SHELL", "bash|zsh|fish", "Shell: bash, zsh or fish")},
           .settings = Settings::none,
           .prints_data = false,
           .details = "bash: add source <(coffer completion bash) to ~/.bashrc\nzsh:  save "
                      "the output as _coffer in a folder of $fpath\nfish: coffer "
                      "completion fish > ~/.config/fish/completions/coffer.fish"}};
}

}  // namespace coffer::cli
