// The header gate: what passes says the same to every reader, however its bytes arrive; what does
// not is refused with a reason.
#include "http/gate.h"

#include <algorithm>

#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

using namespace http;

/// Small, so that a fuzzer gets to them.
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

std::size_t count(const Request& request, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(request.headers.begin(), request.headers.end(),
                    [&](const auto& header) { return same_name(header.first, name); }));
}

/// What a second reader, in front of us or behind, could take otherwise must not have passed.
void check_head(const RequestHead& head, std::string_view bytes, const GateLimits& limits) {
  const Request& request = head.request;
  HOLDS(head.head_bytes >= 4 && head.head_bytes <= bytes.size());
  HOLDS(head.head_bytes <= limits.header_bytes_max);
  const std::string_view header = bytes.substr(0, head.head_bytes);
  HOLDS(header.ends_with("\r\n\r\n"));
  HOLDS(header.find('\0') == std::string_view::npos);
  for (std::size_t i = 0; i < header.size(); ++i) {
    HOLDS(header[i] != '\n' || (i > 0 && header[i - 1] == '\r'));
    HOLDS(header[i] != '\r' || header[i + 1] == '\n');
  }
  HOLDS(is_token(request.method) && request.path.starts_with('/'));
  HOLDS(request.path.find_first_of(" ?#\t") == std::string::npos);
  HOLDS(request.headers.size() <= limits.header_count_max);
  HOLDS(count(request, "transfer-encoding") + count(request, "content-length") <= 1);
  HOLDS(head.chunked == (count(request, "transfer-encoding") == 1));
  HOLDS(!head.chunked || (!head.http_1_0 && *request.header("transfer-encoding") == "chunked"));
  HOLDS(count(request, "host") == 1 || (head.http_1_0 && count(request, "host") == 0));
  HOLDS((head.content_length == 0) || count(request, "content-length") == 1);
  for (const auto& [name, value] : request.headers) {
    HOLDS(is_token(name));
    HOLDS(value.empty() || (value.front() != ' ' && value.back() != ' '));
  }
}

bool same(const GateResult& a, const GateResult& b) {
  if (a.index() != b.index()) return false;
  if (const auto* head = std::get_if<RequestHead>(&a)) {
    const auto& other = std::get<RequestHead>(b);
    return head->head_bytes == other.head_bytes && head->content_length == other.content_length &&
           head->chunked == other.chunked && head->keep_alive == other.keep_alive &&
           head->expect_continue == other.expect_continue &&
           head->request.method == other.request.method &&
           head->request.path == other.request.path && head->request.query == other.request.query &&
           head->request.headers == other.request.headers;
  }
  if (const auto* refusal = std::get_if<Refusal>(&a)) {
    return refusal->problem.slug == std::get<Refusal>(b).problem.slug;
  }
  return true;
}

void check_result(const GateResult& result, std::string_view bytes, const GateLimits& limits) {
  if (const auto* head = std::get_if<RequestHead>(&result)) check_head(*head, bytes, limits);
  if (const auto* refusal = std::get_if<Refusal>(&result)) {
    const int status = refusal->problem.status();
    HOLDS(status >= 400 && status < 500 && !refusal->problem.detail.empty());
    HOLDS(refusal->request_id.empty() || is_acceptable_request_id(refusal->request_id));
  }
  // Too long a beginning never waits for more.
  HOLDS(!std::holds_alternative<Incomplete>(result) || bytes.size() <= limits.header_bytes_max);
}

void check(std::string_view bytes, const GateLimits& limits) {
  const GateResult whole = inspect(bytes, limits);
  check_result(whole, bytes, limits);
  // Byte by byte: the first verdict is the verdict.
  GateProgress progress;
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    GateResult result = inspect_header(bytes.substr(0, size), limits, progress);
    if (std::holds_alternative<Incomplete>(result)) continue;
    check_result(result, bytes.substr(0, size), limits);
    // A refusal may come earlier, and then for what stands first; a head is the same head.
    if (std::holds_alternative<RequestHead>(result)) HOLDS(same(result, whole));
    HOLDS(result.index() == whole.index());
    return;
  }
  // What is not whole is looked at once, by itself or with what came with it: it may be refused
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
