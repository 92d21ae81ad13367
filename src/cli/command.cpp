#include "cli/command.h"

#include <algorithm>
#include <array>
#include <set>

#include "app/app.h"
#include "base/text/ascii.h"
#include "base/text/characters.h"
#include "base/text/join.h"
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

constexpr std::string_view kList = " list";

/// A text that lives as long as the table of commands.
std::string_view kept(std::string text) {
  static std::set<std::string> all;
  return *all.insert(std::move(text)).first;
}

/// `Transaction ID` for `transaction-id`, `Half open` for `half_open`, `Wallets: read` for
/// `wallets:read`.
std::string in_words(std::string_view code) {
  constexpr auto kShort = std::to_array<std::string_view>(
      {"ID", "IBAN", "BIC", "SWIFT", "URL", "CSV", "JSON", "NDJSON", "MT940", "QR", "(ms)"});
  std::string spaced;
  for (const char c : code)
    spaced += c == ':' ? ": " : c == '-' || c == '_' ? " " : std::string(1, c);
  std::string out;
  for (std::string_view rest = spaced; !rest.empty();) {
    const std::string_view word = next_part(rest, ' ');
    const std::string plain = word == "ms" ? "(ms)" : std::string(word);
    const auto abbreviation = std::ranges::find_if(
        kShort, [&](std::string_view each) { return ascii::same_word(each, plain); });
    out += out.empty() ? "" : " ";
    out += abbreviation == kShort.end() ? ascii::to_lower(plain) : std::string(*abbreviation);
  }
  if (!out.empty()) out.front() = ascii::to_upper(out.front());
  return out;
}

/// Upper and lower case and separators are not compared: `transactionId` is `transaction-id`.
std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (ascii::is_letter_or_digit(c)) out += ascii::to_lower(c);
  }
  return out;
}

/// The argument that a problem calls `field`, such as `paymentDestinations[0].bank.iban`; nullptr
/// if not found.
const Argument* argument_named(const Command& command, std::string_view field) {
  const std::string_view last = field.substr(field.rfind('.') + 1);
  for (const std::string_view wanted : {field, last}) {
    const auto found = std::ranges::find_if(command.arguments, [&](const Argument& each) {
      return each.name == wanted || member_of(each) == wanted ||
             plain_name(each.name) == plain_name(wanted) ||
             plain_name(each.name) == plain_name(wanted) + "s";
    });
    if (found != command.arguments.end()) return &*found;
  }
  return nullptr;
}

/// `malformed-request` for an argument that another one, on which it depends, makes meaningless.
/// Arguments with several conditions have rules of their own.
Result<void> check_applies(const Command& command, const Arguments& arguments) {
  for (const Argument& argument : command.arguments) {
    const auto given = arguments.find(std::string(argument.name));
    std::string_view words = argument.when;
    if (!given || *given == argument.fallback || words.empty() || words.find(',') != words.npos) {
      continue;
    }
    const std::string other(next_part(words, '='));
    const auto value = arguments.find(other);
    const auto wanted = parts_of<std::string_view>(words, '|');
    const bool any = wanted.empty();
    if (value && (any || std::ranges::find(wanted, *value) != wanted.end())) continue;
    return unexpected(Slug::malformed_request,
                      argument.spelled() + " does not apply " +
                          (value ? "to --" + other + " " + *value : "without --" + other) + ".");
  }
  return {};
}

std::string first_option(const Command& command) {
  const auto found = std::ranges::find_if_not(command.arguments, &Argument::is_positional);
  COFFER_CHECK(found != command.arguments.end());
  return found->spelled();
}

}  // namespace

Argument chosen_among(std::span<const Term> values, Argument argument, char separator) {
  const bool labelled = std::ranges::none_of(values, &std::string_view::empty, &Term::label);
  const std::string words = labelled ? join(values, "|", std::mem_fn(&Term::label)) : std::string();
  return chosen_among(kept(join(values, "|", std::mem_fn(&Term::code))), kept(words), argument,
                      separator);
}

std::string_view offered_by(const Argument& argument) {
  if (!argument.from.empty() || !argument.among.empty()) return argument.from;
  const auto listed = [](std::string_view noun) {
    const Command* list = find_command(ascii::to_lower(noun) + std::string(kList));
    return list == nullptr ? std::string_view() : list->path;
  };
  constexpr std::string_view kCoffer = "coffer ";
  if (const auto at = argument.hint.find(kCoffer); at != std::string_view::npos) {
    const std::string_view rest = argument.hint.substr(at + kCoffer.size());
    const auto end = rest.find(kList);
    return end == std::string_view::npos ? std::string_view() : listed(rest.substr(0, end));
  }
  const bool is_id = argument.placeholder == "ID" || argument.placeholder == "CODE" ||
                     (argument.is_positional() && argument.help.starts_with("ID of "));
  return is_id ? listed(argument.name) : std::string_view();
}

std::string label_of(const Argument& argument) {
  if (!argument.label.empty()) return std::string(argument.label);
  const std::string_view list = offered_by(argument);
  const bool is_shouted = ascii::is_upper(argument.name.front());
  if (is_shouted && !list.empty() && argument.name == "ID")
    return in_words(list.substr(0, list.rfind(' ')));
  return in_words(argument.name);
}

