// The commands of coffer as a table. The parser, the help, the control socket, the dispatcher and
// the admin page all use it.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/text/whole_number.h"
#include "cli/command_result.h"
#include "config/config.h"
#include "domain/identity/four_eyes.h"
#include "domain/identity/operators.h"
#include "domain/identity/tenant.h"
#include "domain/tables/terms.h"
#include "domain/tables/text_field.h"
#include "http/json_body.h"

namespace coffer {
class App;
}
namespace coffer::store {
class Connection;
}

namespace coffer::cli {

struct Command;

/// One argument of a command. A value is UTF-8 without control characters and not blank; the
/// command checks everything else.
struct Argument {
  enum class Kind { positional, option, choice, toggle };
  /// What a value stands for, which decides who may give it (cli/paths.h).
  enum class Value {
    text,      // itself
    content,   // the content of a file: the command line reads the file at the given path, and the
               // admin page uploads one; the audit log records its digest
    document,  // the same of a file of a bank: it may be larger, and in ISO 8859-1
    path,      // a file on the machine that runs the command; `-` is standard input or output
    url,       // a URL that is stored or called under the rules of outbound/
  };

  std::string_view name;  // `ID` for a positional, else `public-key`, given as --public-key
  std::string_view help;  // a noun phrase; also the hint below the field of the admin page
  Kind kind = Kind::option;
  bool required = false;
  // For an option: TEXT. For a choice, also a positional one: the permitted words, `a|b`.
  std::string_view placeholder = {};
  std::string_view fallback = {};  // the value if it is not given
  Value value = Value::text;
  // For the field on the admin page:
  std::string_view label = {};    // a noun phrase; by default the name
  std::string_view example = {};  // shown as the placeholder of the field
  // An imperative that follows an error about the ID in this argument.
  std::string_view hint = {};
  bool needed_on_page = false;  // the page does not accept an empty field
  // The command whose rows the field offers, such as `asset list`; by default that of the noun in
  // the name or the hint, see offered_by().
  std::string_view from = {};
  // The values that the field offers, `a|b`; by default those of the placeholder.
  std::string_view among = {};
  char separator = 0;           // of several values in a row; 0: one value
  std::string_view words = {};  // of the offered values, `A|B`; by default from their codes
  // The offered objects belong to the association and environment of the one that this argument
  // names; with `inside`, they are this member of its record.
  std::string_view like = {};
  std::string_view inside = {};
  std::string_view only = {};  // offered objects have this value: `direction=OFF_RAMP`
  // Shows the field if one of these conditions holds: `driver=http|sandbox,tolerance-bps`.
  std::string_view when = {};
  std::string_view step = {};  // title of the step of the form to which the field belongs
  // The member of a record with the present value, or of a request. Errors name it.
  std::string_view member = {};
  bool identifies = false;  // with others, a row of Command::present, by `member`
  bool usual = false;       // an optional field that the form does not fold
  bool carried = false;     // the page takes the value from the result of the preview
  // The value of an option that is given without one, on the command line only.
  std::string_view implied = {};

  constexpr bool is_positional() const { return kind == Kind::positional; }
  constexpr bool holds_content() const {
    return value == Value::content || value == Value::document;
  }
  /// As on the command line: `ID` or `--name`.
  std::string spelled() const { return (is_positional() ? "" : "--") + std::string(name); }
};

}  // namespace coffer::cli

template <>
struct coffer::Terms<coffer::cli::Argument::Kind> {
  static constexpr auto rows =
      std::to_array<Term>({{"positional"}, {"option"}, {"choice"}, {"toggle"}});
};

