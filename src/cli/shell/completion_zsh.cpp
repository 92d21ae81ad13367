// coffer completion zsh.
#include "cli/shell/completion.h"
#include "cli/shell/words.h"

namespace coffer::cli {
namespace {

using Kind = Completed::Kind;

constexpr std::string_view kStart = R"(#compdef coffer
# zsh completion of coffer, made by: coffer completion zsh
# Save it as _coffer in a folder of $fpath, or: source <(coffer completion zsh)

)";
constexpr std::string_view kEnd = R"(
_coffer() {
  local context state line
  typeset -A opt_args
  _arguments -C '--help[Print this help]' '--version[Print the version]' '1: :_coffer_first' '*:: :->rest'
  [[ $state = rest ]] && _coffer_rest
}

# As a function of $fpath it is called by its name; sourced, it has to say what it completes.
if [ "$funcstack[1]" = _coffer ]; then _coffer "$@"; else compdef _coffer coffer; fi
)";

/// Inside single quotes, in a place where `:` and brackets mean something.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string action_of(const Completed& value) {
  switch (value.kind) {
    case Kind::nothing:
    case Kind::text:
      return " ";
    case Kind::file:
      return "_files";
    case Kind::words: {
      std::string words;
      for (const std::string& word : value.words) words += (words.empty() ? "(" : " ") + word;
      return words + ")";
    }
  }
  throw InternalError("unknown kind of completion");
}

std::string spec_of(const Completed& option) {
  const bool takes_value = option.kind != Kind::nothing;
  return " '" + option.name + (takes_value ? "=" : "") + "[" + quoted(option.help) + "]" +
         (takes_value ? ":value:" + action_of(option) : "") + "'";
}

std::string describe(const std::string& function, const std::vector<CompletedWord>& words) {
  std::string out = function + "() {\n  local -a words_of=(\n";
  for (const CompletedWord& word : words) {
    out += "    '" + quoted(word.word) + ":" + quoted(word.summary) + "'\n";
  }
  return out + "  )\n  _describe 'command' words_of\n}\n";
}

std::string arguments_of(const CompletedCommand& command, const std::string& indent) {
  std::string out = indent + "_arguments";
  for (const Completed& option : command.options) out += " \\\n" + indent + " " + spec_of(option);
  int number = 0;
  for (const Completed& positional : command.positionals) {
    out += " \\\n" + indent + "  '" + std::to_string(++number) + ":" + quoted(positional.name) +
           ":" + action_of(positional) + "'";
  }
  return out + "\n";
}

}  // namespace

std::string zsh_completion() {
  std::string functions = describe("_coffer_first", first_words());
  std::string rest = "_coffer_rest() {\n  case $words[1] in\n";
  for (const CompletedWord& first : first_words()) {
    const auto below = words_below(first.word);
    rest += "    " + first.word + ")\n";
    if (!below.empty()) {
      functions += describe("_coffer_below_" + first.word, below);
      rest +=
          "      local context state line\n"
          "      _arguments -C '--help[Print this help]' '1: :_coffer_below_" +
          first.word + "' '*:: :->rest'\n      [[ $state = rest ]] && case $words[1] in\n";
    }
    for (const CompletedCommand& command : completed_commands()) {
      if (command.path.front() != first.word) continue;
      if (below.empty()) {
        rest += arguments_of(command, "      ");
      } else {
        rest += "        " + command.path.back() + ")\n" + arguments_of(command, "          ") +
                "          ;;\n";
      }
    }
    rest += std::string(below.empty() ? "" : "      esac\n") + "      ;;\n";
  }
  return std::string(kStart) + functions + rest + "  esac\n}\n" + std::string(kEnd);
}

}  // namespace coffer::cli
