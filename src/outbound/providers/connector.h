// The interface of all payment provider drivers, with one conformance suite
// (docs/contract.md#providers, docs/provider-protocol.md).
//
// The ID of a payout or collection is coffer's record ID and the provider's idempotency key:
// repeating a call with the same ID returns the same response and never causes a second payout. A
// failed call does not reveal what the provider did; the caller asks `payout_status` first. The
// same is true of the ID of a refund.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "domain/payments/payment.h"
#include "domain/providers/connector.h"
#include "domain/providers/quote.h"

namespace coffer::outbound {

/// The other side: a recipient or a payer.
struct Party {
  std::string name;
  // Number, phone or address; its last four digits select the outcome in the sandbox.
  std::string account;
  std::map<std::string, std::string> details;  // with the names of the provider protocol
};

using coffer::QuoteAsk;
struct ProviderQuote : QuotedPrice {
  std::optional<Timestamp> expires_at = {};
  std::optional<std::string> reference = {};  // the provider's ID of the quote
};

struct Payout {
  PaymentId id;
  Amount send;     // in the connector's asset
  Amount receive;  // in its currency
  Party recipient;
  TransactionType type = TransactionType::b2c;
  std::optional<std::string> quote_reference;
  std::optional<std::string> to_ref;
  std::string purpose_of_payment;
  std::string source_of_funds;
  std::string relationship;
  AdditionalFields fields;
  Timestamp first_sent_at;  // of the first attempt; the sandbox derives results from its age
};
enum class PayoutState { never_arrived, pending, in_review, succeeded, failed };
/// What happened to the money of an accepted payout that failed.
enum class ProviderRefund { returned, pending, refused };
struct PayoutResponse {
  PayoutState state = PayoutState::pending;
  std::optional<FailureCode> failure;  // if failed
  std::string message;                 // the provider's text, for the operator
  std::string provider_reference;
  ProviderRefund refund = ProviderRefund::returned;  // if failed
};

struct Collection {
  PaymentId id;
  Amount send;     // amount to pay, in the connector's currency
  Amount receive;  // in its asset
  Party payer;
  std::optional<std::string> quote_reference;
  AdditionalFields fields;
  Timestamp first_sent_at;
  Timestamp expires_at;  // requested by coffer; the provider may return another time
};
enum class CollectionState { never_arrived, pending, collected, failed, expired };
struct CollectionResponse {
  CollectionState state = CollectionState::pending;
  std::optional<FailureCode> failure;
  std::string message;
  std::string provider_reference;
  std::map<std::string, std::string> instructions;  // for the payer
  std::optional<Timestamp> expires_at;
  std::optional<Amount> collected = {};  // if collected; empty: the requested amount
};

/// Money that was collected and that its payer gets back. The provider carries out each ID once.
struct Refund {
  RefundId id;
  PaymentId payment;  // the collection, unless it was paid on a reference
  std::optional<std::string> reference;
  std::optional<std::string> provider_payment_id;  // of the payment on the reference
  Amount amount;
  std::string currency;
  int decimals = 0;  // of the currency
  Party payer;
  std::string reason;
  Timestamp first_sent_at;
};
/// A refund goes through the states of a payout.
using RefundResponse = PayoutResponse;

struct ReferenceAsk {
  std::string id;  // idempotency key
  std::string customer_id;
  std::string settlement_account;  // G... public key
};
struct IssuedReference {
  std::string reference;
  std::optional<std::map<std::string, std::string>> metadata;  // empty on a rebind
};
struct ReferenceResponse {
  enum class Kind { issued, customer_not_registered, cannot_assign };
  Kind kind = Kind::issued;
  IssuedReference issued;
  std::vector<IssuedReference> related;
};

/// Implementations are thread-safe. Every call to another machine ends within the endpoint's
/// timeout. Failures: `provider-error` (rejected, or an invalid response), `provider-unavailable`
/// (no connection), `provider-timeout`.
class Connector {
 public:
  virtual ~Connector() = default;

  virtual Result<ProviderQuote> quote(const ConnectorTerms& terms, const QuoteAsk& ask) = 0;

  /// A definite rejection is a response with the state `failed`, not a Problem.
  virtual Result<PayoutResponse> submit(const ConnectorTerms& terms, const Payout& payout) = 0;
  virtual Result<PayoutResponse> payout_status(const ConnectorTerms& terms,
                                               const Payout& payout) = 0;
  /// After this call, the provider never executes this ID unless it has already accepted it. The
  /// response is `failed`, or the state of the accepted payout.
  virtual Result<PayoutResponse> cancel(const ConnectorTerms& terms, const Payout& payout) = 0;

  virtual Result<CollectionResponse> collect(const ConnectorTerms& terms,
                                             const Collection& collection) = 0;
  virtual Result<CollectionResponse> collection_status(const ConnectorTerms& terms,
                                                       const Collection& collection) = 0;
  /// Ends an unpaid collection. The provider decides, and a payment that was made takes precedence.
  virtual Result<CollectionResponse> expire(const ConnectorTerms& terms,
                                            const Collection& collection) = 0;

  /// As submit() and payout_status(). A refund cannot be cancelled.
  virtual Result<RefundResponse> refund(const ConnectorTerms& terms, const Refund& refund) = 0;
  virtual Result<RefundResponse> refund_status(const ConnectorTerms& terms,
                                               const Refund& refund) = 0;

  virtual Result<ReferenceResponse> issue_reference(const ConnectorTerms& terms,
                                                    const ReferenceAsk& ask) = 0;
};

}  // namespace coffer::outbound

// The words of docs/provider-protocol.md.
template <>
struct coffer::Terms<coffer::outbound::PayoutState> {
  static constexpr auto rows = std::to_array<Term>(
      {{"never_arrived"}, {"pending"}, {"in_review"}, {"succeeded"}, {"failed"}});
};
template <>
struct coffer::Terms<coffer::outbound::CollectionState> {
  static constexpr auto rows =
      std::to_array<Term>({{"never_arrived"}, {"pending"}, {"collected"}, {"failed"}, {"expired"}});
};
template <>
struct coffer::Terms<coffer::outbound::ProviderRefund> {
  static constexpr auto rows = std::to_array<Term>({{"returned"}, {"pending"}, {"refused"}});
};
