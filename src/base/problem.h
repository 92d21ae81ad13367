// Problem: every expected failure in coffer, from an invalid field to a full disk.
//
// The table below alone maps a slug to its HTTP status and title (docs/contract.md#errors). Layers
// below `api` only select a slug; `api` and `http` render it.
#pragma once

#include <optional>
#include <span>
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
  limit_exceeded,
  reversal_exceeds_payment,
  rate_limited,
  unexpected_error,
  provider_error,
  provider_unavailable,
  overloaded,
  storage_full,
  not_leader,
  provider_timeout,
  token_verification_timeout,
};

struct SlugInfo {
  Slug slug;
  std::string_view name;    // as in `type` and, with underscores, in `code`
  int status;               // HTTP status; one per slug
  std::string_view title;   // short, the same for every occurrence (RFC 9457 section 3.1.3)
  std::string_view remedy;  // what the caller should do, for the page /problems/<slug>
};

/// All slugs in enum order.
std::span<const SlugInfo> slug_table();
const SlugInfo& info(Slug slug);
/// nullptr if no slug has this name.
const SlugInfo* find_slug(std::string_view name);

struct FieldError {
  std::string field;    // JSON path of the field, as in `transfers[3].amount`
  std::string message;  // what is wrong and what to send instead
  bool operator==(const FieldError&) const = default;
};

/// An expected failure. Clients see `detail`, so it never contains SQL, paths or secrets.
struct Problem {
  Slug slug = Slug::unexpected_error;
  std::string detail;
  std::vector<FieldError> fields;
  std::optional<int> retry_after_s;  // sent as `Retry-After`; required on 429 and 503
  std::optional<int> exit_code;      // of the command line, if the slug does not determine it
  std::string leader;                // of `not-leader`: where the leader is; empty if unknown

  Problem() = default;
  explicit Problem(Slug s, std::string d = {}) : slug(s), detail(std::move(d)) {}
  Problem(Slug s, std::string d, std::vector<FieldError> f)
      : slug(s), detail(std::move(d)), fields(std::move(f)) {}

  Problem&& retry_after(int seconds) && {
    retry_after_s = seconds;
    return std::move(*this);
  }
  Problem&& exits_with(int code) && {
    exit_code = code;
    return std::move(*this);
  }
  int status() const { return info(slug).status; }
};

/// Whether an `errno` means that the disk is full, or the quota of the user or project on it.
bool is_full_disk(int error);
/// `storage-full` with what to do. `what` failed, such as "cannot write /a/b".
Problem full_disk_problem(const std::string& what, const std::string& why = "the disk is full");
/// A failed system call, from errno: `storage-full`, `forbidden`, `not-found`, or
/// `unexpected-error`. `remedy` is what to do unless the disk is full.
Problem system_problem(const std::string& what, const std::string& remedy = {});

/// 503 `overloaded`, for a caller that may retry after a second.
Problem overloaded(std::string detail);
/// 503 `not-leader`, on a machine that follows the one at `leader`, or does not know which one
/// leads.
Problem not_leader(std::string leader);

}  // namespace coffer
