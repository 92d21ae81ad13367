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
#include "domain/provider_payment.h"
#include "flows/providers/provider_message.h"
#include "outbound/connector.h"
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
  Result<outbound::PayoutAnswer> submit(const ConnectorTerms& terms,
                                        const outbound::Payout& payout) override;
  Result<outbound::PayoutAnswer> payout_status(const ConnectorTerms& terms,
                                               const outbound::Payout& payout) override;
  Result<outbound::PayoutAnswer> cancel(const ConnectorTerms& terms,
                                        const outbound::Payout& payout) override;
  Result<outbound::CollectionAnswer> collect(const ConnectorTerms& terms,
                                             const outbound::Collection& collection) override;
  Result<outbound::CollectionAnswer> collection_status(
      const ConnectorTerms& terms, const outbound::Collection& collection) override;
  Result<outbound::CollectionAnswer> expire(const ConnectorTerms& terms,
                                            const outbound::Collection& collection) override;
  Result<outbound::ReferenceAnswer> issue_reference(const ConnectorTerms& terms,
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
  outbound::PayoutAnswer first_answer(const PaymentId& id);
  void move_on(outbound::PayoutAnswer& answer);
  Result<outbound::PayoutAnswer> standing(const PaymentId& id);
  void collect_now(outbound::CollectionAnswer& answer, Amount asked);
  Result<outbound::CollectionAnswer> standing_collection(const outbound::Collection& collection);

  Dice dice_;
  const Clock& clock_;
  bool calm_ = false;
  std::map<Uuid, outbound::PayoutAnswer> payouts_;
  std::map<Uuid, outbound::CollectionAnswer> collections_;
  std::vector<ProviderTalk> talks_;
  std::optional<Result<outbound::ProviderQuote>> last_quote_;
};

}  // namespace coffer::property