namespace coffer::cli {

constexpr Argument positional(std::string_view name, std::string_view help) {
  return {name, help, Argument::Kind::positional, true};
}
/// An ID, with the hint how to find one.
constexpr Argument positional_id(std::string_view name, std::string_view help,
                                 std::string_view hint) {
  Argument argument = positional(name, help);
  argument.hint = hint;
  return argument;
}
constexpr Argument positional_choice(std::string_view name, std::string_view words,
                                     std::string_view help) {
  return {name, help, Argument::Kind::positional, true, words};
}
constexpr Argument option(std::string_view name, std::string_view placeholder,
                          std::string_view help, std::string_view fallback = {}) {
  return {name, help, Argument::Kind::option, false, placeholder, fallback};
}
constexpr Argument required_option(std::string_view name, std::string_view placeholder,
                                   std::string_view help) {
  return {name, help, Argument::Kind::option, true, placeholder};
}
/// `argument`, an option that can also be given without a value, which then is `implied`.
constexpr Argument implying(std::string_view implied, Argument argument) {
  argument.implied = implied;
  return argument;
}
constexpr Argument choice(std::string_view name, std::string_view words, std::string_view help,
                          std::string_view fallback = {}) {
  return {name, help, Argument::Kind::choice, false, words, fallback};
}
constexpr Argument toggle(std::string_view name, std::string_view help) {
  return {name, help, Argument::Kind::toggle};
}
/// `argument`, whose value stands for something else than itself.
constexpr Argument naming(Argument::Value value, Argument argument) {
  argument.value = value;
  return argument;
}

/// `argument` with a label and an example for the admin page.
constexpr Argument on_page(Argument argument, std::string_view label,
                           std::string_view example = {}) {
  argument.label = label;
  argument.example = example;
  return argument;
}

constexpr Argument needed_on_page(Argument argument) {
  argument.needed_on_page = true;
  return argument;
}

constexpr Argument chosen_from(std::string_view list, Argument argument) {
  argument.from = list;
  return argument;
}
/// An argument that takes one of `values`, or several with a separator between them.
constexpr Argument chosen_among(std::string_view values, std::string_view words, Argument argument,
                                char separator = 0) {
  argument.among = values;
  argument.words = words;
  argument.separator = separator;
  return argument;
}
constexpr Argument member_of(std::string_view member, Argument argument) {
  argument.member = member;
  return argument;
}
constexpr Argument identifying(std::string_view member, Argument argument) {
  argument.identifies = true;
  return member_of(member, argument);
}
constexpr Argument like(std::string_view other, Argument argument, std::string_view only = {}) {
  argument.like = other;
  argument.only = only;
  return argument;
}
/// The same for a vocabulary, with its labels if each value has one.
Argument chosen_among(std::span<const Term> values, Argument argument, char separator = 0);
template <Vocabulary Enum>
Argument choice_of(std::string_view name, std::string_view help, std::string_view fallback = {}) {
  return chosen_among(terms<Enum>(), choice(name, choices<Enum>(), help, fallback));
}
/// An argument in a step of the form, whose field appears under a condition.
constexpr Argument placed(std::string_view step, std::string_view condition, Argument argument) {
  argument.step = step;
  argument.when = condition;
  return argument;
}

/// The command whose rows the field of an argument offers; empty if it is free text or a choice.
std::string_view offered_by(const Argument& argument);
/// The label of the field: `Wallet`, `Transaction ID`.
std::string label_of(const Argument& argument);
/// The values that the field offers, with their words.
std::vector<std::pair<std::string, std::string>> offered(const Argument& argument);
/// The member of a record or a request: `timeoutMs` for `timeout-ms`.
std::string member_of(const Argument& argument);
/// The problem with the names of arguments in place of those of members, and with the argument that
/// its detail begins with as its field.
Problem at_arguments(const Command& command, Problem problem);

/// Adds an argument for a text member of a noun, whose field appears under `condition`; of a name
/// that is there, the conditions add up.
void add_text(std::vector<Argument>& out, const TextFact& fact, std::string_view condition,
              std::string_view step = {});
template <class Noun>
void add_texts(std::vector<Argument>& out, std::string_view condition, std::string_view step = {}) {
  for (const TextFact& fact : TextFields<Noun>::rows) add_text(out, fact, condition, step);
}
/// `first-name` for `firstName`.
std::string option_name(std::string_view member);

/// Values by name, as in the table. Reading a missing value without a fallback is a programming
/// error.
struct Arguments {
  std::map<std::string, std::string> values;
  bool json = false;

  bool has(const std::string& name) const { return values.contains(name); }
  const std::string& text(const std::string& name) const;
  std::optional<std::string> find(const std::string& name) const;
  /// The given ones as JSON: the text members of a noun.
  template <class Noun>
  http::JsonValue texts_of(http::JsonValue::Object more = {}) const {
    for (const TextFact& fact : TextFields<Noun>::rows) {
      put(more, fact.name, option_name(fact.name));
    }
    return http::JsonValue(http::JsonValue::Data(std::move(more)));
  }
  /// Adds the argument `name`, if it is given.
  void put(http::JsonValue::Object& object, std::string_view member, const std::string& name) const;
};

/// Lets a server that is stopping end a long command that runs inside it.
class Interruption {
 public:
  /// Runs `work`; meanwhile interrupt() also calls `stop`, from another thread.
  void during(const std::function<void()>& stop, const std::function<void()>& work);
  void interrupt();
  bool requested();

