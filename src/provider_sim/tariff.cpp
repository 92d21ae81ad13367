#include "provider_sim/tariff.h"

#include "base/text/next_part.h"
#include "domain/country.h"
#include "domain/providers/quote.h"

namespace coffer::provider_sim {
namespace {

constexpr int kFeeBasisPoints = 50;
constexpr int kAssetDecimals = 7;

int decimals_of(std::string_view currency) {
  constexpr int kUsual = 2;
  const Currency* known = find_currency(currency);
  return known == nullptr ? kUsual : known->minor_units.value_or(kUsual);
}

Unexpected reject(std::string why) { return unexpected(Slug::malformed_request, std::move(why)); }

}  // namespace

Result<Tariff> Tariff::parse(std::string_view spec) {
  Tariff out;
  while (!spec.empty()) {
    const std::string_view item = next_part(spec, ',');
    const auto equals = item.find('=');
    const auto rate =
        equals == std::string_view::npos ? std::nullopt : Rate::parse(item.substr(equals + 1));
    if (!rate || item.substr(0, equals).find(':') == std::string_view::npos) {
      return reject("The rate " + std::string(item) +
                    " is not valid. Write it like USDC:NGN=1540.25.");
    }
    out.rates_[std::string(item.substr(0, equals))] = *rate;
  }
  return out;
}

Result<Json> Tariff::quote(const Json& ask, Timestamp now, const std::string& quote_id) const {
  const auto direction =
      parse_term_in_any_case<Direction>(ask.at("direction").get_ref<const std::string&>());
  const auto code = AssetCode::parse(ask.at("assetCode").get_ref<const std::string&>());
  if (!direction || !code) return reject("direction or assetCode is not valid");
  ConnectorTerms terms;
  terms.direction = *direction;
  terms.asset.code = *code;
  terms.asset.decimals = kAssetDecimals;
  terms.currency = ask.at("currencyIsoCode3");
  terms.currency_decimals = decimals_of(terms.currency);
  terms.fee.basis_points = kFeeBasisPoints;
  const std::string pair = std::string(terms.send_code()) + ":" + std::string(terms.receive_code());
  const auto found = rates_.find(pair);
  terms.rate = found == rates_.end() ? Rate() : found->second;

  const bool receive = ask.value("amountSide", std::string("send")) == "receive";
  const ParsedAmount amount =
      parse_amount(ask.at("amount").get_ref<const std::string&>(),
                   receive ? terms.receive_decimals() : terms.send_decimals());
  if (amount.fault != AmountFault::none) return reject("amount is not valid");
  COFFER_TRY(const Price price, receive ? price_exact_receive(terms, amount.amount, std::nullopt)
                                        : price_exact_send(terms, amount.amount, std::nullopt));
  return Json{{"sendAmount", price.send.to_string(terms.send_decimals())},
              {"receiveAmount", price.receive.to_string(terms.receive_decimals())},
              {"rate", price.rate.to_string()},
              {"fee", price.fee.to_string(terms.send_decimals())},
              {"expiresAt", now.plus_ms(kQuoteLifetimeMs).to_string()},
              {"providerQuoteId", quote_id}};
}

}  // namespace coffer::provider_sim
