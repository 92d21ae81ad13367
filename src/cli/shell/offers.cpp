#include "cli/shell/offers.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text/next_part.h"
#include "cli/command_line.h"
#include "cli/paths.h"
#include "config/config_options.h"

namespace coffer::cli {
namespace {

/// An option or a positional, and its kind of value.
struct Place {
  enum class Takes { nothing, words, file, text };

  std::string name;  // of an option including its `--`
  std::string summary;
  Takes takes = Takes::text;
  std::vector<std::string> words = {};
};
using Takes = Place::Takes;

std::string_view first_word(const Command& command) {
  return command.path.substr(0, command.path.find(' '));
}

/// Commands and groups.
std::vector<Offer> first_words() {
  std::vector<Offer> out;
  for (const Command& command : commands()) {
    const std::string_view word = first_word(command);
    if (std::ranges::any_of(out, [&](const Offer& known) { return known.word == word; })) continue;
    const bool is_group = word.size() < command.path.size();
    out.push_back(
        {std::string(word), std::string(is_group ? group_summary(word) : command.summary)});
  }
  return out;
}

/// The words that may follow a group; empty for a command.
std::vector<Offer> words_below(std::string_view group) {
  std::vector<Offer> out;
  for (const Command& command : commands()) {
    if (first_word(command) != group || command.path.size() == group.size()) continue;
    out.push_back(
        {std::string(command.path.substr(group.size() + 1)), std::string(command.summary)});
  }
  return out;
}

Place place_of(const Argument& argument) {
  Place out{argument.spelled(), std::string(argument.help)};
  if (argument.kind == Argument::Kind::toggle) {
    out.takes = Takes::nothing;
  } else if (names_place(argument) || argument.value == Argument::Value::content) {
    out.takes = Takes::file;
  } else if (argument.placeholder.find('|') != std::string_view::npos) {
    out.takes = Takes::words;
    out.words = parts_of(argument.placeholder, '|');
  }
  return out;
}

Place place_of(const ConfigOption& option) {
  Place out{option.flag(), std::string(option.help)};
  if (option.placeholder.empty()) {
    out.takes = Takes::nothing;
  } else if (option.path) {
    out.takes = Takes::file;
  } else if (std::holds_alternative<LogLevel Config::*>(option.target)) {
    out.takes = Takes::words;
    out.words = {"debug", "info", "warning", "error", "off"};
  } else if (std::holds_alternative<std::optional<LogFormat> Config::*>(option.target)) {
    out.takes = Takes::words;
    out.words = {"text", "json", "auto"};
  }
  return out;
}

std::vector<Place> positionals_of(const Command& command) {
  std::vector<Place> out;
  for (const Argument& argument : command.arguments) {
    if (argument.is_positional()) out.push_back(place_of(argument));
  }
  return out;
}

/// Including --json, --help and the settings.
std::vector<Place> options_of(const Command& command) {
  std::vector<Place> out;
  for (const Argument& argument : command.arguments) {
    if (!argument.is_positional()) out.push_back(place_of(argument));
  }
  if (command.prints_data) out.push_back({"--json", "Print JSON", Takes::nothing});
  for (const ConfigOption& option : config_options()) {
    const bool known = command.settings == Settings::server ||
                       (command.settings == Settings::file && option.scope == ConfigScope::file);
    if (known && !option.secret()) out.push_back(place_of(option));
  }
  out.push_back({std::string(kNoColor), "Turn colours off", Takes::nothing});
  out.push_back({"--help", "Print this help", Takes::nothing});
  return out;
}

/// Completions for `place`. `before` is the part before the incomplete word, such as `--format=`.
Offers values_of(const Place& place, const std::string& before = {}) {
  Offers out;
  out.files = place.takes == Takes::file;
  for (const std::string& word : place.words) out.words.push_back({before + word, ""});
  return out;
}

/// Completions for the options and values of `command`, after its own words.
Offers offers_in(const Command& command, std::vector<std::string> typed) {
  const std::vector<Place> options = options_of(command);
  const auto find_option = [&](std::string_view name) -> const Place* {
    const auto found = std::ranges::find(options, name, &Place::name);
    return found == options.end() ? nullptr : &*found;
  };
  const std::string current = std::move(typed.back());
  typed.pop_back();
  const Place* open = nullptr;  // the option whose value comes next
  std::size_t position = 0;
  for (const std::string& word : typed) {
    const Place* option = open == nullptr ? find_option(word) : nullptr;
    if (open == nullptr && !word.starts_with('-')) ++position;
    open = option != nullptr && option->takes != Takes::nothing ? option : nullptr;
  }
  if (open != nullptr) return values_of(*open);
  if (const auto equals = current.find('='); current.starts_with("--") && equals != current.npos) {
    const Place* option = find_option(current.substr(0, equals));
    return option == nullptr ? Offers{} : values_of(*option, current.substr(0, equals + 1));
  }
  if (current.starts_with('-')) {
    Offers out;
    for (const Place& option : options) out.words.push_back({option.name, option.summary});
    return out;
  }
  const std::vector<Place> positionals = positionals_of(command);
  return position < positionals.size() ? values_of(positionals[position]) : Offers{};
}

/// bash passes `--option=value` as three words.
void join_equals(std::vector<std::string>& typed) {
  if (typed.back() == "=") {
    typed.back().clear();
  } else if (typed.size() > 1 && typed[typed.size() - 2] == "=") {
    typed.erase(typed.end() - 2);
  }
}

}  // namespace

Offers offers_for(std::vector<std::string> typed) {
  if (typed.empty()) typed.emplace_back();
  join_equals(typed);
  typed.erase(std::remove(typed.begin(), typed.end() - 1, kNoColor), typed.end() - 1);
  const bool is_option = typed.back().starts_with('-');
  // The arguments of help are the names of commands.
  const bool helps = typed.front() == "help" && !is_option;
  if (typed.size() == 2 && helps) return {.words = first_words()};
  if (typed.size() == 3 && helps) return {.words = words_below(typed[1])};
  if (typed.size() == 1) {
    if (!is_option) return {.words = first_words()};
    return {.words = {{"--help", "Print this help"},
                      {"--version", "Print the version"},
                      {std::string(kNoColor), "Turn colours off"}}};
  }
  if (const Command* command = find_command(typed.front())) {
    return offers_in(*command, {typed.begin() + 1, typed.end()});
  }
  if (typed.size() == 2) {
    if (is_option) return {.words = {{"--help", "Print this help"}}};
    return {.words = words_below(typed.front())};
  }
  const Command* command = find_command(typed[0] + ' ' + typed[1]);
  return command == nullptr ? Offers{} : offers_in(*command, {typed.begin() + 2, typed.end()});
}

}  // namespace coffer::cli
