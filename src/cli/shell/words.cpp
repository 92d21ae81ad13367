#include "cli/shell/words.h"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <variant>

#include "cli/command_line.h"
#include "config_options.h"

namespace coffer::cli {
namespace {

using Kind = Completed::Kind;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// First words of all commands, each once.
std::vector<std::string> command_words() {
  std::vector<std::string> out;
  for (const Command& command : commands()) {
    std::string word(command.path.substr(0, command.path.find(' ')));
    if (std::find(out.begin(), out.end(), word) == out.end()) out.push_back(std::move(word));
  }
  return out;
}

Completed completed(const Argument& argument) {
  Completed out{
      (argument.kind == Argument::Kind::positional ? "" : "--") + std::string(argument.name),
      std::string(argument.help)};
  if (argument.kind == Argument::Kind::toggle) {
    out.kind = Kind::nothing;
  } else if (argument.placeholder.find('|') != std::string_view::npos) {
    out.kind = Kind::words;
    out.words = split(argument.placeholder, '|');
  } else if (argument.placeholder == "FILE" || argument.name == "FILE") {
    out.kind = Kind::file;
  } else if (argument.name == "COMMAND") {
    out.kind = Kind::words;
    out.words = command_words();
  }
  return out;
}

Completed completed(const ConfigOption& option) {
  Completed out{option.flag(), std::string(option.help)};
  if (option.placeholder.empty()) {
    out.kind = Kind::nothing;
  } else if (option.path) {
    out.kind = Kind::file;
  } else if (std::holds_alternative<LogLevel Config::*>(option.target)) {
    out.kind = Kind::words;
    out.words = {"debug", "info", "warning", "error", "off"};
  } else if (std::holds_alternative<std::optional<LogFormat> Config::*>(option.target)) {
    out.kind = Kind::words;
    out.words = {"text", "json", "auto"};
  }
  return out;
}

CompletedCommand completed(const Command& command) {
  CompletedCommand out{split(command.path, ' '), std::string(command.summary), {}, {}};
  for (const Argument& argument : command.arguments) {
    const bool bare = argument.kind == Argument::Kind::positional;
    (bare ? out.positionals : out.options).push_back(completed(argument));
  }
  if (command.prints_data) out.options.push_back({"--json", "Print JSON", Kind::nothing});
  for (const ConfigOption& option : config_options()) {
    const bool known = command.settings == Settings::server ||
                       (command.settings == Settings::file && option.scope == ConfigScope::file);
    if (known && !option.secret()) out.options.push_back(completed(option));
  }
  out.options.push_back({std::string(kNoColor), "Without colours", Kind::nothing});
  out.options.push_back({"--help", "Print this help", Kind::nothing});
  return out;
}

}  // namespace

std::vector<CompletedCommand> completed_commands() {
  std::vector<CompletedCommand> out;
  for (const Command& command : commands()) out.push_back(completed(command));
  return out;
}

std::vector<CompletedWord> first_words() {
  std::vector<CompletedWord> out;
  for (const CompletedCommand& command : completed_commands()) {
    const std::string& word = command.path.front();
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const CompletedWord& one) { return one.word == word; });
    if (known) continue;
    const bool group = command.path.size() > 1;
    out.push_back({word, group ? std::string(group_summary(word)) : command.summary});
  }
  return out;
}

std::vector<CompletedWord> words_below(const std::string& first) {
  std::vector<CompletedWord> out;
  for (const CompletedCommand& command : completed_commands()) {
    if (command.path.size() < 2 || command.path.front() != first) continue;
    out.push_back({command.path.back(), command.summary});
  }
  return out;
}

}  // namespace coffer::cli
