// coffer webhook verify: verifies both signatures of a saved delivery, and explains failures.
#include <algorithm>
#include <array>
#include <sstream>

#include "base/digest.h"
#include "base/platform/exit_code.h"
#include "base/text/next_part.h"
#include "base/text/trimmed.h"
#include "base/text/whole_number.h"
#include "cli/paths.h"
#include "cli/webhooks/webhooks.h"
#include "http/message.h"
#include "outbound/webhooks/webhook_signature.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kStandard = "webhook-signature";
constexpr std::string_view kContract = "X-Svc-Signature";
constexpr std::string_view kSecretPrefix = "whsec_";
constexpr int kToleranceMaxS = 315'360'000;

struct HeaderPart {
  std::string_view header;
  const char* option;  // that gives its value
  std::string SavedDelivery::*target;
};
constexpr std::array<HeaderPart, 6> kHeaderParts = {
    {{"webhook-id", "id", &SavedDelivery::webhook_id},
     {"webhook-timestamp", "timestamp", &SavedDelivery::webhook_timestamp},
     {"webhook-signature", "signature", &SavedDelivery::webhook_signature},
     {"x-webhook-id", "id", &SavedDelivery::svc_id},
     {"x-webhook-ts", "svc-ts", &SavedDelivery::svc_ts},
     {"x-svc-signature", "svc-signature", &SavedDelivery::svc_signature}}};

std::optional<std::int64_t> number(std::string_view text) {
  return whole_number<std::int64_t>(text, 0);
}

/// Whether `signatures`, separated by spaces, contain the wanted one.
bool has_signature(std::string_view signatures, const std::string& wanted) {
  while (!signatures.empty()) {
    if (equal_constant_time(next_whole_part(signatures, ' '), wanted)) return true;
  }
  return false;
}

/// The body without a newline that an editor or `echo` has appended.
std::optional<std::string_view> without_newline(std::string_view body) {
  if (!body.ends_with('\n')) return std::nullopt;
  body.remove_suffix(1);
  if (body.ends_with('\r')) body.remove_suffix(1);
  return body;
}

/// Empty if the time is within the tolerance.
std::string age_fault(std::int64_t sent_s, Timestamp now, int tolerance_s) {
  const std::int64_t age_s = now.ms / 1'000 - sent_s;
  if (tolerance_s == 0 || (age_s <= tolerance_s && age_s >= -tolerance_s)) return {};
  if (age_s < 0)
    return "it was sent " + std::to_string(-age_s) +
           " s in the future; check the clocks of sender and receiver";
  return "it was sent " + std::to_string(age_s) + " s ago, more than " +
         std::to_string(tolerance_s) + " s: too old";
}

class Judge {
 public:
  Judge(const SavedDelivery& delivery, const Secret& secret, Timestamp now, int tolerance_s)
      : delivery_(delivery), secret_(secret), now_(now), tolerance_s_(tolerance_s) {}

  Verdict standard() const {
    if (delivery_.webhook_signature.empty()) return missing(kStandard);
    if (delivery_.webhook_id.empty()) return {kStandard, false, "webhook-id is missing"};
    const auto sent_s = number(delivery_.webhook_timestamp);
    if (!sent_s)
      return {kStandard, false, "webhook-timestamp is missing or not a number of seconds"};
    if (!signs(delivery_.webhook_id, *sent_s, delivery_.body)) {
      return {kStandard, false, why_not(*sent_s)};
    }
    const std::string age = age_fault(*sent_s, now_, tolerance_s_);
    if (!age.empty()) return {kStandard, false, "the signature is valid, but " + age};
    return {kStandard, true, "sent by the holder of the secret, and unchanged"};
  }

