#include "cli/command.h"

#include <algorithm>

#include "app/app.h"
#include "base/text/characters.h"
#include "base/text/nearest.h"
#include "base/text/next_part.h"
#include "base/text/unicode.h"
#include "cli/command_groups.h"

namespace coffer::cli {
namespace {

constexpr std::size_t kTextBytesMax = 4'096;
constexpr std::size_t kNameShownMax = 40;

/// A clause about the error in the value, or empty.
std::string fault_of(const Argument& argument, const std::string& value) {
  if (argument.kind == Argument::Kind::toggle) return {};
  if (argument.holds_content()) {
    const std::size_t max = content_bytes_max(argument);
    if (value.size() > max)
      return "is larger than " + std::to_string(max / kContentBytesMax) + " MiB";
    return is_utf8(value) ? "" : "is not UTF-8";
  }
  if (is_blank(value)) return "must not be blank";
  if (value.size() > kTextBytesMax) return "is too long";
  if (!is_utf8(value)) return "is not UTF-8; check the locale of the terminal";
  if (std::string fault = character_fault(value); !fault.empty()) return fault;
  const bool of_words = argument.kind == Argument::Kind::choice ||
                        (argument.is_positional() && !argument.placeholder.empty());
  if (!of_words) return {};
  const auto words = parts_of<std::string_view>(argument.placeholder, '|');
  if (std::ranges::find(words, value) != words.end()) return {};
  return "\"" + value + "\" is not one of " + std::string(argument.placeholder) +
         did_you_mean(value, words);
}

std::string first_option(const Command& command) {
  const auto found = std::ranges::find_if_not(command.arguments, &Argument::is_positional);
  COFFER_CHECK(found != command.arguments.end());
  return found->spelled();
}

}  // namespace

const std::string& Arguments::text(const std::string& name) const {
  const auto found = values.find(name);
  COFFER_CHECK(found != values.end());
  return found->second;
}

std::optional<std::string> Arguments::find(const std::string& name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

void Interruption::during(const std::function<void()>& stop, const std::function<void()>& work) {
  {
    const Lock lock(mutex_);
    stops_.push_back(&stop);
  }
  struct Leave {
    Interruption& self;
    const std::function<void()>* stop;
    ~Leave() {
      const Lock lock(self.mutex_);
      std::erase(self.stops_, stop);
    }
  } const leave{*this, &stop};
  work();
}

void Interruption::interrupt() {
  const Lock lock(mutex_);
  requested_ = true;
  for (const auto* stop : stops_) (*stop)();
}

bool Interruption::requested() {
  const Lock lock(mutex_);
  return requested_;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> out;
    for (const auto& group : {demo_commands(),
                              serve_commands(),
                              init_commands(),
                              overview_commands(),
                              payment_commands(),
                              arrival_commands(),
                              reconcile_commands(),
                              association_commands(),
                              application_commands(),
                              user_commands(),
                              wallet_commands(),
                              beneficiary_commands(),
                              quote_commands(),
                              market_commands(),
                              connector_commands(),
                              fee_commands(),
                              event_commands(),
                              listen_commands(),
                              webhook_commands(),
                              notification_commands(),
                              alert_commands(),
                              log_commands(),
                              operator_commands(),
                              approval_commands(),
                              operator_sign_in_commands(),
                              operator_token_commands(),
                              backup_commands(),
                              verify_commands(),
                              export_commands(),
                              apply_commands(),
                              key_commands(),
                              sandbox_commands(),
                              doctor_commands(),
                              healthcheck_commands(),
                              replica_commands(),
                              provider_sim_commands(),
                              about_commands(),
                              completion_commands(),
                              settings_commands(),
                              limit_commands(),
                              period_commands(),
                              report_commands(),
                              help_commands()}) {
      out.insert(out.end(), group.begin(), group.end());
    }
    return out;
  }();
  return all;
}

const Command* find_command(std::string_view path) {
  const auto& all = commands();
  const auto found = std::ranges::find(all, path, &Command::path);
  return found == all.end() ? nullptr : &*found;
}

Result<CommandResult> run_read(Session& session, ReadCommand read, const Arguments& arguments) {
  return session.app.flows().read(
      [&](store::Connection& db) { return read(session, db, arguments); });
}

Command for_administrators(std::string_view path, std::string_view summary, std::string_view label,
                           std::string_view consequence, CommandRun run,
                           std::vector<Argument> arguments, const CommandTraits& traits) {
  return {.path = path,
          .summary = summary,
          .label = label,
          .consequence = consequence,
          .run = run,
          .arguments = std::move(arguments),
          .prints_data = traits.prints_data,
          .hint = traits.hint,
          .details = traits.details,
          .sensitive = traits.sensitive,
          .alone = traits.alone,
          .by_person = traits.by_person,
          .partial = traits.partial,
          .moves = traits.moves};
}

Command for_operators(std::string_view path, std::string_view summary, std::string_view label,
                      std::string_view consequence, CommandRun run, std::vector<Argument> arguments,
                      const CommandTraits& traits) {
  Command out =
      for_administrators(path, summary, label, consequence, run, std::move(arguments), traits);
  out.role = OperatorRole::operating;
  return out;
}

Command for_viewers(std::string_view path, std::string_view summary, CommandRun run,
                    std::vector<Argument> arguments, const CommandTraits& traits) {
  Command out = for_administrators(path, summary, {}, {}, run, std::move(arguments), traits);
  out.role = OperatorRole::viewer;
  return out;
}

Argument environment_choice(std::string_view help) {
  return choice("environment", choices<Environment>(), help, "sandbox");
}

Environment environment_argument(const Arguments& arguments) {
  const auto environment = parse_term<Environment>(arguments.text("environment"));
  COFFER_CHECK(environment.has_value());
  return *environment;
}

Problem no_number(const std::string& name, const std::string& text, std::optional<std::string> min,
                  std::optional<std::string> max) {
  std::string wanted = "a whole number";
  if (min) wanted += (max ? " from " : " of at least ") + *min;
  if (max) wanted += (min ? " to " : " of at most ") + *max;
  return Problem(Slug::malformed_request,
                 "--" + name + " \"" + text + "\" must be " + wanted + ".");
}

Result<void> check_arguments(const Command& command, Arguments& arguments) {
  std::vector<std::string_view> known;
  std::size_t options = 0;
  for (const Argument& argument : command.arguments) {
    known.push_back(argument.name);
    const std::string name(argument.name);
    const auto given = arguments.values.find(name);
    if (given != arguments.values.end()) {
      if (!argument.is_positional()) ++options;
      const std::string fault = fault_of(argument, given->second);
      if (fault.empty()) continue;
      return unexpected(Slug::malformed_request,
                        argument.spelled() + " " + fault + (fault.ends_with('?') ? "" : "."));
    }
    if (argument.required) {
      return unexpected(Slug::malformed_request, argument.spelled() + " is missing.");
    }
    if (!argument.fallback.empty()) arguments.values[name] = argument.fallback;
  }
  for (const auto& [name, value] : arguments.values) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto near = nearest(name, known);
    return unexpected(Slug::malformed_request,
                      std::string(first_characters(name, kNameShownMax)) +
                          " is not an argument of " + std::string(command.path) + "." +
                          (near ? " Did you mean " + std::string(*near) + "?" : ""));
  }
  if (!command.partial || options > 0) return {};
  return unexpected(Slug::malformed_request,
                    "There is nothing to change. Set at least one option, such as " +
                        first_option(command) + ".");
}

}  // namespace coffer::cli
