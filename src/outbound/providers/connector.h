// A payment provider, as coffer sees it: one interface for every driver, with one conformance suite
// (docs/contract.md#providers, docs/provider-protocol.md).
//
// The id of a payout or a collection is coffer's record id and the provider's idempotency key:
// doing the same id again gives the same answer and never a second payout. A failed call
// does not tell what the provider did; the caller asks `payout_status` before anything else.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "domain/payments/payment.h"
#include "domain/providers/connector.h"

namespace coffer::outbound {

/// Somebody at the other end: a recipient or a payer.
struct Party {
  std::string name;
  std::string account;  // number, phone or address; its last four digits decide in the sandbox
  std::map<std::string, std::string> details;  // as the provider protocol names them
};

struct QuoteAsk {
  Amount amount;               // in the sending currency, or the receiving one
  bool exact_receive = false;  // `amount` is what has to arrive
  std::optional<TransactionType> type;
};
struct ProviderQuote {
  Amount send;
  Amount receive;
  Amount fee;  // the connector's own, in the sending currency
  Rate rate;
  std::optional<Timestamp> expires_at;
  std::optional<std::string> reference;  // the provider's id of the quote
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
  Timestamp first_sent_at;  // of the first attempt: its age drives the sandbox
};
enum class PayoutState { never_arrived, pending, in_review, succeeded, failed };
/// What became of the money of an accepted payout that failed.
enum class ProviderRefund { returned, pending, refused };
struct PayoutResponse {
  PayoutState state = PayoutState::pending;
  std::optional<FailureCode> failure;  // when failed
  std::string message;                 // the provider's words, for the operator
  std::string provider_reference;
  ProviderRefund refund = ProviderRefund::returned;  // when failed
};

struct Collection {
  PaymentId id;
  Amount send;     // what the payer pays, in the connector's currency
  Amount receive;  // in its asset
  Party payer;
  std::optional<std::string> quote_reference;
  AdditionalFields fields;
  Timestamp first_sent_at;
  Timestamp expires_at;  // coffer's wish; the provider may say another time
};
enum class CollectionState { never_arrived, pending, collected, failed, expired };
struct CollectionResponse {
  CollectionState state = CollectionState::pending;
  std::optional<FailureCode> failure;
  std::string message;
  std::string provider_reference;
  std::map<std::string, std::string> instructions;  // for the payer
  std::optional<Timestamp> expires_at;
  std::optional<Amount> collected = {};  // when collected; empty: what was asked for
};

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

/// Implementations are safe to call from several threads. Every call to another machine ends
/// within the endpoint's timeout. ValidationErrors: `provider-error` (it refused or sent garbage),
/// `provider-unavailable` (no connection), `provider-timeout`.
class Connector {
 public:
  virtual ~Connector() = default;

  virtual Result<ProviderQuote> quote(const ConnectorTerms& terms, const QuoteAsk& ask) = 0;

  /// A definite refusal is an answer in state `failed`, not a fault.
  virtual Result<PayoutResponse> submit(const ConnectorTerms& terms, const Payout& payout) = 0;
  virtual Result<PayoutResponse> payout_status(const ConnectorTerms& terms,
                                               const Payout& payout) = 0;
  /// The provider promises never to execute this id unless it has already accepted it; the answer
  /// is `failed` then, else how the accepted payout stands.
  virtual Result<PayoutResponse> cancel(const ConnectorTerms& terms, const Payout& payout) = 0;

  virtual Result<CollectionResponse> collect(const ConnectorTerms& terms,
                                             const Collection& collection) = 0;
  virtual Result<CollectionResponse> collection_status(const ConnectorTerms& terms,
                                                       const Collection& collection) = 0;
  /// Ends an unpaid collection; the provider decides, and what was paid wins.
  virtual Result<CollectionResponse> expire(const ConnectorTerms& terms,
                                            const Collection& collection) = 0;

  virtual Result<ReferenceResponse> issue_reference(const ConnectorTerms& terms,
                                                    const ReferenceAsk& ask) = 0;
};

}  // namespace coffer::outbound
