#include "outbound/providers/provider_messages.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text/ascii.h"
#include "base/text/characters.h"
#include "base/text/unicode.h"

namespace coffer::outbound {
namespace {

using Json = nlohmann::ordered_json;
using http::JsonValue;

constexpr std::size_t kMessageMax = 500;
// Of texts that are only shown: longer ones are cut, because they must not hold up money.
constexpr std::size_t kShownMax = 4096;
constexpr std::size_t kShownNameMax = 200;
constexpr std::size_t kPairsMax = 50;
constexpr std::size_t kRelatedMax = 100;

Unexpected garbage(const char* why) { return unexpected(Slug::provider_error, why); }

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json party_json(const Party& party) {
  Json out = {{"name", party.name}, {"accountNumber", party.account}};
  out["details"] = Json(party.details);
  return out;
}

Json or_null(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

// --- Reading ------------------------------------------------------------------------------------

/// The text of a member; nullptr if it is missing, null or another type.
const std::string* text_of(const JsonValue& body, std::string_view name) {
  const JsonValue* member = body.find(name);
  return member == nullptr ? nullptr : member->string();
}

bool is_absent(const JsonValue& body, std::string_view name) {
  const JsonValue* member = body.find(name);
  return member == nullptr || member->is_null();
}

static_assert(kProviderReferenceMax == 128, "the reasons below name the limit");
bool is_reference_text(const std::string* text) {
  return text != nullptr && !is_blank(*text) && character_count(*text) <= kProviderReferenceMax &&
         !ascii::has_control(*text);
}

using Parse = ParsedAmount (*)(std::string_view, int);

ParsedAmount parse_positive(std::string_view text, int decimals) {
  return parse_amount(text, decimals);
}

std::optional<Amount> read_amount(const JsonValue& body, std::string_view name, int decimals,
                                  Parse parse = parse_positive) {
  const std::string* text = text_of(body, name);
  if (text == nullptr) return std::nullopt;
  const ParsedAmount parsed = parse(*text, decimals);
  return parsed.fault == AmountFault::none ? std::optional(parsed.amount) : std::nullopt;
}

/// The collected amount; nullopt if the provider does not report it.
Result<std::optional<Amount>> read_collected(const ConnectorTerms& terms, const JsonValue& body) {
  if (is_absent(body, "collectedAmount")) return std::optional<Amount>();
  const std::string* text = text_of(body, "collectedAmount");
  if (text == nullptr) return garbage("`collectedAmount` is not a decimal string");
  const ParsedAmount parsed = parse_amount(*text, terms.send_decimals());
  switch (parsed.fault) {
    case AmountFault::none:
      return std::optional(parsed.amount);
    case AmountFault::not_a_number:
      return garbage("`collectedAmount` is not a decimal string");
    case AmountFault::too_precise:
      return garbage("`collectedAmount` has more decimal places than the currency");
    case AmountFault::out_of_range:
      return garbage("`collectedAmount` is not greater than 0, or too large");
  }
  throw InternalError("unknown amount fault");
}

bool is_plain_decimal(std::string_view text) {
  return text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// The written decimal places of a rate, including zeros at the end.
int places_of(std::string_view decimal) {
  constexpr std::size_t kRatePlacesMax = 9;
  const auto point = decimal.find('.');
  if (point == std::string_view::npos) return 0;
  return static_cast<int>(std::min(decimal.size() - point - 1, kRatePlacesMax));
}

/// Returns false if the member is present but not a time.
bool read_time(const JsonValue& body, std::string_view name, std::optional<Timestamp>& out) {
  if (is_absent(body, name)) return true;
  const std::string* text = text_of(body, name);
  if (text != nullptr) out = Timestamp::parse(*text);
  return out.has_value();
}

/// An object of texts to show, of which it keeps the first ones; nullopt for anything else.
std::optional<std::map<std::string, std::string>> read_texts(const JsonValue& value) {
  const JsonValue::Object* members = value.object();
  if (members == nullptr) return std::nullopt;
  std::map<std::string, std::string> out;
  for (const auto& [name, member] : *members) {
    if (member.string() == nullptr) return std::nullopt;
    if (out.size() == kPairsMax) continue;
    out.emplace(cleaned(first_characters(name, kShownNameMax)),
                cleaned(first_characters(*member.string(), kShownMax)));
  }
  return out;
}

struct Failure {
  std::optional<FailureCode> code;
  std::string message;
};

/// An unknown code is a failure too, because the provider has declared it final.
std::optional<Failure> read_failure(const JsonValue& body) {
  if (is_absent(body, "failure")) return Failure{FailureCode::provider_error, {}};
  const JsonValue& member = *body.find("failure");
  const std::string* code = text_of(member, "code");
  if (code == nullptr) return std::nullopt;
  Failure out{provider_failure(*code).value_or(FailureCode::provider_error), {}};
  if (const std::string* message = text_of(member, "message")) {
    out.message = cleaned(first_characters(*message, kMessageMax));
  }
  return out;
}

template <Vocabulary Enum>
std::optional<Enum> read_word(const std::string* text) {
  return text == nullptr ? std::nullopt : parse_term<Enum>(*text);
}

/// An amount of the payment, which a response may repeat but not change.
struct SentAmount {
  std::string_view name;
  Amount amount;
  int decimals;
};

/// The common first part of both kinds of records.
Result<std::string> read_head(const Uuid& id, std::initializer_list<SentAmount> amounts,
                              const JsonValue& body) {
  const std::string* told = text_of(body, "id");
  if (told == nullptr || Uuid::parse(*told) != id)
    return garbage("`id` differs from that of the request");
  for (const SentAmount& sent : amounts) {
    if (is_absent(body, sent.name)) continue;
    if (read_amount(body, sent.name, sent.decimals) != sent.amount) {
      return garbage("an amount differs from that of the request");
    }
  }
  const std::string* reference = text_of(body, "providerReference");
  if (is_absent(body, "providerReference")) return std::string();
  if (!is_reference_text(reference))
    return garbage("`providerReference` is not a text of 1 to 128 characters without controls");
  return *reference;
}

/// A record that has not failed contradicts itself with these members.
Result<void> reject_failure(const JsonValue& body) {
  if (!is_absent(body, "failure")) return garbage("`failure` contradicts `status`");
  if (!is_absent(body, "refund")) return garbage("`refund` contradicts `status`");
  return {};
}

/// The state, and the reason if it has failed. `unknown`: what is wrong with any other word.
template <class Response>
Result<void> read_state(const char* unknown, const JsonValue& body, Response& out) {
  using State = decltype(out.state);
  const auto state = read_word<State>(text_of(body, "status"));
  if (!state || *state == State::never_arrived) return garbage(unknown);
  out.state = *state;
  if (out.state != State::failed) return reject_failure(body);
  auto failure = read_failure(body);
  if (!failure) return garbage("`failure` is not a failure code");
  out.failure = failure->code;
  out.message = std::move(failure->message);
  return {};
}

Result<IssuedReference> read_issued(const JsonValue& value) {
  const std::string* reference = text_of(value, "reference");
  if (!is_reference_text(reference))
    return garbage("`reference` is not a text of 1 to 128 characters without controls");
  IssuedReference out{*reference, std::nullopt};
  if (is_absent(value, "metadata")) return out;
  out.metadata = read_texts(*value.find("metadata"));
  if (!out.metadata) return garbage("`metadata` is not an object of strings");
  return out;
}

}  // namespace

std::optional<FailureCode> provider_failure(std::string_view code) {
  // The payment was cancelled before it arrived: for this payment, the provider was unavailable.
  if (code == "cancelled") return FailureCode::provider_unavailable;
  constexpr std::array kReported = {
      FailureCode::insufficient_funds,    FailureCode::account_closed,
      FailureCode::account_not_found,     FailureCode::name_mismatch,
      FailureCode::limit_exceeded,        FailureCode::compliance_rejected,
      FailureCode::destination_not_found, FailureCode::expired,
      FailureCode::operator_failed,       FailureCode::provider_error};
  for (const FailureCode reported : kReported) {
    if (info(reported).name == code) return reported;
  }
  return std::nullopt;
}

std::string quote_body(const ConnectorTerms& terms, const QuoteAsk& ask) {
  const int decimals = ask.exact_receive ? terms.receive_decimals() : terms.send_decimals();
  Json out = {{"connectorId", terms.id.to_string()},
              {"direction", name(terms.direction)},
              {"assetCode", terms.asset.code.value()},
              {"currencyIsoCode3", terms.currency},
              {"amount", ask.amount.to_string(decimals)},
              {"amountSide", ask.exact_receive ? "receive" : "send"}};
  if (ask.type) out["transactionType"] = name(*ask.type);
  return dump(out);
}

std::string payout_body(const ConnectorTerms& terms, const Payout& payout) {
  Json out = {{"id", payout.id.to_string()},
              {"connectorId", terms.id.to_string()},
              {"transactionType", name(payout.type)},
              {"method", name(terms.method)},
              {"countryIsoCode2", terms.country},
              {"assetCode", terms.asset.code.value()},
              {"sendAmount", payout.send.to_string(terms.send_decimals())},
              {"currencyIsoCode3", terms.currency},
              {"receiveAmount", payout.receive.to_string(terms.receive_decimals())}};
  out["recipient"] = party_json(payout.recipient);
  out["providerQuoteId"] = or_null(payout.quote_reference);
  out["toRef"] = or_null(payout.to_ref);
  out["purposeOfPayment"] = payout.purpose_of_payment;
  out["sourceOfFunds"] = payout.source_of_funds;
  out["relationship"] = payout.relationship;
  out["additionalFields"] = Json(payout.fields);
  return dump(out);
}

std::string collection_body(const ConnectorTerms& terms, const Collection& collection) {
  Json out = {{"id", collection.id.to_string()},
              {"connectorId", terms.id.to_string()},
              {"method", name(terms.method)},
              {"countryIsoCode2", terms.country},
              {"currencyIsoCode3", terms.currency},
              {"sendAmount", collection.send.to_string(terms.send_decimals())},
              {"assetCode", terms.asset.code.value()},
              {"receiveAmount", collection.receive.to_string(terms.receive_decimals())}};
  out["payer"] = party_json(collection.payer);
  out["providerQuoteId"] = or_null(collection.quote_reference);
  out["additionalFields"] = Json(collection.fields);
  out["expiresAt"] = collection.expires_at.to_string();
  return dump(out);
}

std::string refund_body(const ConnectorTerms& terms, const Refund& refund) {
  Json out = {{"id", refund.id.to_string()}, {"connectorId", terms.id.to_string()}};
  if (refund.reference) {
    out["reference"] = *refund.reference;
    out["providerPaymentId"] = or_null(refund.provider_payment_id);
  } else {
    out["collectionId"] = refund.payment.to_string();
  }
  out["amount"] = refund.amount.to_string(refund.decimals);
  out["currencyIsoCode3"] = refund.currency;
  out["payer"] = party_json(refund.payer);
  out["reason"] = refund.reason;
  return dump(out);
}

std::string reference_body(const ConnectorTerms& terms, const ReferenceAsk& ask) {
  return dump({{"id", ask.id},
               {"connectorId", terms.id.to_string()},
               {"customerId", ask.customer_id},
               {"settlementAccount", ask.settlement_account},
               {"assetCode", terms.asset.code.value()},
               {"currencyIsoCode3", terms.currency}});
}

Result<ProviderQuote> read_quote(const ConnectorTerms& terms, const JsonValue& body) {
  const auto send = read_amount(body, "sendAmount", terms.send_decimals());
  const auto receive = read_amount(body, "receiveAmount", terms.receive_decimals());
  const auto fee = read_amount(body, "fee", terms.send_decimals(), parse_fee);
  if (!send || !receive || !fee) return garbage("an amount of the quote is not valid");
  const std::string* rate_text = text_of(body, "rate");
  const auto rate = rate_text == nullptr ? std::nullopt : Rate::parse(*rate_text);
  if (!rate || !is_plain_decimal(*rate_text)) return garbage("`rate` is not a decimal string");
  ProviderQuote out{{*send, *receive, *fee, *rate, places_of(*rate_text)}};
  if (!read_time(body, "expiresAt", out.expires_at)) return garbage("`expiresAt` is not a time");
  if (is_absent(body, "providerQuoteId")) return out;
  const std::string* reference = text_of(body, "providerQuoteId");
  if (!is_reference_text(reference))
    return garbage("`providerQuoteId` is not a text of 1 to 128 characters without controls");
  out.reference = *reference;
  return out;
}

Result<PayoutResponse> read_payout(const ConnectorTerms& terms, const Payout& payout,
                                   const JsonValue& body) {
  PayoutResponse out;
  COFFER_TRY(out.provider_reference,
             read_head(payout.id.uuid,
                       {{"sendAmount", payout.send, terms.send_decimals()},
                        {"receiveAmount", payout.receive, terms.receive_decimals()}},
                       body));
  COFFER_TRY_VOID(read_state("`status` is not a payout status", body, out));
  if (out.state != PayoutState::failed) return out;
  // Money is credited back only if the provider says so explicitly. Only a cancelled payout, which
  // debited nothing, has this code.
  const bool cancelled = out.failure == FailureCode::provider_unavailable;
  out.refund = cancelled ? ProviderRefund::returned : ProviderRefund::pending;
  if (is_absent(body, "refund")) return out;
  const auto refund = read_word<ProviderRefund>(text_of(body, "refund"));
  if (!refund) return garbage("`refund` is not valid");
  out.refund = *refund;
  return out;
}

Result<CollectionResponse> read_collection(const ConnectorTerms& terms,
                                           const Collection& collection, const JsonValue& body) {
  CollectionResponse out;
  COFFER_TRY(out.provider_reference,
             read_head(collection.id.uuid, {{"sendAmount", collection.send, terms.send_decimals()}},
                       body));
  COFFER_TRY_VOID(read_state("`status` is not a collection status", body, out));
  if (!is_absent(body, "instructions")) {
    auto instructions = read_texts(*body.find("instructions"));
    if (!instructions) return garbage("`instructions` is not an object of strings");
    out.instructions = *std::move(instructions);
  }
  if (!read_time(body, "expiresAt", out.expires_at)) return garbage("`expiresAt` is not a time");
  if (out.state == CollectionState::collected) {
    COFFER_TRY(out.collected, read_collected(terms, body));
  }
  const bool unpaid = out.state == CollectionState::failed || out.state == CollectionState::expired;
  if (unpaid && !is_absent(body, "collectedAmount")) {
    return garbage("`collectedAmount` contradicts `status`: money arrived");
  }
  return out;
}

Result<RefundResponse> read_refund(const Refund& refund, const JsonValue& body) {
  RefundResponse out;
  COFFER_TRY(out.provider_reference,
             read_head(refund.id.uuid, {{"amount", refund.amount, refund.decimals}}, body));
  COFFER_TRY_VOID(read_state("`status` is not a refund status", body, out));
  if (!is_absent(body, "refund")) return garbage("a refund has no `refund`");
  return out;
}

Result<ReferenceResponse> read_reference(const JsonValue& body) {
  ReferenceResponse out;
  COFFER_TRY(out.issued, read_issued(body));
  if (is_absent(body, "relatedReferences")) return out;
  const JsonValue::Array* related = body.find("relatedReferences")->array();
  if (related == nullptr) return garbage("`relatedReferences` is not a list");
  if (related->size() > kRelatedMax) return garbage("`relatedReferences` has over 100 references");
  std::set<std::string> known{out.issued.reference};
  for (const JsonValue& item : *related) {
    COFFER_TRY(auto issued, read_issued(item));
    if (!known.insert(issued.reference).second) return garbage("a reference occurs twice");
    out.related.push_back(std::move(issued));
  }
  return out;
}

}  // namespace coffer::outbound
