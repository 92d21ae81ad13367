// A payment provider whose dice decide: answers, refusals, lost requests, lost answers, refunds
// that take their time, and now and then a contradiction. It keeps its word to an id that it has,
// as providers must. Everything it said can be read back, so that the model can be told the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/providers/provider_payment.h"
#include "flows/providers/provider_message.h"
#include "outbound/providers/connector.h"
#include "property/seeds.h"

namespace coffer::property {

struct ProviderTalk {
  PaymentId id;
  ProviderCall call;
  flows::ProviderReply reply;
  std::string address;  // that it was asked at; empty for a driver without one
};

/// For one thread.
class DiceProvider final : public outbound::Connector {
 public:
  DiceProvider(std::uint64_t seed, const Clock& clock) : dice_(seed), clock_(clock) {}

  /// What was asked and answered since the last time.
  std::vector<ProviderTalk> take_talks() { return std::exchange(talks_, {}); }
  /// The last answer to a question for a price.
  const std::optional<Result<outbound::ProviderQuote>>& last_quote() const { return last_quote_; }
  /// From now on everything comes to an end, without faults and contradictions.
  void calm_down() { calm_ = true; }

  Result<outbound::ProviderQuote> quote(const ConnectorTerms& terms,
                                        const outbound::QuoteAsk& ask) override;
  Result<outbound::PayoutResponse> submit(const ConnectorTerms& terms,
                                          const outbound::Payout& payout) override;
  Result<outbound::PayoutResponse> payout_status(const ConnectorTerms& terms,
                                                 const outbound::Payout& payout) override;
  Result<outbound::PayoutResponse> cancel(const ConnectorTerms& terms,
                                          const outbound::Payout& payout) override;
  Result<outbound::CollectionResponse> collect(const ConnectorTerms& terms,
                                               const outbound::Collection& collection) override;
  Result<outbound::CollectionResponse> collection_status(
      const ConnectorTerms& terms, const outbound::Collection& collection) override;
  Result<outbound::CollectionResponse> expire(const ConnectorTerms& terms,
                                              const outbound::Collection& collection) override;
  Result<outbound::ReferenceResponse> issue_reference(const ConnectorTerms& terms,
                                                      const outbound::ReferenceAsk& ask) override;

 private:
  template <class Answer>
  Result<Answer> say(const ConnectorTerms& terms, const PaymentId& id, ProviderCall call,
                     Result<Answer> answer);
  bool trouble(std::int64_t sides) { return !calm_ && dice_.one_in(sides); }
  Unexpected fault();
  FailureCode some_failure();
  outbound::ProviderQuote priced(const ConnectorTerms& terms, const outbound::QuoteAsk& ask);
  void spoil(const ConnectorTerms& terms, outbound::ProviderQuote& quote);
  outbound::PayoutResponse first_answer(const PaymentId& id);
  void move_on(outbound::PayoutResponse& answer);
  Result<outbound::PayoutResponse> standing(const PaymentId& id);
  void collect_now(outbound::CollectionResponse& answer, Amount asked);
  Result<outbound::CollectionResponse> standing_collection(const outbound::Collection& collection);

  Dice dice_;
  const Clock& clock_;
  bool calm_ = false;
  std::map<Uuid, outbound::PayoutResponse> payouts_;
  std::map<Uuid, outbound::CollectionResponse> collections_;
  std::vector<ProviderTalk> talks_;
  std::optional<Result<outbound::ProviderQuote>> last_quote_;
};

}  // namespace coffer::property
