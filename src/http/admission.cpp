#include "http/admission.h"

#include <algorithm>
#include <array>

#include "http/router.h"

namespace coffer::http {
namespace {

constexpr std::array<std::string_view, 5> kFields{"x-svc-auth", "authorization", "accept", "cookie",
                                                  "x-forwarded-for"};

bool is_wanted(std::string_view name) {
  return std::any_of(kFields.begin(), kFields.end(),
                     [&](std::string_view wanted) { return same_name(name, wanted); });
}

}  // namespace

Request request_to_admit(std::string_view input, const RequestHead& head, const std::string& peer) {
  Request out;
  out.method = head.method;
  out.path = head.path();
  out.peer = peer;
  out.bad_query = !read_query(head.target, out.query);
  std::string_view lines = input.substr(head.skipped, head.head_bytes - head.skipped);
  lines.remove_prefix(lines.find('\n') + 1);  // the request line
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end - 1);  // without CR
    lines.remove_prefix(end + 1);
    if (!is_wanted(line.substr(0, line.find(':')))) continue;
    if (const auto field = parse_field_line(line))
      out.headers.emplace_back(field->name, field->value);
  }
  return out;
}

}  // namespace coffer::http