  Verdict contract() const {
    if (delivery_.svc_signature.empty()) return missing(kContract);
    if (delivery_.svc_id.empty()) return {kContract, false, "X-Webhook-Id is missing"};
    if (!body_holds(delivery_.body)) return {kContract, false, body_fault()};
    if (const auto sent_ms = number(delivery_.svc_ts)) {
      const std::string age = age_fault(*sent_ms / 1'000, now_, tolerance_s_);
      if (!age.empty()) return {kContract, false, "the signature is valid, but " + age};
    }
    return {kContract, true,
            "unchanged in transit; does not authenticate the sender, because the key is sent with "
            "the delivery"};
  }

 private:
  static Verdict missing(std::string_view header) {
    return {header, false, "the header is missing", false};
  }
  bool signs(std::string_view id, std::int64_t sent_s, std::string_view body) const {
    return has_signature(delivery_.webhook_signature,
                         outbound::standard_signature(secret_, id, sent_s, body));
  }
  bool body_holds(std::string_view body) const {
    return equal_constant_time(delivery_.svc_signature,
                               outbound::svc_signature(delivery_.svc_id, body));
  }
  std::string body_fault() const {
    const auto shorter = without_newline(delivery_.body);
    if (shorter && body_holds(*shorter))
      return "the saved body has an additional newline at its end";
    return "the body (or X-Webhook-Id) differs from the signed one; verify the raw bytes before "
           "parsing";
  }

  /// Explains the failure by finding a change that would make the signature valid.
  std::string why_not(std::int64_t sent_s) const {
    const auto shorter = without_newline(delivery_.body);
    if (shorter && signs(delivery_.webhook_id, sent_s, *shorter)) {
      return "the saved body has an additional newline at its end";
    }
    const auto other_ms = number(delivery_.svc_ts);
    if (other_ms && signs(delivery_.webhook_id, *other_ms / 1'000, delivery_.body)) {
      return "webhook-timestamp differs from the signed one";
    }
    if (!delivery_.svc_id.empty() && signs(delivery_.svc_id, sent_s, delivery_.body)) {
      return "webhook-id differs from the signed one";
    }
    if (delivery_.svc_signature.empty() || delivery_.svc_id.empty()) {
      return "a different secret, or a changed body, ID or timestamp; add the X-Svc-Signature "
             "header to find out which";
    }
    if (!body_holds(delivery_.body)) {
      return "the body differs from the signed one; verify the raw bytes before parsing";
    }
    return "it was signed with a different secret (the body is unchanged)";
  }

  const SavedDelivery& delivery_;
  const Secret& secret_;
  const Timestamp now_;
  const int tolerance_s_;
};

Result<void> read_header_file(const std::string& path, SavedDelivery& delivery) {
  COFFER_TRY(const std::string content, bytes_at(path));
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view text(line);
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) continue;
    delivery.set_header(trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1)));
  }
  return {};
}

Result<SavedDelivery> delivery_argument(const Arguments& arguments) {
  SavedDelivery delivery;
  const auto headers = arguments.find("headers");
  if (headers && *headers == arguments.text("body")) {
    return unexpected(Slug::malformed_request, "--headers and --body must be two files.");
  }
  if (headers) COFFER_TRY_VOID(read_header_file(*headers, delivery));
  for (const HeaderPart& part : kHeaderParts) {
    if (const auto value = arguments.find(part.option)) delivery.*part.target = *value;
  }
  if (!delivery.has_headers()) {
    return unexpected(
        Slug::malformed_request,
        "The headers are missing. Add --headers FILE, or --id, --timestamp and --signature.");
  }
  COFFER_TRY(delivery.body, bytes_at(arguments.text("body")));
  return delivery;
}

Result<Secret> secret_argument(const Arguments& arguments) {
  std::string text = arguments.find("secret").value_or("");
  if (const auto path = arguments.find("secret-file")) {
    COFFER_TRY(const std::string content, bytes_at(*path));
    text = trimmed(content);
  }
  if (is_webhook_secret(text)) return Secret(text);
  return unexpected(Slug::malformed_request,
                    "The secret is missing or invalid. Set it with --secret or --secret-file; it "
                    "is whsec_ followed by base64.");
}

Result<CommandResult> verify(const Arguments& arguments) {
  COFFER_TRY(const Secret secret, secret_argument(arguments));
  COFFER_TRY(const int tolerance_s, number_argument(arguments, "tolerance", 0, kToleranceMaxS));
  COFFER_TRY(const SavedDelivery delivery, delivery_argument(arguments));
  CommandResult result{.list = true};
  for (const Verdict& verdict :
       judge_delivery(delivery, secret, SystemClock().now(), tolerance_s)) {
    result.records.push_back(
        {{"header", verdict.header}, {"verified", verdict.verified}, {"reason", verdict.reason}});
    // The contract's signature does not authenticate the sender, so receivers may not save it.
    const bool needed = verdict.given || verdict.header == kStandard;
    if (needed && !verdict.verified) result.exit_code = exit_code::kFailed;
  }
  return result;
}

}  // namespace

bool SavedDelivery::set_header(std::string_view name, std::string_view value) {
  const auto part = std::ranges::find_if(
      kHeaderParts, [&](const HeaderPart& one) { return http::same_name(one.header, name); });
  if (part == kHeaderParts.end()) return false;
  this->*part->target = value;
  return true;
}

bool SavedDelivery::has_headers() const {
  return !webhook_signature.empty() || !svc_signature.empty();
}

std::vector<Verdict> judge_delivery(const SavedDelivery& delivery, const Secret& secret,
                                    Timestamp now, int tolerance_s) {
  const Judge judge(delivery, secret, now, tolerance_s);
  return {judge.standard(), judge.contract()};
}

bool is_webhook_secret(std::string_view text) {
  if (!text.starts_with(kSecretPrefix)) return false;
  const auto key = from_base64(text.substr(kSecretPrefix.size()));
  return key && !key->empty();
}

int verify_delivery(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  const auto result = verify(arguments);
  if (!result) return print_problem(console, result.error(), {});
  return print_result(console, *result, arguments.json);
}

}  // namespace coffer::cli
