#include "base/problem.h"

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace coffer {
namespace {

constexpr auto kSlugs = std::to_array<SlugInfo>({
    {Slug::malformed_request, "malformed-request", 400, "Malformed request",
     "Correct the request. The `errors` list contains each invalid field and the form it must "
     "have."},
    {Slug::invalid_reference, "invalid-reference", 400, "Invalid reference",
     "Use 1 to 16 letters, digits or hyphens in `fromRef` and `toRef`, or omit them."},
    {Slug::invalid_cursor, "invalid-cursor", 400, "Invalid cursor",
     "Send the cursor unchanged, with the same filters as the request that returned it."},
    {Slug::invalid_challenge, "invalid-challenge", 400, "Invalid challenge",
     "Fetch a new challenge, sign it with the registered key, and submit it once."},
    {Slug::unauthorized, "unauthorized", 401, "Authentication required",
     "Send the API key in `x-svc-auth`, and a token of the same application in `Authorization: "
     "Bearer`."},
    {Slug::token_expired, "token-expired", 401, "Token expired",
     "Request a new token with POST /v1/auth/token."},
    {Slug::forbidden, "forbidden", 403, "Forbidden",
     "The credentials are valid, but they do not permit this request. Ask the operator for "
     "access."},
    {Slug::no_association, "no-association", 403, "No association",
     "The application has no association. Ask the operator to assign one."},
    {Slug::insufficient_scope, "insufficient-scope", 403, "Insufficient scope",
     "Request a token with the scope that `detail` states. If the application does not have it, "
     "ask the operator."},
    {Slug::association_suspended, "association-suspended", 403, "Association suspended",
     "The association can read, but it cannot move money. Ask the operator to activate it."},
    {Slug::not_found, "not-found", 404, "Not found",
     "Check the ID, and check that the resource belongs to the environment of the credentials "
     "(sandbox or production)."},
    {Slug::method_not_allowed, "method-not-allowed", 405, "Method not allowed",
     "Use a method from the `Allow` header."},
    {Slug::transaction_id_conflict, "transaction-id-conflict", 409, "Transaction ID conflict",
     "This `transactionId` belongs to a payment with a different request body. Use a new ID for a "
     "new payment."},
    {Slug::wallet_not_verified, "wallet-not-verified", 409, "Wallet not verified",
     "Only a wallet with the status `Verified` can transact. Wait for the review, or update the "
     "wallet's metadata."},
    {Slug::conflict, "conflict", 409, "Conflict",
     "The current state of the resource does not permit this request. Read the resource before "
     "you try again."},
    {Slug::quote_expired, "quote-expired", 409, "Quote expired", "Request a new quote."},
    {Slug::quote_already_used, "quote-already-used", 409, "Quote already used",
     "A quote can be used for one payment. Request a new quote."},
    {Slug::references_exist, "references-exist", 409, "References exist",
     "The customer already has references. List them instead of registering new ones."},
    {Slug::webhook_event_type_taken, "webhook-event-type-taken", 409, "Webhook event type taken",
     "Another webhook already receives this event type. Disable that webhook, or remove the type "
     "from it, first."},
    {Slug::payload_too_large, "payload-too-large", 413, "Payload too large",
     "Send a smaller body. The limit is 64 KiB unless the API reference states a higher limit for "
     "the route."},
    {Slug::headers_too_large, "headers-too-large", 431, "Request header fields too large",
     "Send at most 64 header fields with at most 16 KiB in total."},
    {Slug::unsupported_media_type, "unsupported-media-type", 415, "Unsupported media type",
     "Send `Content-Type: application/json`, without a content encoding."},
    {Slug::validation_failed, "validation-failed", 422, "Validation failed",
     "Correct the fields in the `errors` list. Each entry states what is wrong."},
    {Slug::insufficient_funds, "insufficient-funds", 422, "Insufficient funds",
     "Reduce the amount to the `available` balance of the source wallet, or fund the wallet."},
    {Slug::trustline_missing, "trustline-missing", 422, "Trustline missing",
     "Add the asset to the wallet with POST /v1/wallets/{walletId}/trustlines."},
    {Slug::amount_precision, "amount-precision", 422, "Too many decimal places",
     "Reduce the number of decimal places. The asset determines the maximum, which is never more "
     "than 7."},
    {Slug::amount_out_of_range, "amount-out-of-range", 422, "Amount out of range",
     "Send an amount in the range that `errors` states. Connectors have their own limits."},
    {Slug::requirement_missing, "requirement-missing", 422, "Requirement missing",
     "Send every field that GET /v1/payments/requirements returns for this payment."},
    {Slug::webhook_target_refused, "webhook-target-refused", 422, "Webhook target not allowed",
     "Use an HTTPS URL with a public address."},
    {Slug::quota_exceeded, "quota-exceeded", 422, "Quota exceeded",
     "GET /v1/quotas returns usage and limits. Archive resources that you no longer need, or ask "
     "the operator for a higher limit."},
    {Slug::limit_exceeded, "limit-exceeded", 422, "Limit exceeded",
     "Send at most what `detail` states as left, wait until the limit frees, or ask the operator "
     "for "
     "a higher limit."},
    {Slug::reversal_exceeds_payment, "reversal-exceeds-payment", 422, "Reversal exceeds payment",
     "Send at most the amount that `detail` states, or no `amount` to reverse all that is left."},
    {Slug::rate_limited, "rate-limited", 429, "Too many requests",
     "Wait for the number of seconds in `Retry-After`, then retry."},
    {Slug::unexpected_error, "unexpected-error", 502, "Unexpected error",
     "Retry with the same `transactionId`. If the error persists, report the `requestId` to the "
     "operator."},
    {Slug::provider_error, "provider-error", 502, "Provider error",
     "The payment provider rejected the request or failed. Retry later. If the error persists, ask "
     "the operator."},
    {Slug::provider_unavailable, "provider-unavailable", 503, "Provider unavailable",
     "Retry after the number of seconds in `Retry-After`."},
    {Slug::overloaded, "overloaded", 503, "Overloaded",
     "Nothing was stored; `detail` states why. Retry the same request after the number of seconds "
     "in `Retry-After`."},
    {Slug::storage_full, "storage-full", 503, "Storage full",
     "Nothing was stored. Reads still work. Retry later; the operator must free disk space."},
    {Slug::not_leader, "not-leader", 503, "Not the leader",
     "Nothing was stored. Send the same request to the machine that `leader` names, or retry it "
     "after the number of seconds in `Retry-After`."},
    {Slug::provider_timeout, "provider-timeout", 504, "Provider timeout",
     "The provider did not respond in time. Send the same request again, a payment with the same "
     "`transactionId`."},
    {Slug::token_verification_timeout, "token-verification-timeout", 504,
     "Token verification timed out",
     "The key set of the token issuer could not be fetched in time. Retry the request."},
});
static_assert(in_enum_order(kSlugs, &SlugInfo::slug));

}  // namespace

std::span<const SlugInfo> slug_table() { return kSlugs; }

const SlugInfo& info(Slug slug) {
  const auto index = static_cast<std::size_t>(slug);
  COFFER_CHECK(index < kSlugs.size());
  return kSlugs[index];
}

bool is_full_disk(int error) { return error == ENOSPC || error == EDQUOT; }

Problem full_disk_problem(const std::string& what, const std::string& why) {
  return Problem(Slug::storage_full,
                 what + ": " + why + ". Free disk space, or choose another disk");
}

Problem system_problem(const std::string& what, const std::string& remedy) {
  const int error = errno;
  if (is_full_disk(error)) return full_disk_problem(what, std::strerror(error));
  Slug slug = Slug::unexpected_error;
  if (error == EACCES || error == EPERM || error == EROFS) slug = Slug::forbidden;
  if (error == ENOENT) slug = Slug::not_found;
  return Problem(slug, what + ": " + std::strerror(error) + (remedy.empty() ? "" : ". ") + remedy);
}

Problem overloaded(std::string detail) {
  return Problem(Slug::overloaded, std::move(detail)).retry_after(1);
}

Problem not_leader(std::string leader) {
  constexpr int kTakeoverS = 2;
  Problem out(Slug::not_leader, "This machine follows the leader of the ledger" +
                                    (leader.empty() ? "." : ", which is " + leader + "."));
  out.leader = std::move(leader);
  return std::move(out).retry_after(kTakeoverS);
}

const SlugInfo* find_slug(std::string_view name) {
  const auto found = std::ranges::find(kSlugs, name, &SlugInfo::name);
  return found == kSlugs.end() ? nullptr : &*found;
}

}  // namespace coffer
