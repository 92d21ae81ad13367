#include "base/problem.h"

#include "base/check.h"

namespace coffer {
namespace {

constexpr std::array<SlugInfo, 38> kSlugs{{
    {Slug::malformed_request, "malformed-request", 400, "Malformed request",
     "Send the declared shape: the `errors` list names each field and what it must look like."},
    {Slug::invalid_reference, "invalid-reference", 400, "Invalid reference",
     "Send 1 to 16 letters, digits or hyphens in `fromRef` and `toRef`, or leave them out."},
    {Slug::invalid_cursor, "invalid-cursor", 400, "Invalid cursor",
     "Use a cursor only with the filters it was issued for, exactly as received."},
    {Slug::invalid_challenge, "invalid-challenge", 400, "Invalid challenge",
     "Fetch a new challenge, sign it with the registered key and submit it once."},
    {Slug::unauthorized, "unauthorized", 401, "Authentication required",
     "Send `x-svc-auth` with the API key and `Authorization: Bearer` with a token of the same "
     "application."},
    {Slug::token_expired, "token-expired", 401, "Token expired",
     "Request a new token at POST /v1/auth/token."},
    {Slug::forbidden, "forbidden", 403, "Forbidden",
     "The credentials are valid but may not do this; ask the operator."},
    {Slug::no_association, "no-association", 403, "No association",
     "The application has no registered association; ask the operator to assign one."},
    {Slug::insufficient_scope, "insufficient-scope", 403, "Insufficient scope",
     "Request a token that carries the scope named in the detail."},
    {Slug::association_suspended, "association-suspended", 403, "Association suspended",
     "Reads still work; the operator must activate the association before it can write."},
    {Slug::not_found, "not-found", 404, "Not found",
     "Check the id and the environment of the credentials."},
    {Slug::method_not_allowed, "method-not-allowed", 405, "Method not allowed",
     "Use one of the methods listed in the `Allow` header."},
    {Slug::transaction_id_conflict, "transaction-id-conflict", 409, "Transaction id conflict",
     "This `transactionId` was used with another body; send a new id for a new payment."},
    {Slug::wallet_not_verified, "wallet-not-verified", 409, "Wallet not verified",
     "Only a `Verified` wallet can transact; wait for the review or update its metadata."},
    {Slug::conflict, "conflict", 409, "Conflict",
     "The stored state forbids this; read the resource and decide again."},
    {Slug::quote_expired, "quote-expired", 409, "Quote expired", "Request a new quote."},
    {Slug::quote_already_used, "quote-already-used", 409, "Quote already used",
     "A quote serves one payment; request a new quote."},
    {Slug::references_exist, "references-exist", 409, "References exist",
     "List the customer's references instead of registering them again."},
    {Slug::webhook_event_type_taken, "webhook-event-type-taken", 409, "Webhook event type taken",
     "Deactivate the registration that holds the event type first."},
    {Slug::payload_too_large, "payload-too-large", 413, "Payload too large",
     "Send at most what the API reference names for the route: 64 KiB, and more on a few routes."},
    {Slug::headers_too_large, "headers-too-large", 431, "Request header fields too large",
     "Send at most 64 header fields and 16 KiB of header text."},
    {Slug::unsupported_media_type, "unsupported-media-type", 415, "Unsupported media type",
     "Send `Content-Type: application/json` without a content encoding."},
    {Slug::validation_failed, "validation-failed", 422, "Validation failed",
     "The `errors` list names each field and what is wrong with it."},
    {Slug::insufficient_funds, "insufficient-funds", 422, "Insufficient funds",
     "Send at most the `available` balance of the source wallet."},
    {Slug::trustline_missing, "trustline-missing", 422, "Trustline missing",
     "Add the asset with POST /v1/wallets/{walletId}/trustlines first."},
    {Slug::amount_precision, "amount-precision", 422, "Too many decimal places",
     "Send at most the asset's own number of decimals, never more than 7."},
    {Slug::amount_out_of_range, "amount-out-of-range", 422, "Amount out of range",
     "Send an amount greater than zero and at most 922337203685.4775807."},
    {Slug::requirement_missing, "requirement-missing", 422, "Requirement missing",
     "Send every field that GET /v1/payments/requirements lists."},
    {Slug::webhook_target_refused, "webhook-target-refused", 422, "Webhook target refused",
     "Use a public HTTPS address."},
    {Slug::quota_exceeded, "quota-exceeded", 422, "Quota exceeded",
     "GET /v1/quotas shows use and limits. Archive what is no longer needed, or ask the operator "
     "for "
     "a higher limit."},
    {Slug::rate_limited, "rate-limited", 429, "Too many requests",
     "Wait the seconds given in `Retry-After`."},
    {Slug::unexpected_error, "unexpected-error", 502, "Unexpected error",
     "Retry with the same `transactionId`; report the `requestId` when it stays."},
    {Slug::provider_error, "provider-error", 502, "Provider error",
     "The payment provider refused or failed; read the transaction for its state."},
    {Slug::provider_unavailable, "provider-unavailable", 503, "Provider unavailable",
     "Retry after the seconds given in `Retry-After`."},
    {Slug::overloaded, "overloaded", 503, "Overloaded",
     "Nothing was stored. Retry the same request after the seconds given in `Retry-After`."},
    {Slug::storage_full, "storage-full", 503, "Storage full",
     "Nothing was stored. Reads still work; retry when the operator has made room."},
    {Slug::provider_timeout, "provider-timeout", 504, "Provider timeout",
     "Read the transaction for its state before sending anything again."},
    {Slug::token_verification_timeout, "token-verification-timeout", 504,
     "Token verification timed out", "Retry; the key set of the issuer could not be fetched."},
}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kSlugs.size(); ++i) {
    if (static_cast<std::size_t>(kSlugs[i].slug) != i) return false;
  }
  return true;
}
static_assert(in_enum_order(), "slug table must follow the enum");

}  // namespace

const std::array<SlugInfo, 38>& slug_table() { return kSlugs; }

const SlugInfo& info(Slug slug) {
  const auto index = static_cast<std::size_t>(slug);
  COFFER_CHECK(index < kSlugs.size());
  return kSlugs[index];
}

const SlugInfo* find_slug(std::string_view name) {
  for (const SlugInfo& entry : kSlugs) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace coffer
