// The header gate: a request that passes means the same to every parser, however its bytes arrive,
// and the handler sees what was sent. Any other request is rejected with a reason.
#include "http/gate.h"

#include <algorithm>

#include "fuzz/property.h"
#include "support/served.h"

namespace coffer::fuzz {
namespace {

using namespace http;

/// Small limits, so that the fuzzer reaches them.
constexpr GateLimits kLimits{1'024, 12, 200};

GateResult inspect(std::string_view bytes, const GateLimits& limits) {
  GateProgress progress;
  return inspect_header(bytes, limits, progress);
}

bool is_token(std::string_view text) {
  const auto good = [](char c) {
    return c > ' ' && c < 0x7f &&
           std::string_view("()<>@,;:\\\"/[]?={}").find(c) == std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), good);
}

using Fields = std::vector<std::pair<std::string, std::string>>;

std::size_t fields_named(const Fields& fields, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(),
                    [&](const auto& field) { return same_name(field.first, name); }));
}

std::size_t count(const Request& request, std::string_view name) {
  return fields_named(request.headers, name);
}

/// A second parser by the grammar alone: name and value of every line after the first.
Fields fields_of(std::string_view header) {
  Fields fields;
  while (header.starts_with("\r\n")) header.remove_prefix(2);
  header.remove_prefix(header.find('\n') + 1);
  for (;;) {
    const std::string_view line = header.substr(0, header.find('\r'));
    if (line.empty()) return fields;
    header.remove_prefix(line.size() + 2);
    std::string_view value = line.substr(line.find(':') + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    fields.emplace_back(line.substr(0, line.find(':')), value);
  }
}

/// The handler's request, from the same bytes and a body with the length that the gate has read.
void check_request(RequestHead head, std::string_view header) {
  if (head.content_length > 1'024) return;
  std::string bytes(header);
  bytes += head.chunked ? "3\r\nabc\r\n0\r\n\r\n" : std::string(head.content_length, 'x');
  int handled = 0;
  const auto served = test::serve(bytes + "GET ", head, [&](const Request& request) {
    ++handled;
    HOLDS(request.method == head.method && request.path == head.path());
    HOLDS(request.body == (head.chunked ? "abc" : std::string(head.content_length, 'x')));
    HOLDS(request.headers.size() <= GateLimits().header_count_max);
    auto sent = fields_of(header);
    if (!head.authority.empty()) {
      if (count(request, "host") > fields_named(sent, "host")) sent.emplace_back("Host", "");
      for (auto& [name, value] : sent) {
        if (same_name(name, "host")) value = head.authority;
      }
    }
    HOLDS(request.headers == sent);
    HOLDS(count(request, "transfer-encoding") == (head.chunked ? 1U : 0U));
    HOLDS(count(request, "content-length") <= (head.chunked ? 0U : 1U));
    HOLDS(count(request, "host") == 1 || (head.http_1_0 && count(request, "host") == 0));
    HOLDS(head.content_length == 0 || count(request, "content-length") == 1);
    return Response();
  });
  const bool is_for_server = head.target == "*";
  HOLDS(served.ok && handled == (is_for_server ? 0 : 1));
  HOLDS(served.left == "GET " || (head.chunked && served.left.ends_with("GET ")));
  HOLDS(served.answer.starts_with(is_for_server ? "HTTP/1.1 204 No Content\r\n"
                                                : "HTTP/1.1 200 OK\r\n"));
}

/// A request that another parser, before or after coffer, could interpret differently must not
/// pass.
void check_head(const RequestHead& head, std::string_view bytes, const GateLimits& limits) {
  HOLDS(head.head_bytes >= 4 && head.head_bytes <= bytes.size());
  HOLDS(head.head_bytes <= limits.header_bytes_max);
  const std::string_view header = bytes.substr(0, head.head_bytes);
  HOLDS(header.ends_with("\r\n\r\n"));
  HOLDS(header.find('\0') == std::string_view::npos);
  for (std::size_t i = 0; i < header.size(); ++i) {
    HOLDS(header[i] != '\n' || (i > 0 && header[i - 1] == '\r'));
    HOLDS(header[i] != '\r' || header[i + 1] == '\n');
  }
  HOLDS(is_token(head.method));
  HOLDS(head.target.starts_with('/') || (head.target == "*" && head.method == "OPTIONS"));
  HOLDS(head.path().find_first_of(" ?#\t") == std::string_view::npos);
  HOLDS(!head.chunked || !head.http_1_0);
  HOLDS(head.request_id.empty() || is_acceptable_request_id(head.request_id));
  const auto fields = fields_of(header);
  HOLDS(fields.size() <= limits.header_count_max);
  for (const auto& [name, value] : fields) HOLDS(is_token(name));
}

bool same(const GateResult& a, const GateResult& b) {
  if (a.index() != b.index()) return false;
  if (const auto* head = std::get_if<RequestHead>(&a)) {
    const auto& other = std::get<RequestHead>(b);
    return head->head_bytes == other.head_bytes && head->content_length == other.content_length &&
           head->chunked == other.chunked && head->keep_alive == other.keep_alive &&
           head->expect_continue == other.expect_continue && head->method == other.method &&
           head->target == other.target && head->request_id == other.request_id &&
           head->fields == other.fields;
  }
  if (const auto* rejection = std::get_if<Rejection>(&a)) {
    return rejection->problem.slug == std::get<Rejection>(b).problem.slug;
  }
  return true;
}

void check_result(const GateResult& result, std::string_view bytes, const GateLimits& limits) {
  if (const auto* head = std::get_if<RequestHead>(&result)) check_head(*head, bytes, limits);
  if (const auto* rejection = std::get_if<Rejection>(&result)) {
    const int status = rejection->problem.status();
    HOLDS(status >= 400 && status < 500 && !rejection->problem.detail.empty());
    const std::string& id = rejection->head.request_id;
    HOLDS(id.empty() || is_acceptable_request_id(id));
  }
  // A prefix beyond the limits must not wait for more bytes.
  HOLDS(!std::holds_alternative<Incomplete>(result) || bytes.size() <= limits.header_bytes_max);
}

void check(std::string_view bytes, const GateLimits& limits) {
  const GateResult whole = inspect(bytes, limits);
  check_result(whole, bytes, limits);
  if (const auto* head = std::get_if<RequestHead>(&whole)) {
    check_request(*head, bytes.substr(0, head->head_bytes));
  }
  // Byte by byte: the first result is final.
  GateProgress progress;
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    GateResult result = inspect_header(bytes.substr(0, size), limits, progress);
    if (std::holds_alternative<Incomplete>(result)) continue;
    check_result(result, bytes.substr(0, size), limits);
    // A rejection may come earlier, for an earlier error; an accepted head is the same.
    if (std::holds_alternative<RequestHead>(result)) HOLDS(same(result, whole));
    HOLDS(result.index() == whole.index());
    return;
  }
  // An incomplete request is scanned once, alone or with the following bytes, so it may be rejected
  // early.
  HOLDS(!std::holds_alternative<RequestHead>(whole));
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = coffer::fuzz::text_of(data, size);
  coffer::fuzz::check(bytes, coffer::fuzz::kLimits);
  coffer::fuzz::check(bytes, {});
  return 0;
}
