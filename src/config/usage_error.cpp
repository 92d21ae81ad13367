#include "config/usage_error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text/nearest.h"

namespace coffer {
namespace {

/// The number of values of an option: what the parser says, and the clause.
struct Wording {
  std::string_view parser;
  std::string_view clause;
  bool shows_placeholder = false;
};
constexpr auto kWordings = std::to_array<Wording>({
    {" missing", "needs a value", true},
    {"At Most", "may be given only once"},
});

const CLI::App* below(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? nullptr : named.back();
}

/// The first argument that the parser did not take, and the command that it follows.
struct LeftOver {
  const CLI::App* at = nullptr;
  std::string argument{};
};

LeftOver left_over(const CLI::App& root) {
  for (const CLI::App* at = &root; at != nullptr; at = below(*at)) {
    for (const std::string& argument : at->remaining()) {
      if (argument != "--") return {at, argument};
    }
  }
  return {};
}

bool has_option(const CLI::App& app, const std::string& name) {
  if (app.get_option_no_throw(name) != nullptr) return true;
  return std::ranges::any_of(app.get_subcommands(nullptr),
                             [&](const CLI::App* one) { return has_option(*one, name); });
}

std::string unknown_option(const CLI::App& at, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  if (name.starts_with("--") && has_option(at, name)) {
    return "option \"" + name + "\" must follow its command";
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : at.get_options()) {
    for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return "unknown option \"" + name + "\"" + did_you_mean(name, known);
}

/// `--name TEXT`, or `ID (ID of the wallet)`.
std::string shown(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (option.get_positional()) return name + " (" + option.get_description() + ")";
  return name + " " + option.get_type_name();
}

std::string missing_arguments(const CLI::App& at) {
  std::string out;
  for (const CLI::Option* option : at.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    out += (out.empty() ? "missing " : ", ") + shown(*option);
  }
  return out;
}

/// The parser's messages start with the name of the option, except about missing arguments.
std::string clause_about(const CLI::App& at, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (error.get_name() == "RequiredError") return missing_arguments(at);
  for (const CLI::Option* option : at.get_options()) {
    const std::string name = option->get_name();
    if (!text.starts_with(name + ": ")) continue;
    for (const Wording& wording : kWordings) {
      if (error.get_name() != "ArgumentMismatch" || text.find(wording.parser) == std::string::npos)
        continue;
      std::string out = name + " " + std::string(wording.clause);
      return wording.shows_placeholder ? out + ": " + option->get_type_name() : out;
    }
    return name + text.substr(name.size() + 1);  // the clause of a check
  }
  return text;
}

}  // namespace

const CLI::App& named_command(const CLI::App& root) {
  const CLI::App* at = &root;
  while (const CLI::App* next = below(*at)) at = next;
  return *at;
}

void take_no_value(CLI::Option& flag) {
  flag.check([](const std::string& value) {
    return value == "true" ? std::string() : std::string("takes no value");
  });
}

std::string command_path(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : command_path(*parent) + " " + command.get_name();
}

std::string with_help(const std::string& what, const CLI::App& command) {
  return what + (what.ends_with('?') ? " See " : "; see ") + command_path(command) + " --help";
}

std::string unexpected_word(const CLI::App& at, const std::string& word) {
  const auto commands = at.get_subcommands(nullptr);
  if (commands.empty()) return "unexpected argument \"" + word + "\"";
  std::vector<std::string_view> known;
  for (const CLI::App* one : commands) known.push_back(one->get_name());
  return "unknown command \"" + word + "\"" + did_you_mean(word, known);
}

std::string usage_error(const CLI::App& root, const CLI::ParseError& error) {
  if (const auto [at, argument] = left_over(root); at != nullptr) {
    return with_help(
        argument.starts_with('-') ? unknown_option(*at, argument) : unexpected_word(*at, argument),
        *at);
  }
  const CLI::App& at = named_command(root);
  return with_help(clause_about(at, error), at);
}

std::string unknown_command(const CLI::App& root) {
  const auto [at, argument] = left_over(root);
  if (at == nullptr || argument.starts_with('-') || at->get_subcommands(nullptr).empty()) return {};
  return with_help(unexpected_word(*at, argument), *at);
}

}  // namespace coffer
