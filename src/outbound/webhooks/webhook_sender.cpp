#include "outbound/webhooks/webhook_sender.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

#include "http/message.h"
#include "outbound/webhooks/webhook_signature.h"
#include "outbound/wire/address_trial.h"

namespace coffer::outbound {
namespace {

constexpr int kResolveTimeoutMs = 5'000;

/// The year with these last two digits that is at most 50 years in the future.
int full_year(int two_digits, int this_year) {
  const int ahead = (two_digits - this_year % 100 + 100) % 100;
  return this_year + ahead - (ahead > 50 ? 100 : 0);
}

/// The three forms of RFC 9110 section 5.6.7: the preferred one, RFC 850 and asctime().
std::optional<Timestamp> parse_http_date(const std::string& text, Timestamp now) {
  const char* const kTwoDigitYear = "%a, %d-%b-%y %H:%M:%S GMT";
  for (const char* form : {"%a, %d %b %Y %H:%M:%S GMT", kTwoDigitYear, "%a %b %e %H:%M:%S %Y"}) {
    std::tm parts{};
    const char* const end = ::strptime(text.c_str(), form, &parts);
    if (end != text.c_str() + text.size()) continue;
    int year = parts.tm_year + 1900;
    if (form == kTwoDigitYear) year = full_year(year % 100, std::stoi(now.to_string()));
    char date[64];
    std::snprintf(date, sizeof date, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, parts.tm_mon + 1,
                  parts.tm_mday, parts.tm_hour, parts.tm_min, std::min(parts.tm_sec, 59));
    return Timestamp::parse(date);
  }
  return std::nullopt;
}

/// Headers whose value may grant access.
bool is_secret(std::string_view name) {
  constexpr std::array<std::string_view, 5> kSecret = {"Set-Cookie", "Set-Cookie2", "Cookie",
                                                       "Authorization", "Proxy-Authorization"};
  return std::ranges::any_of(kSecret,
                             [&](std::string_view each) { return http::same_name(each, name); });
}

}  // namespace

std::string header_lines(const std::vector<std::pair<std::string, std::string>>& headers) {
  constexpr std::size_t kLastLine = 32;
  std::string out;
  std::size_t left_out = 0;
  for (const auto& [name, value] : headers) {
    const std::string line = name + ": " + (is_secret(name) ? "[redacted]" : value) + "\n";
    if (out.size() + line.size() + kLastLine > WebhookResponse::kHeaderBytesMax) {
      ++left_out;
    } else {
      out += line;
    }
  }
  if (left_out > 0) out += "[" + std::to_string(left_out) + " more]\n";
  return out;
}

std::optional<std::int64_t> parse_retry_after(std::string_view text, Timestamp now) {
  constexpr std::int64_t kSecondsMax = 86'400;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (end == text.data() + text.size() && !text.empty()) {
    if (error == std::errc::result_out_of_range) return kSecondsMax * 1'000;
    if (error != std::errc() || seconds < 0) return std::nullopt;
    return std::min(seconds, kSecondsMax) * 1'000;
  }
  const auto date = parse_http_date(std::string(text), now);
  if (!date) return std::nullopt;
  return std::clamp<std::int64_t>(date->ms - now.ms, 0, kSecondsMax * 1'000);
}

WebhookSender::WebhookSender(const Clock& clock, Resolver& resolver, AllowedTargets allowed,
                             std::string ca_bundle, int timeout_ms)
    : clock_(clock),
      guard_(resolver, std::move(allowed)),
      client_(std::move(ca_bundle), http::Client::Connections::keep),
      timeout_ms_(timeout_ms) {}

Result<void> WebhookSender::check_target(std::string_view url, Environment environment) const {
  COFFER_TRY_VOID(guard_.check_url(url, environment));
  return {};
}

Result<http::ClientResponse> WebhookSender::exchange(const WebhookMessage& message,
                                                     WebhookResponse& out) {
  const Deadline deadline(timeout_ms_);
  COFFER_TRY(const Url url, guard_.check_url(message.url, message.environment));
  COFFER_TRY(const auto addresses, guard_.addresses(url, std::min(kResolveTimeoutMs, timeout_ms_)));

  http::ClientRequest request = request_to(url);
  request.method = "POST";
  request.body = message.body;
  request.response_bytes_max = WebhookResponse::kResponseBytesMax;
  out.signed_at = clock_.machine_now();
  out.signatures = standard_signatures(message.secrets, message.id, out.signed_at, message.body);
  request.headers = attempt_headers(message.id, out.signed_at, message.body, out.signatures);
  return send_to_any(std::move(request), addresses, deadline,
                     [&](const http::ClientRequest& attempt) {
                       auto response = client_.send(attempt);
                       out.sent = response || response.error().slug != Slug::provider_unavailable;
                       return response;
                     });
}

WebhookResponse WebhookSender::send(const WebhookMessage& message) {
  const SystemClock wire;
  const std::int64_t started = wire.monotonic_ms();
  WebhookResponse out;
  auto result = exchange(message, out);
  out.duration_ms = wire.monotonic_ms() - started;
  if (!result) {
    out.fault = result.error().detail;
    return out;
  }
  const bool broken_off =
      result->truncated && result->body.size() < WebhookResponse::kResponseBytesMax;
  if (const std::string* text = result->header("Retry-After")) {
    out.retry_after_ms = parse_retry_after(*text, clock_.machine_now());
  }
  out.response = std::move(result->body);
  out.response_headers = header_lines(result->headers);
  if (broken_off) {
    out.fault = "The response with status " + std::to_string(result->status) + " is incomplete.";
  } else {
    out.status = result->status;
  }
  return out;
}

}  // namespace coffer::outbound
