#include "api/pipeline/request_log.h"

#include <algorithm>

#include "api/json/redaction.h"
#include "api/pipeline/routes.h"
#include "base/telemetry/log.h"
#include "base/text/ascii.h"
#include "base/text/join.h"
#include "base/text/next_part.h"
#include "base/thread.h"

namespace coffer::api {
namespace {

// At most 2,000 entries and 1 MiB of bodies per second, which limits the processor time that the
// log takes from payments under load. Each entry takes about 20 us. The thread yields after each
// one, so that a payment never waits for a whole batch; a server that stops does not.
constexpr std::size_t kBatch = 50;
constexpr std::size_t kBatchBodyBytes = 26 * 1024;
constexpr std::int64_t kRestMs = 25;
constexpr std::int64_t kFaultRestMs = 10'000;
constexpr std::string_view kVersioned = "/v1/";
constexpr std::string_view kMounted = "/gw/v1/";
constexpr std::size_t kMethodMax = 24;
// A path without a route is a client's mistake: of its segments, only short words are kept.
constexpr std::size_t kWordMax = 24;
constexpr std::size_t kUnknownPathMax = 256;

Counter& entries(Metrics& metrics, std::string_view result) {
  return metrics.counter("coffer_request_log_entries_total",
                         "Requests written to the request log, or dropped.", {{"result", result}});
}

bool is_word(std::string_view text) {
  return text.size() <= kWordMax && std::ranges::all_of(text, [](char c) {
           return ascii::is_lower(c) || c == '-' || c == '_';
         });
}

/// A segment of a path that the route has as `pattern`. Without a route, the pattern is empty.
std::string shown_segment(const Redactor& redactor, const std::string& text,
                          std::string_view pattern) {
  if (text == pattern || text == "v1") return text;
  if (pattern.starts_with('{')) {
    return redactor.value(find_path_param(pattern.substr(1, pattern.size() - 2)).schema, text);
  }
  return is_word(text) ? text : "[redacted]";
}

/// The path without segments that may be a misplaced secret, which are added to `removed`.
std::string shown_path(const Redactor& redactor, const std::string& path, const Route* route,
                       Redactor::Texts& removed) {
  auto parts = parts_of(path, '/');
  // The same routes are mounted below another folder, so both are compared from their ends.
  const auto patterns = parts_of(route == nullptr ? std::string_view() : route->pattern, '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string& part = parts[parts.size() - 1 - i];
    const bool has_pattern = route != nullptr && i < patterns.size();
    std::string shown =
        shown_segment(redactor, part, has_pattern ? patterns[patterns.size() - 1 - i] : "");
    if (shown != part) removed.push_back(part);
    part = std::move(shown);
  }
  return join(parts, "/")
      .insert(0, path.starts_with('/') && !parts.empty() && parts[0].empty() ? "/" : "");
}

bool is_json(std::string_view type) {
  return type.starts_with("application/json") || type.starts_with("application/problem+json");
}

/// The schema of the response with this status; empty if it has none.
std::string_view response_schema(const Route& route, int status) {
  constexpr int kFirstProblem = 400;
  if (status >= kFirstProblem) return route.envelope ? "ErrorEnvelope" : "Problem";
  for (const DeclaredResponse& declared : responses_of(route)) {
    if (declared.status == status && is_json(declared.media_type)) return declared.schema;
  }
  return {};
}

/// The payment of a request: the one in its path, or the one that the response acknowledges.
std::optional<PaymentId> payment_of(const http::Request& request, const http::Response& response) {
  constexpr std::string_view kMember = "\"transactionRecordId\":\"";
  constexpr std::size_t kIdSize = 36;
  if (request.admitted) {
    for (const auto& [name, value] : request.admitted->route.params) {
      if (name == "transactionId") return PaymentId::parse(value);
    }
  }
  if (response.status != 202) return std::nullopt;
  const auto at = response.body.find(kMember);
  if (at == response.body.npos) return std::nullopt;
  return PaymentId::parse(response.body.substr(at + kMember.size(), kIdSize));
}

}  // namespace

RequestLog::RequestLog(std::string path, RequestLogOptions options, const Clock& clock,
                       Metrics& metrics, std::function<bool()> has_room,
                       const Redactor& (*redactor)())
    : options_(options),
      clock_(clock),
      written_(entries(metrics, "written")),
      dropped_(entries(metrics, "dropped")),
      has_room_(std::move(has_room)),
      redactor_(redactor),
      file_(std::move(path), options.limits),
      writer_(
          "request-log", [this] { return step(); }, kFaultRestMs) {}

void RequestLog::stop() {
  writer_.stop();
  try {
    while (write_batch() > 0) {
    }
  } catch (const std::exception& fault) {
    log_warning("api", "request log not written", {{"error", fault.what()}});
  }
}

// --- On the thread of the request ----------------------------------------------------------------

void RequestLog::note(const http::Request& request, const http::Response& response,
                      const RequestTrace& trace, std::int64_t duration_us) noexcept {
  try {
    if (!is_logged(request, trace)) return;
    // Checks the queue before it copies texts and bodies into an entry.
    const bool kept =
        has_place(response.status) && push(entry_of(request, response, trace, duration_us));
    if (!kept) dropped_.add();
  } catch (const std::exception&) {
    dropped_.add();  // out of memory
  }
}

/// Logs API routes and paths that resemble one, but not requests for pages and documents.
bool RequestLog::is_logged(const http::Request& request, const RequestTrace& trace) const {
  if (trace.route == nullptr) {
    return request.path.starts_with(kVersioned) || request.path.starts_with(kMounted);
  }
  return trace.route->pattern.starts_with(kVersioned) && trace.route->lane != Lane::system;
}

RequestLog::Entry RequestLog::entry_of(const http::Request& request, const http::Response& response,
                                       const RequestTrace& trace, std::int64_t duration_us) const {
  Entry entry;
  store::RequestRow& row = entry.row;
  row.at = clock_.now();
  row.duration_us = duration_us;
  row.request_id = request.request_id;
  row.method = request.method.substr(0, kMethodMax);
  row.path = trace.route == nullptr ? request.path.substr(0, kUnknownPathMax) : request.path;
  row.status = response.status;
  if (trace.problem) row.problem = info(*trace.problem).name;
  row.request_bytes = static_cast<std::int64_t>(request.body.size());
  row.response_bytes = static_cast<std::int64_t>(response.body.size());
  entry.route = trace.route;
  if (trace.route == nullptr) return entry;
  entry.query = request.query;
  row.operation = trace.route->operation;
  row.payment = payment_of(request, response);
  if (!trace.caller) return entry;
  const Tenant& tenant = trace.caller->tenant;
  row.environment = tenant.environment;
  row.application = trace.caller->application;
  if (tenant.key != 0) row.association = tenant.association;
  entry.keeps_bodies = tenant.environment == Environment::sandbox ? options_.sandbox_bodies
                                                                  : options_.production_bodies;
  if (!entry.keeps_bodies) return entry;
  if (request.body.size() <= kBodyMax) entry.request_body = request.body;
  // A problem may quote a body that is too long to be redacted.
  const bool shows = !response.stream && response.body.size() <= kBodyMax &&
                     (response.status < 400 || request.body.size() <= kBodyMax);
  if (shows && is_json(response.content_type)) entry.response_body = response.body;
  return entry;
}

/// The last quarter of the queue is reserved for failed requests.
bool RequestLog::is_full(int status) const {
  constexpr int kFirstFailure = 400;
  return queue_.size() >= (status >= kFirstFailure ? kEntriesMax : kEntriesMax - kEntriesMax / 4);
}

bool RequestLog::has_place(int status) const {
  const Lock lock(mutex_);
  return !is_full(status);
}

bool RequestLog::push(Entry entry) {
  const std::size_t size = entry.bytes();
  bool wakes = false;
  {
    const Lock lock(mutex_);
    if (is_full(entry.row.status) || queued_bytes_ + size > kBytesMax) return false;
    queued_bytes_ += size;
    queue_.push_back(std::move(entry));
    wakes = std::exchange(idle_, false);
  }
  if (wakes) writer_.wake();
  return true;
}

// --- On the thread of the log -------------------------------------------------------------------

std::int64_t RequestLog::step() {
  if (write_batch(yield_processor) > 0) return kRestMs;
  const Lock lock(mutex_);
  if (!queue_.empty()) return kRestMs;
  idle_ = true;
  return WorkerThread::kWhenWoken;
}

std::vector<RequestLog::Entry> RequestLog::take() {
  std::vector<Entry> out;
  const Lock lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(kBatch, queue_.size()));
  out.assign(std::make_move_iterator(queue_.begin()),
             std::make_move_iterator(queue_.begin() + count));
  queue_.erase(queue_.begin(), queue_.begin() + count);
  std::size_t bodies = 0;
  for (Entry& entry : out) {
    queued_bytes_ -= entry.bytes();
    bodies += entry.bytes();
    entry.keeps_bodies = entry.keeps_bodies && bodies <= kBatchBodyBytes;
  }
  return out;
}

