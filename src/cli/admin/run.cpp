#include <algorithm>
#include <sstream>

#include "api/pipeline/request_checks.h"
#include "app/app.h"
#include "base/telemetry/log.h"
#include "cli/admin/calls.h"
#include "cli/identity/operators.h"
#include "cli/paths.h"
#include "cli/run/dispatch.h"
#include "cli/settings.h"

namespace coffer::cli {
namespace {

Record argument_view(const Argument& argument) {
  std::vector<Record> values;
  for (auto& [code, words] : offered(argument)) {
    values.push_back({{"code", std::move(code)}, {"words", std::move(words)}});
  }
  return {{"name", argument.name},
          {"kind", name(argument.kind)},
          {"required", argument.required || argument.needed_on_page},
          {"help", argument.help},
          {"label", label_of(argument)},
          {"values", std::move(values)},
          {"from", offered_by(argument)},
          {"separator", std::string(argument.separator == 0 ? 0 : 1, argument.separator)},
          {"like", argument.like},
          {"inside", argument.inside},
          {"only", argument.only},
          {"when", argument.when},
          {"step", argument.step},
          {"member", member_of(argument)},
          {"hasPresent", !argument.member.empty() && !argument.identifies},
          {"identifies", argument.identifies},
          {"usual", argument.usual},
          {"carried", argument.carried},
          {"example", argument.example},
          {"placeholder", argument.placeholder},
          {"fallback", argument.fallback},
          {"content", argument.holds_content()},
          {"anyEncoding", argument.value == Argument::Value::document}};
}

Record command_view(const Command& command) {
  std::vector<Record> arguments;
  for (const Argument& argument : command.arguments) {
    if (!names_place(argument)) arguments.push_back(argument_view(argument));
  }
  return {{"command", command.path},    {"summary", command.summary},
          {"label", command.label},     {"consequence", command.consequence},
          {"details", command.details}, {"role", name(command.role)},
          {"preview", command.preview}, {"partial", command.partial},
          {"present", command.present}, {"arguments", std::move(arguments)}};
}

/// The problem with arguments as its fields: those that it names, or else one whose value is in it.
Problem at_fields(const Command& command, Problem problem, const Arguments& given) {
  constexpr std::size_t kTellingBytes = 3;  // shorter values are in many texts
  Problem out = at_arguments(command, std::move(problem));
  if (out.fields.empty()) out.fields.push_back({"", out.detail});
  for (FieldError& error : out.fields) {
    if (std::ranges::find(command.arguments, error.field, &Argument::name) !=
        command.arguments.end())
      continue;
    for (const Argument& each : command.arguments) {
      const auto value = given.find(std::string(each.name));
      const bool tells =
          value && each.kind != Argument::Kind::choice && value->size() >= kTellingBytes;
      if (tells && error.message.find(*value) != std::string::npos) error.field = each.name;
    }
  }
  std::erase_if(out.fields, [](const FieldError& error) { return error.field.empty(); });
  return out;
}

/// Whether the visitor may run the command.
bool permits(const Visitor& visitor, const Command& command) {
  if (visitor.row.role < command.role) return false;
  return !visitor.commands || permits_command(*visitor.commands, command);
}

/// A form sends a blank value for an empty field.
void set(Arguments& arguments, const std::string& name, std::string value) {
  if (!value.empty()) arguments.values[name] = std::move(value);
}

Result<Arguments> arguments_of(const http::Request& request) {
  Arguments out;
  out.json = true;
  if (request.method == "GET") {
    if (request.bad_query)
      return unexpected(Slug::malformed_request, "The query string is invalid.");
    for (const auto& [name, value] : request.query) set(out, name, value);
    return out;
  }
  if (api::media_type(request) != "application/json") {
    return unexpected(Slug::unsupported_media_type, "Send Content-Type: application/json.");
  }
  COFFER_TRY(const auto body, http::parse_json(request.body, {.string_max = kUploadBytesMax}));
  if (body.object() == nullptr) {
    return unexpected(Slug::malformed_request, "The body must be a JSON object.");
  }
  for (const auto& [name, value] : *body.object()) {
    if (value.is_null()) continue;
    if (const bool* flag = value.boolean()) {
      if (*flag) set(out, name, "true");  // a toggle is either given or absent
      continue;
    }
    const auto text = value.scalar_text();
    if (!text) {
      return unexpected(Slug::malformed_request, name + " must be text, a number, true or false.");
    }
    set(out, name, *text);
  }
  return out;
}

/// A stolen session must not be enough to move money or to grant access.
Result<void> require_recent_sign_in(Call& call, const Command& command) {
  const std::int64_t age_ms = call.flows().clock.monotonic_ms() - call.visitor.session.began_ms;
  if (call.visitor.commands) return {};  // a token names such a command
  if (!needs_recent_sign_in(command) || age_ms < flows::OperatorSessions::kFreshMs) return {};
  call.site.sessions.end(call.visitor.session_id);
  return unexpected(
      Slug::unauthorized,
      "This command moves money or changes access. Sign in again to confirm your identity.");
}

Result<http::Response> list_commands(Call& call) {
  CommandResult result{.list = true};
  const bool demo = is_demo(call.site.app);
  for (const Command& command : commands()) {
    if (!is_for_the_page(command) || !permits(call.visitor, command)) continue;
    if (command.demo_only && !demo) continue;
    result.records.push_back(command_view(command));
  }
  return json_response(to_json(result));
}

Result<http::Response> run_call(Call& call) {
  const Command* command = command_of(call.rest);
  if (command == nullptr || !is_for_the_page(*command)) {
    return unexpected(Slug::not_found, "This command does not exist.");
  }
  if (call.visitor.commands && !permits(call.visitor, *command)) {
    log_warning("admin", "command not permitted to a token",
                {{"operator", call.visitor.row.name}, {"command", command->path}});
    return unexpected(Slug::forbidden, "The token does not permit this command.");
  }
  COFFER_TRY_VOID(require_recent_sign_in(call, *command));
  COFFER_TRY(Arguments arguments, arguments_of(call.request));
  if (gives_place(*command, arguments)) {
    return unexpected(
        Slug::forbidden,
        "The admin page does not accept names of files or URLs to read. Run the command "
        "on the command line of the server.");
  }
  if (auto checked = check_arguments(*command, arguments); !checked) {
    return unexpected(at_fields(*command, std::move(checked).error(), arguments));
  }
  std::ostringstream unseen;
  const Console console{unseen, unseen};
  const Actor actor{call.visitor.row.name, call.visitor.row.role, call.visitor.row.id};
  Session session{call.site.app, console, call.site.interruption, actor};
  auto done = carry_out(session, *command, arguments);
  if (!done) return unexpected(at_fields(*command, std::move(done).error(), arguments));
  CommandResult& result = *done;
  if (result.file) {
    result.records.at(0).emplace_back(
        "download", "downloads/" + call.site.downloads.add(
                                       call.flows().random, call.visitor.session_id,
                                       *std::move(result.file), call.flows().clock.monotonic_ms()));
  }
  http::Response response = json_response(to_json(result));
  if (result.waits) response.status = 202;
  return response;
}

Result<http::Response> send_file(Call& call) {
  auto file = call.site.downloads.take(std::string(call.rest), call.visitor.session_id,
                                       call.flows().clock.monotonic_ms());
  if (!file) {
    return unexpected(Slug::not_found, "This download has expired. Start it again on the page.");
  }
  http::Response response;
  response.content_type = file->content_type;
  response.header("Content-Disposition", "attachment; filename=\"" + file->name + "\"");
  response.stream_bytes = file->bytes;
  response.stream = [&site = call.site, write = std::move(file->write),
                     operator_name = call.visitor.row.name,
                     file_name = file->name](const http::Sink& sink) {
    const store::ReadersScope scope(store::Readers::exports);
    const bool complete = write(
        [&](std::string_view piece) { return !site.interruption.requested() && sink(piece); });
    log_info("admin", complete ? "file sent" : "file not sent completely",
             {{"file", file_name}, {"operator", operator_name}});
    return complete;
  };
  return response;
}

}  // namespace

const Command* command_of(std::string_view rest) {
  std::string path(rest);
  std::replace(path.begin(), path.end(), '/', ' ');
  return find_command(path);
}

std::span<const CallRow> command_calls() {
  static constexpr CallRow kCalls[]{
      {"GET", "commands", list_commands, Access::programs},
      {"GET", kRunCalls, run_call, Access::programs},
      {"POST", kRunCalls, run_call, Access::programs},
      {"GET", "downloads/", send_file, Access::programs, Lane::exports},
  };
  return kCalls;
}

}  // namespace coffer::cli
