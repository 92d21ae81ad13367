// A provider's response, parsed as every kind of response: valid by the protocol, or
// `provider-error`.
#include "fuzz/property.h"
#include "outbound/providers/provider_messages.h"

namespace coffer::fuzz {
namespace {

using namespace outbound;

const PaymentId kId = *PaymentId::parse("018f4a00-0000-7000-8000-000000000001");

ConnectorTerms terms_of(Direction direction) {
  ConnectorTerms terms;
  terms.direction = direction;
  terms.currency = "KES";
  terms.currency_decimals = 2;
  terms.asset.code = *AssetCode::parse("USDC");
  terms.asset.decimals = 7;
  return terms;
}

template <class Answer>
const Answer* sound(const Result<Answer>& answer) {
  if (answer) return &*answer;
  HOLDS(answer.error().slug == Slug::provider_error && !answer.error().detail.empty());
  return nullptr;
}

void check_quotes(const http::JsonValue& body) {
  for (const Direction direction : {Direction::off_ramp, Direction::on_ramp}) {
    for (const bool exact_receive : {false, true}) {
      const ConnectorTerms terms = terms_of(direction);
      const QuoteAsk ask{Amount::from_units(100'000'000), exact_receive, {}};
      const auto answer = read_quote(terms, body);
      const ProviderQuote* quote = sound(answer);
      if (quote == nullptr || !quote_fault(terms, ask, *quote).empty()) continue;
      HOLDS(exact_receive ? quote->receive >= ask.amount : quote->send == ask.amount);
      HOLDS(quote->send.is_positive() && quote->receive.is_positive() && !quote->fee.is_negative());
      HOLDS(truncate_to(quote->send, terms.send_decimals()) == quote->send);
      HOLDS(truncate_to(quote->receive, terms.receive_decimals()) == quote->receive);
      HOLDS(truncate_to(quote->fee, terms.send_decimals()) == quote->fee);
      HOLDS(quote->rate.numerator > 0 && quote->rate.denominator > 0);
    }
  }
}

void check_failure(bool failed, const std::optional<FailureCode>& code,
                   const std::string& message) {
  HOLDS(failed == code.has_value());
  HOLDS(message.size() <= 500);
  // A provider cannot return coffer's own failure codes.
  HOLDS(!code || (*code != FailureCode::slippage_exceeded && *code != FailureCode::no_market_path &&
                  *code != FailureCode::insufficient_liquidity));
}

void check_reference(const IssuedReference& issued) {
  HOLDS(!issued.reference.empty() && issued.reference.size() <= 128);
  for (const char c : issued.reference) HOLDS(static_cast<unsigned char>(c) >= 0x20);
}

void check(std::string_view text) {
  const auto body = http::parse_json(text);
  if (!body) return;
  check_quotes(*body);
  Payout sent;
  sent.id = kId;
  sent.send = sent.receive = Amount::from_units(100'000'000);
  const auto payout = read_payout(terms_of(Direction::off_ramp), sent, *body);
  if (const PayoutResponse* answer = sound(payout)) {
    HOLDS(answer->state != PayoutState::never_arrived);
    check_failure(answer->state == PayoutState::failed, answer->failure, answer->message);
  }
  const ConnectorTerms terms = terms_of(Direction::on_ramp);
  Collection expected;
  expected.id = kId;
  expected.send = expected.receive = sent.send;
  const auto collection = read_collection(terms, expected, *body);
  if (const CollectionResponse* answer = sound(collection)) {
    HOLDS(answer->state != CollectionState::never_arrived);
    check_failure(answer->state == CollectionState::failed, answer->failure, answer->message);
    HOLDS(answer->instructions.size() <= 50);
    HOLDS(!answer->collected || answer->state == CollectionState::collected);
    HOLDS(!answer->collected || (answer->collected->is_positive() &&
                                 truncate_to(*answer->collected, 2) == *answer->collected));
  }
  Refund given;
  given.id = RefundId{kId.uuid};
  given.amount = sent.send;
  given.decimals = 2;
  const auto refund = read_refund(given, *body);
  if (const RefundResponse* answer = sound(refund)) {
    HOLDS(answer->state != PayoutState::never_arrived);
    check_failure(answer->state == PayoutState::failed, answer->failure, answer->message);
  }
  // A response about another payment is not valid for this one.
  sent.id.uuid.bytes[15] ^= 1;
  expected.id = sent.id;
  given.id.uuid = sent.id.uuid;
  HOLDS(!(payout && read_payout(terms_of(Direction::off_ramp), sent, *body)) &&
        !(collection && read_collection(terms, expected, *body)) &&
        !(refund && read_refund(given, *body)));
  const auto reference = read_reference(*body);
  if (const ReferenceResponse* answer = sound(reference)) {
    check_reference(answer->issued);
    HOLDS(answer->related.size() <= 100);
    for (const IssuedReference& related : answer->related) check_reference(related);
  }
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