 private:
  Mutex mutex_;
  bool requested_ COFFER_GUARDED_BY(mutex_) = false;
  std::vector<const std::function<void()>*> stops_ COFFER_GUARDED_BY(mutex_);
};

/// The environment of a command on a file, in its own process or inside the running server.
struct Session {
  App& app;
  const Console& console;  // for progress; results go into the CommandResult
  Interruption& interruption;
  const Actor& actor;  // who runs the command
};

/// A command that works on an opened file.
using FileCommand = Result<CommandResult> (*)(Session&, const Arguments&);
/// A command that only reads an opened file, through one connection.
using ReadCommand = Result<CommandResult> (*)(Session&, store::Connection&, const Arguments&);
/// Runs a command that reads, also to show what another command has changed.
Result<CommandResult> run_read(Session& session, ReadCommand read, const Arguments& arguments);
/// The result of a command that has changed nothing because of --preview.
CommandResult previewed(Record record);
/// A command that needs no opened file, or opens it itself. Returns the exit code.
using OwnCommand = int (*)(const Console&, const Arguments&, const ConfigFlags&);
using CommandRun = std::variant<FileCommand, ReadCommand, OwnCommand>;

/// The settings that a command accepts as flags. Commands on a file accept those of the file.
enum class Settings { none, file, server };

struct Command {
  std::string_view path = {};         // `association create`; at most two words
  std::string_view summary = {};      // an imperative, without a full stop
  std::string_view label = {};        // of the button on the admin page; by default the summary
  std::string_view consequence = {};  // a sentence in its dialog: what happens next
  CommandRun run = {};
  /// Required on the admin page. Commands that a viewer may not run are recorded in the audit log.
  OperatorRole role = OperatorRole::administrator;
  std::vector<Argument> arguments = {};
  Settings settings = Settings::file;
  bool prints_data = true;        // has --json
  std::string_view hint = {};     // instead of the hint of an argument
  std::string_view details = {};  // further sentences of the help and of the dialog
  bool streams = false;           // runs until stopped, so not on the admin page
  bool calls_out = false;  // waits for other machines; on the page, runs in the lane `outbound`
  /// Moves money or grants access, although it does not require an administrator.
  bool sensitive = false;
  /// Never waits for a second operator: it only reads, or it only takes access away.
  bool alone = false;
  /// Gives access to people or stands for a person's decision, so no token permits it.
  bool by_person = false;
  /// Changes only the values that are given, of which there is at least one. Its options have no
  /// fallbacks, which would reset the others.
  bool partial = false;
  /// Accepted only on the file of a demo. The admin page offers it only there.
  bool demo_only = false;
  /// The amount that the command moves, for the limits of four_eyes; nullopt if unknown.
  std::optional<MovedAmount> (*moves)(Session&, const Arguments&) = nullptr;
  /// A toggle with which the command changes nothing.
  std::string_view preview = {};
  /// The list whose rows have the present values, which the form fills in. The arguments that
  /// identify a row are also arguments of the list, or are compared with its members. By default,
  /// the object of the only positional that names one.
  std::string_view present = {};
  /// Runs in place of `run`, without a database, if a positional names the file to work on.
  OwnCommand on_given_file = nullptr;
  /// Runs in place of `run` without a master key, on a database that no process has open.
  int (*without_key)(const Console&, Arguments, const Config&) = nullptr;