std::vector<std::pair<std::string, std::string>> offered(const Argument& argument) {
  std::vector<std::pair<std::string, std::string>> out;
  const bool is_choice = (argument.kind == Argument::Kind::choice || argument.is_positional()) &&
                         !argument.placeholder.empty();
  const auto codes = parts_of(!argument.among.empty() ? argument.among
                              : is_choice             ? argument.placeholder
                                                      : "",
                              '|');
  const auto words = parts_of(argument.words, '|');
  for (std::size_t i = 0; i < codes.size(); ++i) {
    out.emplace_back(codes[i], i < words.size() ? words[i] : in_words(codes[i]));
  }
  return out;
}

std::string member_of(const Argument& argument) {
  if (!argument.member.empty()) return std::string(argument.member);
  std::string out;
  for (std::string_view rest = argument.name; !rest.empty();) {
    std::string word = ascii::to_lower(next_part(rest, '-'));
    if (!out.empty() && !word.empty()) word.front() = ascii::to_upper(word.front());
    out += word;
  }
  return out;
}

Problem at_arguments(const Command& command, Problem problem) {
  for (FieldError& error : problem.fields) {
    if (const Argument* named = argument_named(command, error.field)) error.field = named->name;
  }
  if (!problem.fields.empty()) return problem;
  std::string_view rest = problem.detail;
  for (const std::string_view start : {"Invalid ", "The ", "--"}) {
    if (rest.starts_with(start)) rest.remove_prefix(start.size());
  }
  const std::string_view first = next_part(rest, ' ');
  const std::string_view name = first.substr(0, first.find(':'));
  const std::string list = std::string(name) + std::string(kList);
  const auto found = std::ranges::find_if(command.arguments, [&](const Argument& each) {
    const bool is_missing = rest.starts_with("was not found");
    return each.name == name ||
           (is_missing && (offered_by(each) == list || ascii::same_word(label_of(each), name)));
  });
  if (found != command.arguments.end() && !rest.empty()) {
    problem.fields.push_back({std::string(found->name), std::string(rest)});
  }
  return problem;
}

std::string option_name(std::string_view member) {
  std::string out;
  for (const char c : member) {
    if (ascii::is_upper(c)) out += '-';
    out += ascii::to_lower(c);
  }
  return out;
}

void add_text(std::vector<Argument>& out, const TextFact& fact, std::string_view condition,
              std::string_view step) {
  const std::string_view name = kept(option_name(fact.name));
  const auto same = std::ranges::find(out, name, &Argument::name);
  if (same != out.end()) {
    const std::string_view values = condition.substr(condition.find('=') + 1);
    same->when = kept(std::string(same->when) + "|" + std::string(values));
    same->needed_on_page = same->needed_on_page || fact.required;
    return;
  }
  const bool is_country =
      fact.rule.kind == TextKind::country_alpha2 || fact.rule.kind == TextKind::country_alpha3;
  const bool is_day = fact.rule.kind == TextKind::date_of_birth;
  Argument added = on_page(option(name,
                                  is_country ? "CODE"
                                  : is_day   ? "DATE"
                                             : "TEXT",
                                  fact.description),
                           {}, fact.example);
  if (is_country) added.from = "country list";
  added.needed_on_page = fact.required;
  added.usual = fact.rule.masked;  // one of them identifies an account
  added.when = condition;
  added.step = step;
  added.member = fact.name;
  out.push_back(added);
}

void Arguments::put(http::JsonValue::Object& object, std::string_view member,
                    const std::string& name) const {
  const auto given = find(name);
  if (given) object.emplace_back(member, http::JsonValue(http::JsonValue::Data(*given)));
}

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
                              archive_commands(),
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

CommandResult previewed(Record record) {
  return {.records = {std::move(record)},
          .note = "This was a preview: nothing was changed.",
          .unchanged = "preview"};
}

Command for_administrators(std::string_view path, std::string_view summary, std::string_view label,
                           std::string_view consequence, CommandRun run,
                           std::vector<Argument> arguments, Command rest) {
  rest.path = path;
  rest.summary = summary;
  rest.label = label;
  rest.consequence = consequence;
  rest.run = run;
  rest.arguments = std::move(arguments);
  return rest;
}

Command for_operators(std::string_view path, std::string_view summary, std::string_view label,
                      std::string_view consequence, CommandRun run, std::vector<Argument> arguments,
                      Command rest) {
  rest.role = OperatorRole::operating;
  return for_administrators(path, summary, label, consequence, run, std::move(arguments), rest);
}

Command for_viewers(std::string_view path, std::string_view summary, CommandRun run,
                    std::vector<Argument> arguments, Command rest) {
  rest.role = OperatorRole::viewer;
  return for_administrators(path, summary, {}, {}, run, std::move(arguments), rest);
}

Argument environment_choice(std::string_view help) {
  return choice_of<Environment>("environment", help, "sandbox");
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
  if (!command.partial || options > 0) return check_applies(command, arguments);
  return unexpected(Slug::malformed_request,
                    "There is nothing to change. Set at least one option, such as " +
                        first_option(command) + ".");
}

}  // namespace coffer::cli
