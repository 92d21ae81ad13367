#include "cli/admin/site.h"

#include <algorithm>

#include "api/about/web_documents.h"
#include "api/pipeline/authenticate.h"
#include "api/pipeline/traffic.h"
#include "app/app.h"
#include "base/telemetry/log.h"
#include "base/text/join.h"
#include "cli/command.h"
#include "http/client_address.h"
#include "http/problem_json.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kRoot = "/admin";
constexpr std::string_view kApi = "/admin/api/";
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Serves a file of the page. Browsers revalidate it on every use.
Result<http::Response> serve_file(const http::Request& request, std::string_view name) {
  const std::string path = "admin/" + std::string(name.empty() ? "index.html" : name);
  const http::Document* document = api::find_web_document(path);
  if (document == nullptr) return unexpected(Slug::not_found, "This page does not exist.");
  http::Response response = document->respond(request);
  response.header("Cache-Control", "no-cache");
  return response;
}

/// The largest content of a file that the command takes from the page; 0 if it takes none.
std::size_t upload_bytes_max(const Command& command) {
  const auto found = std::ranges::find_if(command.arguments, &Argument::holds_content);
  return found == command.arguments.end() ? 0
                                          : std::min(kUploadBytesMax, content_bytes_max(*found));
}

/// nullptr if it does not exist. Without `method`, the first for this path.
const CallRow* find_call(std::string_view path, std::string_view method = {}) {
  for (const auto& calls : {sign_in_calls(), passkey_calls(), command_calls()}) {
    for (const CallRow& row : calls) {
      const bool same = row.path.ends_with('/') ? path.starts_with(row.path) : path == row.path;
      if (same && (method.empty() || row.method == method)) return &row;
    }
  }
  return nullptr;
}

/// The command of a call; nullptr if it has none.
const Command* command_of_call(std::string_view call) {
  return call.starts_with(kRunCalls) ? command_of(call.substr(kRunCalls.size())) : nullptr;
}

/// The methods of a path; empty if it does not exist.
std::vector<std::string_view> allowed_methods(std::string_view path) {
  if (!path.starts_with(kApi)) return {"GET", "HEAD"};
  const std::string_view call = path.substr(kApi.size());
  const Command* command = command_of_call(call);
  const bool changes = command != nullptr && command->role != OperatorRole::viewer;
  std::vector<std::string_view> out;
  if (!changes && find_call(call, "GET") != nullptr) out.emplace_back("GET");
  if (find_call(call, "POST") != nullptr) out.emplace_back("POST");
  return out;
}

/// Maps the method to a fixed set of label values, so that clients cannot create metric series.
std::string_view method_label(const http::Request& request) {
  for (const std::string_view known : {"GET", "HEAD", "POST"}) {
    if (request.method == known) return known;
  }
  return "other";
}

}  // namespace

bool AdminSite::owns(std::string_view path) {
  return path == kRoot || path.starts_with("/admin/") || path == MetricsPage::kPath;
}

Result<http::Admission> AdminSite::admit(const http::Request& head, std::uint64_t) const {
  http::Admission out;
  const std::string_view path = head.path;
  if (path.starts_with(kApi)) {
    const std::string_view call = path.substr(kApi.size());
    const CallRow* row = find_call(call);
    const Command* command = command_of_call(call);
    out.lane = row != nullptr ? row->lane : Lane::admin;
    if (command != nullptr && command->calls_out) out.lane = Lane::outbound;
    const std::size_t upload = command != nullptr ? upload_bytes_max(*command) : 0;
    if (upload > 0) out.body_bytes_max = 2 * upload;  // room for JSON escapes
  }
  // Calls that check passwords are counted by client network, because a forged session cookie must
  // not start a new share of the lane. In the admin lane, a forged cookie gains nothing: the first
  // look-up rejects it.
  const bool counts = out.lane == Lane::admin;
  const std::string* session = counts ? head.header("Cookie") : nullptr;
  if (counts && session == nullptr) session = head.header("Authorization");
  const std::string who =
      session != nullptr ? *session : http::network_of(state_.app.proxies().client_address(head));
  out.caller.id = std::hash<std::string>()(who);
  return out;
}

