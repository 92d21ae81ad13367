#include <algorithm>
#include <sstream>

#include "app/app.h"
#include "base/telemetry/log.h"
#include "cli/admin/site.h"
#include "cli/paths.h"
#include "cli/run/dispatch.h"
#include "cli/settings.h"
#include "flows/identity/operators.h"
#include "http/json_body.h"

namespace coffer::cli {
namespace {

Record command_view(const Command& command) {
  std::vector<Record> arguments;
  for (const Argument& argument : command.arguments) {
    if (names_place(argument)) continue;
    arguments.push_back({{"name", argument.name},
                         {"kind", name(argument.kind)},
                         {"required", argument.required || argument.needed_on_page},
                         {"help", argument.help},
                         {"label", argument.label},
                         {"example", argument.example},
                         {"placeholder", argument.placeholder},
                         {"fallback", argument.fallback},
                         {"content", argument.value == Argument::Value::content}});
  }
  return {{"command", command.path},          {"summary", command.summary},
          {"label", command.label},           {"consequence", command.consequence},
          {"details", command.details},       {"role", name(command.role)},
          {"arguments", std::move(arguments)}};
}

/// The page offers commands that work on the open file and terminate. Places to read or write are
/// accepted only on the command line.
bool is_for_the_page(const Command& command) {
  return command.is_on_file() && !command.streams && !requires_place(command);
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
  COFFER_TRY(const auto body, http::parse_json(request.body, {.string_max = kContentBytesMax}));
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

}  // namespace

Result<http::Response> AdminSite::list_commands(const http::Request&, const Visitor& visitor) {
  CommandResult result{.list = true};
  const bool demo = is_demo(app_);
  for (const Command& command : commands()) {
    if (!is_for_the_page(command) || visitor.row.role < command.role) continue;
    if (command.demo_only && !demo) continue;
    result.records.push_back(command_view(command));
  }
  http::Response response;
  response.body = to_json(result);
  return response;
}

Result<http::Response> AdminSite::run(const http::Request& request, const Visitor& visitor,
                                      std::string_view words) {
  std::string path(words);
  std::replace(path.begin(), path.end(), '/', ' ');
  const Command* command = find_command(path);
  if (command == nullptr || !is_for_the_page(*command)) {
    return unexpected(Slug::not_found, "This command does not exist.");
  }
  if (request.method == "GET" && command->role != OperatorRole::viewer) {
    return unexpected(Slug::method_not_allowed, "This command changes data. Use POST.");
  }
  COFFER_TRY_VOID(require_recent_sign_in(*command, visitor));
  COFFER_TRY(Arguments arguments, arguments_of(request));
  if (gives_place(*command, arguments)) {
    return unexpected(
        Slug::forbidden,
        "The admin page does not accept names of files or URLs to read. Run the command "
        "on the command line of the server.");
  }
  COFFER_TRY_VOID(check_arguments(*command, arguments));
  std::ostringstream unseen;
  const Console console{unseen, unseen};
  const Actor actor{visitor.row.name, visitor.row.role, visitor.row.id};
  Session session{app_, console, interruption_, actor};
  COFFER_TRY(CommandResult result, carry_out(session, *command, arguments));
  if (result.file) {
    result.records.at(0).emplace_back(
        "download",
        "downloads/" + downloads_.add(app_.flows().random, visitor.session_id,
                                      *std::move(result.file), app_.flows().clock.monotonic_ms()));
  }
  http::Response response;
  if (result.waits) response.status = 202;
  response.body = to_json(result);
  return response;
}

Result<http::Response> AdminSite::send_file(const Visitor& visitor, std::string_view name) {
  auto file =
      downloads_.take(std::string(name), visitor.session_id, app_.flows().clock.monotonic_ms());
  if (!file) {
    return unexpected(Slug::not_found, "This download has expired. Start it again on the page.");
  }
  http::Response response;
  response.content_type = file->content_type;
  response.header("Content-Disposition", "attachment; filename=\"" + file->name + "\"");
  response.stream_bytes = file->bytes;
  response.stream = [this, write = std::move(file->write), operator_name = visitor.row.name,
                     file_name = file->name](const http::Sink& sink) {
    const store::ReadersScope scope(store::Readers::exports);
    const bool complete =
        write([&](std::string_view piece) { return !interruption_.requested() && sink(piece); });
    log_info("admin", complete ? "file sent" : "file not sent completely",
             {{"file", file_name}, {"operator", operator_name}});
    return complete;
  };
  return response;
}

}  // namespace coffer::cli