  bool is_on_file() const { return !std::holds_alternative<OwnCommand>(run); }
};

/// The row of a command that shows data to every operator. `rest`: what few commands have.
Command for_viewers(std::string_view path, std::string_view summary, CommandRun run,
                    std::vector<Argument> arguments = {}, Command rest = {});
/// The row of a command that every operator but a viewer may run, and of one for administrators.
Command for_operators(std::string_view path, std::string_view summary, std::string_view label,
                      std::string_view consequence, CommandRun run,
                      std::vector<Argument> arguments = {}, Command rest = {});
Command for_administrators(std::string_view path, std::string_view summary, std::string_view label,
                           std::string_view consequence, CommandRun run,
                           std::vector<Argument> arguments = {}, Command rest = {});

/// Whether the admin page accepts the command only within minutes of the sign-in.
inline bool needs_recent_sign_in(const Command& command) {
  return command.sensitive || command.role == OperatorRole::administrator;
}

/// Maximum size of the content of a file in an argument; of a document, and of one on the admin
/// page.
inline constexpr std::size_t kContentBytesMax = 1024 * 1024;
inline constexpr std::size_t kDocumentBytesMax = 64 * kContentBytesMax;
inline constexpr std::size_t kUploadBytesMax = 8 * kContentBytesMax;
constexpr std::size_t content_bytes_max(const Argument& argument) {
  return argument.value == Argument::Value::document ? kDocumentBytesMax : kContentBytesMax;
}

/// Every command, in the order of the help.
const std::vector<Command>& commands();
const Command* find_command(std::string_view path);

/// Checks `arguments` against the table and adds fallbacks. `malformed-request` otherwise.
Result<void> check_arguments(const Command& command, Arguments& arguments);

/// The ID in a positional; `malformed-request` if it is not a UUID.
template <class IdType>
Result<IdType> id_argument(const Arguments& arguments, const std::string& name) {
  const auto id = IdType::parse(arguments.text(name));
  if (id) return *id;
  return unexpected(Slug::malformed_request, "Invalid " + name + " \"" + arguments.text(name) +
                                                 "\": " + std::string(kNoUuid));
}

/// The same for an option that may be absent.
template <class IdType>
Result<std::optional<IdType>> optional_id(const Arguments& arguments, const std::string& name) {
  if (!arguments.has(name)) return std::optional<IdType>();
  COFFER_TRY(const IdType id, id_argument<IdType>(arguments, name));
  return std::optional(id);
}

/// The value of a choice that may be absent.
template <Vocabulary Enum>
std::optional<Enum> optional_term(const Arguments& arguments, const std::string& name) {
  const auto word = arguments.find(name);
  return word ? parse_term<Enum>(*word) : std::nullopt;
}

/// --environment, by default the sandbox, and its value.
Argument environment_choice(std::string_view help);
Environment environment_argument(const Arguments& arguments);

/// The error for a --NAME that is not an integer within these bounds, if any.
Problem no_number(const std::string& name, const std::string& text, std::optional<std::string> min,
                  std::optional<std::string> max);

/// The integer value of an option within bounds; `malformed-request` otherwise.
template <class Integer>
Result<Integer> number_argument(const Arguments& arguments, const std::string& name,
                                Integer min = std::numeric_limits<Integer>::min(),
                                Integer max = std::numeric_limits<Integer>::max()) {
  const std::string& text = arguments.text(name);
  if (const auto value = whole_number(text, min, max)) return *value;
  using Limits = std::numeric_limits<Integer>;
  return unexpected(no_number(
      name, text, min == Limits::min() ? std::nullopt : std::optional(std::to_string(min)),
      max == Limits::max() ? std::nullopt : std::optional(std::to_string(max))));
}

/// The same for an option that may be absent.
template <class Integer>
Result<std::optional<Integer>> optional_number(const Arguments& arguments, const std::string& name,
                                               Integer min = std::numeric_limits<Integer>::min(),
                                               Integer max = std::numeric_limits<Integer>::max()) {
  if (!arguments.has(name)) return std::optional<Integer>();
  COFFER_TRY(const Integer number, number_argument<Integer>(arguments, name, min, max));
  return std::optional(number);
}

/// The value of an option that --no-NAME removes: nullopt if neither is given, an inner nullopt if
/// it is removed. `parse` reads a given one. `malformed-request` if both are given.
template <class Parse>
auto removable(const Arguments& arguments, const std::string& name, const Parse& parse) {
  using Parsed = std::invoke_result_t<Parse, const Arguments&, const std::string&>;
  using Change = std::optional<std::optional<typename Parsed::value_type>>;
  const bool removed = arguments.has("no-" + name);
  Change change;
  if (removed) change.emplace();
  if (!arguments.has(name)) return Result<Change>(std::move(change));
  if (removed) {
    return Result<Change>(unexpected(
        Slug::malformed_request, "--" + name + " and --no-" + name + " are mutually exclusive."));
  }
  auto value = parse(arguments, name);
  if (!value) return Result<Change>(unexpected(std::move(value).error()));
  change.emplace(*std::move(value));
  return Result<Change>(std::move(change));
}

}  // namespace coffer::cli
