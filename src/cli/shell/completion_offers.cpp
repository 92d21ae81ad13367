// Completions of an incomplete command line.
#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text/next_part.h"
#include "cli/command_line.h"
#include "cli/paths.h"
#include "cli/shell/completion.h"
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

/// The words that may follow a group, which is empty before the first word; none after a command.
std::vector<Offer> words_after(const std::string& group) {
  const std::string start = group.empty() ? "" : group + ' ';
  std::vector<Offer> out;
  for (const Command& command : commands()) {
    if (!command.path.starts_with(start)) continue;
    const std::string_view path = command.path.substr(0, command.path.find(' ', start.size()));
    const std::string word(path.substr(start.size()));
    if (std::ranges::find(out, word, &Offer::word) != out.end()) continue;
    const bool is_group = path.size() < command.path.size();
    out.push_back({word, std::string(is_group ? group_summary(path) : command.summary)});
  }
  return out;
}

Place place_of(const Argument& argument) {
  Place out{argument.spelled(), std::string(argument.help)};
  if (argument.kind == Argument::Kind::toggle) {
    out.takes = Takes::nothing;
  } else if (names_place(argument) || argument.holds_content()) {
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
  std::string path;
  for (std::size_t i = helps ? 1 : 0; i + 1 < typed.size(); ++i) {
    path += (path.empty() ? "" : " ") + typed[i];
    const Command* command = helps ? nullptr : find_command(path);
    if (command != nullptr) {
      return offers_in(*command, {typed.begin() + static_cast<std::ptrdiff_t>(i) + 1, typed.end()});
    }
  }
  std::vector<Offer> words = words_after(path);
  if (!is_option || words.empty()) return {.words = std::move(words)};
  if (typed.size() > 1) return {.words = {{"--help", "Print this help"}}};
  return {.words = {{"--help", "Print this help"},
                    {"--version", "Print the version"},
                    {std::string(kNoColor), "Turn colours off"}}};
}

}  // namespace coffer::cli