http::Response AdminSite::handle(http::Request& request) {
  const Stopwatch watch;
  const auto rejected = [&](const Problem& problem) {
    http::Response out = http::problem_response(problem, request.path, request.request_id,
                                                flows::public_base_url(state_.app.flows()));
    if (problem.slug == Slug::method_not_allowed) {
      out.header("Allow", join(allowed_methods(request.path), ", "));
    }
    return out;
  };
  const bool is_scrape = request.path == MetricsPage::kPath;
  const store::ReadersScope scope(is_scrape ? store::Readers::system : store::Readers::control);
  http::Response response;
  try {
    auto result = route(request);
    response = result ? *std::move(result) : rejected(result.error());
  } catch (const std::exception& fault) {
    log_error(
        "admin", "request failed",
        {{"path", request.path}, {"request_id", request.request_id}, {"error", fault.what()}});
    response = rejected(Problem(Slug::unexpected_error));
  }
  // The page shows ages by the server's time, which a demo can advance.
  if (request.path.starts_with(kApi)) {
    response.header("Coffer-Time", state_.app.flows().clock.now().to_string());
  }
  response.header("Content-Security-Policy", std::string(kPolicy))
      .header("Referrer-Policy", "no-referrer")
      .header("Cross-Origin-Opener-Policy", "same-origin")
      .header("Cross-Origin-Resource-Policy", "same-origin");
  api::count_request(state_.app.metrics(), method_label(request),
                     is_scrape ? MetricsPage::kPath : kRoot, response.status, watch.elapsed_us());
  return response;
}

Result<http::Response> AdminSite::route(const http::Request& request) {
  const std::string_view path = request.path;
  // No page of another site knows a token.
  const bool program = path.starts_with(kApi) && !api::bearer_token(request).empty();
  if (!program) COFFER_TRY_VOID(PageBrowser(state_.app, request).check_host());
  const auto allowed = allowed_methods(path);
  if (!allowed.empty() && std::ranges::find(allowed, request.method) == allowed.end()) {
    return unexpected(Slug::method_not_allowed, "This path accepts " + join(allowed, ", ") + ".");
  }
  if (path == MetricsPage::kPath) return metrics_.handle(request);
  if (!owns(path) && path != "/") return unexpected(Slug::not_found, "This page does not exist.");
  if (path == kRoot || path == "/") {
    http::Response response;
    response.status = 308;
    response.content_type.clear();
    response.header("Location", "/admin/");
    return response;
  }
  if (path.starts_with(kApi)) return call(request, path.substr(kApi.size()));
  return serve_file(request, path.substr(kRoot.size() + 1));
}

Result<http::Response> AdminSite::call(const http::Request& request, std::string_view path) {
  const bool change = request.method != "GET";
  Call call{state_, request, {}, PageBrowser(state_.app, request)};
  const CallRow* row = find_call(path, request.method);
  if (row != nullptr) call.rest = path.substr(row->path.size());
  if (const auto token = api::bearer_token(request); !token.empty()) {
    COFFER_TRY_VOID(call.identify_program(token));
    if (row != nullptr && row->access == Access::programs) return row->action(call);
    return unexpected(Slug::not_found, "This path does not exist for a token.");
  }
  if (change && !call.browser.is_own()) {
    return unexpected(Slug::forbidden,
                      "The request does not come from the admin page. If a proxy in front of "
                      "coffer changes Host, "
                      "add the name of the page to the setting admin_hosts.");
  }
  if (row != nullptr && row->access == Access::open) return row->action(call);
  COFFER_TRY_VOID(call.identify());
  const std::string* token = request.header("X-CSRF-Token");
  const Visitor& visitor = call.visitor;
  if (change && (token == nullptr || !equal_constant_time(*token, visitor.session.csrf))) {
    return unexpected(Slug::forbidden, "The session token is missing. Reload the page.");
  }
  const bool enrolling = flows::needs_second_factor(visitor.row) && !visitor.session.by_provider;
  if (enrolling && (row == nullptr || row->access != Access::enrolling)) {
    return unexpected(Slug::forbidden,
                      "An authenticator or a passkey is required. Enrol one first.");
  }
  if (row == nullptr) return unexpected(Slug::not_found, "This path does not exist.");
  return row->action(call);
}

}  // namespace coffer::cli
