// The built-in driver (docs/contract.md#sandbox): deterministic, without network, threads or state.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "outbound/providers/connector.h"

namespace coffer::outbound {

/// The last four digits of an account number, phone number or customer ID, which select the
/// outcome. Spaces and hyphens between digits are ignored. 0 if the text does not end in four
/// digits.
int sandbox_digits(std::string_view account);

/// 1101 to 1106: the corresponding failure.
std::optional<FailureCode> sandbox_rejection(int digits);
/// The amount that a payer with these digits pays instead of `send`: 10 % less or more, or the
/// smallest amount with this number of decimals; nullopt for all others.
std::optional<Amount> sandbox_collected(int digits, Amount send, int decimals);

/// The digits of a payout with the same outcome as a refund to a payer with these digits.
int sandbox_refund(int digits);

/// Duration of the review for 1202.
constexpr std::int64_t kSandboxReviewMs = 2'000;

/// Responses are computed from the payout or collection and its age, so a restart changes nothing
/// and a repeated call returns the same response.
///
/// Payouts, by the recipient's account: 1101-1106 rejected on submit; 1201 always pending; 1202 in
/// review, then succeeded; 1301 accepted, then failed with the money returned; 1303 accepted, then
/// failed with the money kept; 1401 and 1402 `provider-timeout` and `provider-error` on submit, and
/// never arrived; any other succeeds immediately.
///
/// Collections, by the payer's account: first pending with instructions, then collected when asked
/// again; 1101-1106 failed; 1201 pending until it expires; 1202 collected after kSandboxReviewMs;
/// 1401 and 1402 as above.
///
/// Refunds, by the payer's account: 1601 always pending; 1602 in review, then succeeded; 1603
/// rejected; 1604 accepted, then failed; any other succeeds immediately.
///
/// References, by the end of the customer ID: 2001 a rebind, 2002 customer not registered, 2003
/// cannot assign, 2004 with two related references; 1401 and 1402 as above. The same customer and
/// settlement account on one connector always get the same reference.
class SandboxConnector final : public Connector {
 public:
  explicit SandboxConnector(const Clock& clock) : clock_(clock) {}

  Result<ProviderQuote> quote(const ConnectorTerms& terms, const QuoteAsk& ask) override;
  Result<PayoutResponse> submit(const ConnectorTerms& terms, const Payout& payout) override;
  Result<PayoutResponse> payout_status(const ConnectorTerms& terms, const Payout& payout) override;
  Result<PayoutResponse> cancel(const ConnectorTerms& terms, const Payout& payout) override;
  Result<CollectionResponse> collect(const ConnectorTerms& terms,
                                     const Collection& collection) override;
  Result<CollectionResponse> collection_status(const ConnectorTerms& terms,
                                               const Collection& collection) override;
  Result<CollectionResponse> expire(const ConnectorTerms& terms,
                                    const Collection& collection) override;
  Result<RefundResponse> refund(const ConnectorTerms& terms, const Refund& refund) override;
  Result<RefundResponse> refund_status(const ConnectorTerms& terms, const Refund& refund) override;
  Result<ReferenceResponse> issue_reference(const ConnectorTerms& terms,
                                            const ReferenceAsk& ask) override;

 private:
  const Clock& clock_;
};

}  // namespace coffer::outbound