std::size_t RequestLog::write_batch(void (*pause)()) {
  std::vector<Entry> batch = take();
  if (batch.empty()) return 0;
  const std::size_t count = batch.size();
  if (!has_room_()) {
    dropped_.add(count);
    return count;
  }
  try {
    std::vector<store::RequestRow> rows;
    rows.reserve(count);
    for (Entry& entry : batch) {
      rows.push_back(finished(std::move(entry)));
      pause();
    }
    file_.append(rows, clock_.now(), pause);
  } catch (...) {
    dropped_.add(count);
    throw;  // the worker logs the error and pauses
  }
  written_.add(count);
  return count;
}

store::RequestRow RequestLog::finished(Entry entry) {
  Redactor::Texts removed;
  entry.row.path = shown_path(redactor_(), entry.row.path, entry.route, removed);
  for (const auto& [name, text] : entry.query) {
    const auto declared = [&name = name](const QueryParam& param) { return param.is(name); };
    const auto& query = entry.route->query;
    const auto param = std::ranges::find_if(query, declared);
    const std::string shown = param == query.end() ? "" : redactor_().value(param->schema, text);
    std::string& out = entry.row.query;
    if (!out.empty()) out += '&';
    // Without the key of a keyed parameter, which the client chose.
    out += param == query.end() ? "[undeclared]" : std::string(param->name) + "=" + shown;
    if (param == query.end() || param->name != name) removed.push_back(name);
    if (shown != text) removed.push_back(text);
  }
  if (entry.keeps_bodies) add_bodies(entry, std::move(removed));
  return std::move(entry.row);
}

void RequestLog::add_bodies(Entry& entry, Redactor::Texts removed) {
  const Route& route = *entry.route;
  if (!entry.request_body.empty() && !route.request_schema.empty()) {
    entry.row.request_body = redactor_().body(route.request_schema, entry.request_body, removed);
  }
  // A problem may quote a body that cannot be read.
  if (!entry.request_body.empty() && !entry.row.request_body) return;
  const std::string_view schema = response_schema(route, entry.row.status);
  if (!entry.response_body.empty() && !schema.empty()) {
    entry.row.response_body =
        redactor_().response_body(schema, entry.response_body, std::move(removed));
  }
}

}  // namespace coffer::api
