// A payment provider whose behaviour is random: responses, rejections, lost requests, lost
// responses, delayed refunds, and sometimes a contradiction. Like real providers, it stays
// consistent for an ID that it has. All its responses can be read back, so that the model gets the
// same ones.
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
  std::string address;  // at which it was called; empty for a driver without addresses
};

/// For one thread.
class DiceProvider final : public outbound::Connector {
 public:
  DiceProvider(std::uint64_t seed, const Clock& clock) : dice_(seed), clock_(clock) {}

  /// Requests and responses since the last call.
  std::vector<ProviderTalk> take_talks() { return std::exchange(talks_, {}); }
  /// The last response to a price request.
  const std::optional<Result<outbound::ProviderQuote>>& last_quote() const { return last_quote_; }
  /// From now on, everything ends, without errors and contradictions.
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
  Result<outbound::RefundResponse> refund(const ConnectorTerms& terms,
                                          const outbound::Refund& refund) override;
  Result<outbound::RefundResponse> refund_status(const ConnectorTerms& terms,
                                                 const outbound::Refund& refund) override;
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
  outbound::ProviderQuote finished(outbound::ProviderQuote out);
  void spoil(const ConnectorTerms& terms, outbound::ProviderQuote& quote);
  outbound::PayoutResponse first_answer(const PaymentId& id);
  void move_on(outbound::PayoutResponse& answer);
  Result<outbound::PayoutResponse> placed(const PaymentId& id, bool lost);
  Result<outbound::PayoutResponse> standing(const PaymentId& id);
  void collect_now(outbound::CollectionResponse& answer, Amount asked);
  Result<outbound::CollectionResponse> standing_collection(const outbound::Collection& collection);

  Dice dice_;
  const Clock& clock_;
  bool calm_ = false;
  std::map<Uuid, outbound::PayoutResponse> payouts_;  // and refunds
  std::map<Uuid, outbound::CollectionResponse> collections_;
  std::vector<ProviderTalk> talks_;
  std::optional<Result<outbound::ProviderQuote>> last_quote_;
};

}  // namespace coffer::property
