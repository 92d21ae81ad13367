// coffer logs: the request log.
#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/output/follow.h"
#include "cli/paging.h"
#include "cli/webhooks/event_line.h"
#include "store/requests/request_log_file.h"

namespace coffer::cli {
namespace {

constexpr int kRowsPerLook = 256;
constexpr std::int64_t kLookEveryMs = 200;

Record request_view(const store::RequestRow& row) {
  return {{"at", row.at},
          {"status", row.status},
          {"method", row.method},
          {"path", row.path},
          {"durationUs", row.duration_us},
          {"problem", row.problem},
          {"requestId", row.request_id},
          {"operation", row.operation},
          {"environment", row.environment},
          {"associationId", row.association},
          {"applicationId", row.application},
          {"transactionRecordId", row.payment},
          {"entry", std::to_string(row.key)}};
}

Record full_view(const store::RequestRow& row) {
  Record out = request_view(row);
  out.emplace_back("query", row.query);
  out.emplace_back("requestBytes", row.request_bytes);
  out.emplace_back("responseBytes", row.response_bytes);
  out.emplace_back("requestBody", row.request_body);
  out.emplace_back("responseBody", row.response_body);
  return out;
}

std::string path_of(const Session& session) {
  return store::request_log_path(session.app.config().db);
}

Result<store::RequestFilter> filter_of(const Arguments& arguments) {
  store::RequestFilter out;
  out.text = arguments.find("text");
  out.route = arguments.find("route");
  // A class such as `4xx`.
  if (const auto status = arguments.find("status")) out.status_class = status->front() - '0';
  out.environment = optional_term<Environment>(arguments, "environment");
  COFFER_TRY(out.application, optional_id<ApplicationId>(arguments, "application"));
  COFFER_TRY(out.association, optional_id<AssociationId>(arguments, "association"));
  COFFER_TRY(out.payment, optional_id<PaymentId>(arguments, "payment"));
  return out;
}

std::string note_of(const Session& session) {
  if (session.app.config().request_log != RequestLogging::off) return {};
  return "The request log is off. Turn it on with the setting request_log.";
}

Result<CommandResult> list_requests(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  COFFER_TRY(store::RequestFilter filter, filter_of(arguments));
  COFFER_TRY(filter.from, optional_time(arguments, "from"));
  COFFER_TRY(filter.to, optional_time(arguments, "to"));
  CommandResult result =
      page_of({"at", "status", "method", "path", "durationUs", "problem", "requestId"},
              store::newest_requests(path_of(session), filter, at), request_view);
  if (result.note.empty()) result.note = note_of(session);
  return result;
}

Result<CommandResult> show_request(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto entry, optional_number<std::int64_t>(arguments, "entry", 1));
  COFFER_TRY(
      const auto row,
      existing(store::find_request(path_of(session), arguments.text("ID"), entry), "request"));
  return CommandResult{.records = {full_view(row)}};
}

std::string line_of(const store::RequestRow& row) {
  std::string out = time_of_day(row.at.to_string()) + "  " + std::to_string(row.status) + "  " +
                    row.method + " " + row.path;
  if (!row.query.empty()) out += "?" + row.query;
  out += "  " + std::to_string(row.duration_us / 1'000) + "." +
         std::to_string(row.duration_us / 100 % 10) + " ms";
  if (!row.problem.empty()) out += "  " + row.problem;
  return printable(out + "  " + row.request_id);
}

Result<CommandResult> tail(Session& session, const Arguments& arguments) {
  COFFER_TRY(const store::RequestFilter filter, filter_of(arguments));
  if (const std::string note = note_of(session); !note.empty()) {
    return unexpected(Slug::conflict, note);
  }
  const std::string path = path_of(session);
  std::int64_t after = store::last_request_key(path);
  return follow(session, "requests", kLookEveryMs, [&]() -> Result<NewLines> {
    const std::int64_t before = after;
    NewLines out;
    for (const auto& row : store::requests_after(path, filter, after, kRowsPerLook)) {
      out.text += (arguments.json ? to_json(request_view(row), true) : line_of(row)) + "\n";
    }
    out.again = after != before;
    return out;
  });
}

std::vector<Argument> filter_arguments() {
  return joined(
      {option("text", "TEXT", "Request ID, or part of the path"),
       choice("status", "2xx|3xx|4xx|5xx", "Filter by status class"),
       on_page(option("route", "TEXT", "Operation, such as executeOfframp, or start of the path"),
               "Route", "/v1/payments"),
       option("application", "ID", "Filter by application"),
       option("payment", "ID", "Requests about this payment")},
      owner_arguments());
}

}  // namespace

std::vector<Command> log_commands() {
  return {for_viewers("logs list", "List requests of the API, newest first", list_requests,
                      joined(filter_arguments(),
                             std::vector{option("from", "TIME", "Start of the period"),
                                         option("to", "TIME", "End of the period, exclusive")},
                             page_arguments())),
          for_viewers("logs show", "Show a request with its redacted bodies", show_request,
                      {positional_id("ID", "Request ID (X-Request-Id)",
                                     "List requests with coffer logs list"),
                       option("entry", "N",
                              "Log entry, if several requests have this ID; by default the "
                              "newest")}),
          {.path = "logs tail",
           .summary = "Follow the requests of a running server",
           .run = tail,
           .role = OperatorRole::viewer,
           .arguments = filter_arguments(),
           .details = "Requests appear within half a second. Under heavy load, the log drops "
                      "entries rather than\nslow down payments.",
           .streams = true}};
}

}  // namespace coffer::cli
