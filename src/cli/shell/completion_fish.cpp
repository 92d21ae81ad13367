// coffer completion fish.
#include "cli/shell/completion.h"
#include "cli/shell/words.h"

namespace coffer::cli {
namespace {

using Kind = Completed::Kind;

constexpr std::string_view kStart = R"(# fish completion of coffer, made by: coffer completion fish
# Save it as ~/.config/fish/completions/coffer.fish

# The words so far are exactly these: a command has still to be named.
function __coffer_after
    set -l words (commandline -opc)
    test "$words[2..]" = "$argv"
end
# The words so far begin with these: the command is named.
function __coffer_in
    set -l words (commandline -opc)
    set -l last (math (count $argv) + 1)
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

complete -c coffer -f
complete -c coffer -n __coffer_after -l help -d 'Print this help'
complete -c coffer -n __coffer_after -s v -l version -d 'Print the version'
)";

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string value_of(const Completed& value) {
  switch (value.kind) {
    case Kind::nothing:
      return {};
    case Kind::text:
      return " -x";
    case Kind::file:
      return " -r -F";
    case Kind::words:
      return " -x -a " + quoted(joined(value.words));
  }
  throw InternalError("unknown kind of completion");
}

std::string rule(const std::string& condition, const std::string& rest, const std::string& help) {
  return "complete -c coffer -n '" + condition + "'" + rest + " -d " + quoted(help) + "\n";
}

std::string rules_of(const CompletedCommand& command) {
  const std::string inside = "__coffer_in " + joined(command.path);
  std::string out;
  for (const Completed& option : command.options) {
    out += rule(inside, " -l " + option.name.substr(2) + value_of(option), option.help);
  }
  if (command.positionals.empty()) return out;
  const Completed& first = command.positionals.front();
  if (first.kind == Kind::words)
    out += rule(inside, " -a " + quoted(joined(first.words)), first.help);
  if (first.kind == Kind::file) out += rule(inside, " -F", first.help);
  return out;
}

}  // namespace

std::string fish_completion() {
  std::string out(kStart);
  for (const CompletedWord& first : first_words()) {
    out += rule("__coffer_after", " -a " + first.word, first.summary);
    for (const CompletedWord& second : words_below(first.word)) {
      out += rule("__coffer_after " + first.word, " -a " + second.word, second.summary);
    }
  }
  for (const CompletedCommand& command : completed_commands()) out += rules_of(command);
  return out;
}

}  // namespace coffer::cli
