// coffer completion bash.
#include <map>

#include "cli/shell/completion.h"
#include "cli/shell/words.h"

namespace coffer::cli {
namespace {

using Kind = Completed::Kind;

constexpr std::string_view kStart = R"(# bash completion of coffer, made by: coffer completion bash
# In ~/.bashrc: source <(coffer completion bash)

)";

// `--option=value` comes as three words, because = separates words there.
constexpr std::string_view kEnd = R"(
_coffer() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} below offered IFS=$' \t\n'
  COMPREPLY=()
  if [ "$current" = = ]; then
    current=
  elif [ "$previous" = = ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  below=$(_coffer_below "$command")
  if [ "$COMP_CWORD" -eq 1 ]; then
    offered=$(_coffer_first)
    case $current in -*) offered='--help --version --no-color' ;; esac
  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$below" ]; then
    offered=$below
    case $current in -*) offered=--help ;; esac
  else
    [ -z "$below" ] || command="$command ${COMP_WORDS[2]}"
    offered=$(_coffer_value "$command" "$previous")
    if [ -z "$offered" ]; then
      case $current in
        -*) offered=$(_coffer_options "$command") ;;
        *) offered=$(_coffer_positionals "$command") ;;
      esac
    fi
  fi
  case $offered in
    FILE)
      compopt -o filenames 2>/dev/null
      IFS=$'\n'
      COMPREPLY=($(compgen -f -- "$current"))
      ;;
    TEXT) ;;
    *) COMPREPLY=($(compgen -W "$offered" -- "$current")) ;;
  esac
}
complete -F _coffer coffer
)";

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string joined(const std::vector<CompletedWord>& words) {
  std::string out;
  for (const CompletedWord& word : words) out += (out.empty() ? "" : " ") + word.word;
  return out;
}

std::string offered(const Completed& value) {
  switch (value.kind) {
    case Kind::nothing:
      return {};
    case Kind::words:
      return joined(value.words);
    case Kind::file:
      return "FILE";
    case Kind::text:
      return "TEXT";
  }
  throw InternalError("unknown kind of completion");
}

/// A function that prints what belongs to its arguments.
class Lookup {
 public:
  explicit Lookup(const std::string& name, const std::string& key) {
    text_ = name + "() {\n  case \"" + key + "\" in\n";
  }
  void add(const std::string& key, const std::string& printed) {
    if (!printed.empty())
      patterns_[printed] += (patterns_[printed].empty() ? "'" : "|'") + key + "'";
  }
  /// What prints the same is one line.
  std::string text() const {
    std::string out = text_;
    for (const auto& [printed, pattern] : patterns_) {
      out += "    " + pattern + ") echo '" + printed + "' ;;\n";
    }
    return out + "  esac\n}\n";
  }

 private:
  std::string text_;
  std::map<std::string, std::string> patterns_;
};

}  // namespace

std::string bash_completion() {
  Lookup below("_coffer_below", "$1");
  for (const CompletedWord& first : first_words())
    below.add(first.word, joined(words_below(first.word)));
  Lookup options("_coffer_options", "$1");
  Lookup values("_coffer_value", "$1 $2");
  Lookup positionals("_coffer_positionals", "$1");
  for (const CompletedCommand& command : completed_commands()) {
    const std::string path = joined(command.path);
    std::vector<std::string> names;
    for (const Completed& option : command.options) {
      names.push_back(option.name);
      values.add(path + " " + option.name, offered(option));
    }
    options.add(path, joined(names));
    if (!command.positionals.empty()) positionals.add(path, offered(command.positionals.front()));
  }
  return std::string(kStart) + "_coffer_first() {\n  echo '" + joined(first_words()) + "'\n}\n" +
         below.text() + options.text() + values.text() + positionals.text() + std::string(kEnd);
}

}  // namespace coffer::cli
