// Problem: every expected failure in coffer, from a bad field to a full disk.
//
// The table below is the only place that ties a slug to its HTTP status and title
// (docs/contract.md#errors). Layers below `api` only pick a slug; `api` and `http` render it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coffer {

enum class Slug {
  malformed_request,
  invalid_reference,
  invalid_cursor,
  invalid_challenge,
  unauthorized,
  token_expired,
  forbidden,
  no_association,
  insufficient_scope,
  association_suspended,
  not_found,
  method_not_allowed,
  transaction_id_conflict,
  wallet_not_verified,
  conflict,
  quote_expired,
  quote_already_used,
  references_exist,
  webhook_event_type_taken,
  payload_too_large,
  headers_too_large,
  unsupported_media_type,
  validation_failed,
  insufficient_funds,
  trustline_missing,
  amount_precision,
  amount_out_of_range,
  requirement_missing,
  webhook_target_refused,
  quota_exceeded,
  rate_limited,
  unexpected_error,
  provider_error,
  provider_unavailable,
  overloaded,
  storage_full,
  provider_timeout,
  token_verification_timeout,
};

struct SlugInfo {
  Slug slug;
  std::string_view name;    // the slug as it appears in `type` and, with underscores, in `code`
  int status;               // HTTP status; each slug has exactly one
  std::string_view title;   // short, the same for every occurrence (RFC 9457 section 3.1.3)
  std::string_view remedy;  // one sentence for the /problems/<slug> page: what the caller should do
};

/// All slugs in enum order.
const std::array<SlugInfo, 38>& slug_table();
const SlugInfo& info(Slug slug);
/// nullptr when no slug has this name.
const SlugInfo* find_slug(std::string_view name);

struct FieldError {
  std::string field;    // JSON path of the field, as in `transfers[3].amount`
  std::string message;  // what is wrong and what to send instead
  bool operator==(const FieldError&) const = default;
};

/// An expected failure. `detail` is shown to clients: it never holds SQL, paths or secrets.
struct Problem {
  Slug slug = Slug::unexpected_error;
  std::string detail;
  std::vector<FieldError> fields;
  std::optional<int> retry_after_s;  // sent as `Retry-After`; required on 429 and 503

  Problem() = default;
  explicit Problem(Slug s, std::string d = {}) : slug(s), detail(std::move(d)) {}
  Problem(Slug s, std::string d, std::vector<FieldError> f)
      : slug(s), detail(std::move(d)), fields(std::move(f)) {}

  Problem&& retry_after(int seconds) && {
    retry_after_s = seconds;
    return std::move(*this);
  }
  int status() const { return info(slug).status; }
};

}  // namespace coffer
