#include "http/wire/response_head.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace coffer::http {
namespace {

bool is_valid_field(std::string_view name, std::string_view value) {
  const bool good_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != ':';
  });
  return good_name && std::all_of(value.begin(), value.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return (byte >= 0x20 && byte != 0x7f) || c == '\t';
         });
}

bool is_set_here(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOurs{
      "Content-Type", "Content-Length",         "Transfer-Encoding", "Connection",
      "X-Request-Id", "X-Content-Type-Options", "Keep-Alive",        "Date"};
  return std::any_of(kOurs.begin(), kOurs.end(),
                     [&](std::string_view ours) { return same_name(ours, name); });
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_date(std::string& out, std::int64_t now_s) {
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds now{std::chrono::seconds{now_s}};
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{now - day};
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02u %s %04d %02d:%02d:%02d GMT",
                kDays[std::chrono::weekday{day}.c_encoding()], static_cast<unsigned>(date.day()),
                kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  append_field(out, "Date", text);
}

/// The text of `Date` changes once a second; a thread that answers often keeps the last one.
void append_cached_date(std::string& out, std::int64_t now_s) {
  thread_local std::int64_t cached_s = -1;
  thread_local std::string cached;
  if (cached_s != now_s) {
    cached.clear();
    append_date(cached, now_s);
    cached_s = now_s;
  }
  out += cached;
}

std::string_view reason(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
  }
  return "";  // may be empty (RFC 9112 section 4)
}

}  // namespace

bool has_no_body(int status) { return status == 204 || status == 304; }

void append_fields(std::string& out, const Response& response, const ResponseFrame& frame) {
  if (!response.content_type.empty() && !has_no_body(response.status) &&
      is_valid_field("Content-Type", response.content_type)) {
    append_field(out, "Content-Type", response.content_type);
  }
  bool has_cache_control = false;
  for (const auto& [name, value] : response.headers) {
    if (is_set_here(name) || !is_valid_field(name, value)) continue;
    has_cache_control = has_cache_control || same_name(name, "Cache-Control");
    append_field(out, name, value);
  }
  append_field(out, "X-Request-Id", frame.request_id);
  append_field(out, "X-Content-Type-Options", "nosniff");
  if (!has_cache_control) append_field(out, "Cache-Control", "no-store");
  append_cached_date(out, frame.now_s);
  if (!frame.keep_alive) {
    append_field(out, "Connection", "close");
  } else if (frame.http_1_0) {
    append_field(out, "Connection", "keep-alive");
  }
}

std::string to_bytes(const Response& response, const ResponseFrame& frame, bool head_only) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out.append(reason(response.status)).append("\r\n");
  append_fields(out, response, frame);
  append_field(out, "Content-Length", std::to_string(response.body.size()));
  out += "\r\n";
  if (!head_only) out += response.body;
  return out;
}

}  // namespace coffer::http
