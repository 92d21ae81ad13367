// Objects of the operator: assets, rates and connectors.

#include "app/app.h"
#include "auth/strkey.h"
#include "base/text/ascii.h"
#include "cli/apply/plan.h"
#include "flows/ledger/market_changes.h"
#include "flows/providers/connector_changes.h"

namespace coffer::cli {
namespace {

/// A word of a vocabulary; `fallback` if it is absent.
template <class Enum>
Enum read_term(api::Fields& fields, std::string_view member, Enum fallback) {
  const auto text = fields.text(member, api::optional);
  if (!text) return fallback;
  const auto value = parse_term_in_any_case<Enum>(*text);
  if (!value) {
    fields.add_error(Slug::malformed_request, member, "does not take the value \"" + *text + '"');
  }
  return value.value_or(fallback);
}

TransactionTypes read_types(api::Fields& fields) {
  const auto* list = fields.array("transactionTypes", api::optional);
  if (list == nullptr) return kAllTransactionTypes;
  TransactionTypes types = 0;
  for (const http::JsonValue& item : *list) {
    const auto type = item.string() == nullptr
                          ? std::nullopt
                          : parse_term_in_any_case<TransactionType>(*item.string());
    if (type) types |= 1U << static_cast<unsigned>(*type);
    if (!type) {
      fields.add_error(Slug::malformed_request, "transactionTypes",
                       "must be a list of C2C, C2B, B2C and B2B");
    }
  }
  return types;
}

void read_endpoint(api::Fields& fields, ConnectorTerms& terms) {
  constexpr int kTimeoutMsMax = 60'000;
  const auto url = fields.text("baseUrl", api::optional, 2'048);
  const auto timeout = fields.integer("timeoutMs", api::optional, 1, kTimeoutMsMax);
  if (!url) return;
  terms.endpoint.emplace();
  terms.endpoint->base_url = *url;
  if (timeout) terms.endpoint->timeout_ms = static_cast<int>(*timeout);
}

std::string shown_limit(const std::optional<Amount>& limit) {
  return limit ? limit->to_string(Amount::kScale) : "none";
}

/// The terms that cannot change after registration, as text.
std::vector<std::pair<std::string_view, std::string>> fixed_terms(const ConnectorTerms& terms) {
  return {{"provider", terms.provider},
          {"driver", std::string(name(terms.driver))},
          {"flow", std::string(name(terms.flow))},
          {"direction", std::string(name(terms.direction))},
          {"method", std::string(name(terms.method))},
          {"countryIsoCode2", ascii::to_lower(terms.country)},
          {"currencyIsoCode3", ascii::to_lower(terms.currency)},
          {"currencyDecimals", std::to_string(terms.currency_decimals)},
          {"assetCode", terms.asset.code.value()},
          {"transactionTypes", std::to_string(terms.types)},
          {"issuesReferences", terms.issues_references ? "true" : "false"}};
}

bool same_limits(const ConnectorTerms& a, const ConnectorTerms& b) {
  return a.min_amount == b.min_amount && a.max_amount == b.max_amount &&
         a.day_limit == b.day_limit && a.month_limit == b.month_limit;
}

}  // namespace

void ApplyPlan::plan_asset(api::Fields& fields, ApplyStep& step) {
  const AssetCode code = fields.asset_code("code", api::required).value_or(AssetCode());
  flows::NewAsset wanted;
  wanted.code = code.value();
  wanted.name = fields.text("name", api::required).value_or("");
  wanted.decimals = static_cast<int>(
      fields.integer("decimals", api::optional, 0, Amount::kScale).value_or(Amount::kScale));
  const auto issuer = fields.text("issuer", api::optional);
  wanted.issuer = issuer.value_or("");
  if (!wanted.issuer.empty() && !auth::PublicKey::parse(wanted.issuer)) {
    fields.add_error(Slug::validation_failed, "issuer",
                     "must be a public key: G, 55 more characters and a correct checksum");
  }
  if (!declare(fields, "code", step, code.value())) return;
  const auto present = assets_.find(code.value());
  if (present != assets_.end()) {
    fixed(fields, "name", present->second.name, wanted.name);
    fixed(fields, "decimals", std::to_string(present->second.decimals),
          std::to_string(wanted.decimals));
    if (issuer) fixed(fields, "issuer", present->second.issuer, *issuer);
    return;
  }
  step.creates = true;
  Asset planned;
  planned.code = code;
  planned.decimals = wanted.decimals;
  assets_.emplace(code.value(), planned);
  step.carry_out = [this, wanted]() -> Result<Record> {
    COFFER_TRY_VOID(flows::register_asset(flows(), wanted));
    return Record{};
  };
}

void ApplyPlan::plan_rate(api::Fields& fields, ApplyStep& step) {
  const auto sell = fields.asset_code("sellAssetCode", api::required).value_or(AssetCode());
  const auto buy = fields.asset_code("buyAssetCode", api::required).value_or(AssetCode());
  const auto rate = read_rate(fields, "rate");
  asset(fields, "sellAssetCode", sell);
  asset(fields, "buyAssetCode", buy);
  if (!declare(fields, "sellAssetCode", step, sell.value() + "/" + buy.value())) return;
  if (sell == buy) {
    fields.add_error(Slug::validation_failed, "buyAssetCode", "must differ from sellAssetCode");
  }
  const auto present = rates_.find(step.name);
  step.creates = present == rates_.end();
  if (!step.creates) differs(step, "rate", present->second.to_string(), rate->to_string());
  step.carry_out = [this, sell, buy, wanted = *rate]() -> Result<Record> {
    COFFER_TRY_VOID(flows::set_rate(flows(), environment_, sell, buy, wanted));
    return Record{};
  };
}

std::optional<Asset> ApplyPlan::asset(api::Fields& fields, std::string_view field,
                                      const AssetCode& code) {
  const auto found = assets_.find(code.value());
  if (found != assets_.end()) return found->second;
  refers(fields, field, "asset", code.value(), false);
  return std::nullopt;
}

ConnectorTerms ApplyPlan::read_terms(api::Fields& fields) {
  ConnectorTerms terms;
  terms.environment = environment_;
  terms.name = fields.text("name", api::required).value_or("");
  terms.provider = fields.text("provider", api::optional).value_or(terms.name);
  terms.driver = read_term(fields, "driver", DriverKind::sandbox);
  terms.flow = read_term(fields, "flow", ConnectorFlow::quoted);
  terms.direction = read_term(fields, "direction", Direction::off_ramp);
  terms.method = read_term(fields, "method", PayMethod::bank);
  terms.country = fields.text("countryIsoCode2", api::required).value_or("");
  terms.currency = fields.text("currencyIsoCode3", api::required).value_or("");
  terms.currency_decimals = static_cast<int>(
      fields.integer("currencyDecimals", api::optional, 0, Amount::kScale).value_or(2));
  const auto code = fields.asset_code("assetCode", api::required);
  if (code) terms.asset = asset(fields, "assetCode", *code).value_or(Asset());
  terms.rate = read_rate(fields, "rate").value_or(Rate());
  terms.fee = read_fee(fields);
  terms.min_amount = fields.amount("minAmount", api::required).value_or(Amount());
  terms.max_amount = fields.amount("maxAmount", api::required).value_or(Amount());
  terms.day_limit = fields.amount("dayLimit", api::optional);
  terms.month_limit = fields.amount("monthLimit", api::optional);
  terms.types = read_types(fields);
  terms.issues_references = fields.boolean("issuesReferences", api::optional).value_or(false);
  terms.status = read_term(fields, "status", ConnectorStatus::active);
  read_endpoint(fields, terms);
  return terms;
}

void ApplyPlan::plan_connector(api::Fields& fields, ApplyStep& step) {
  const ConnectorTerms wanted = read_terms(fields);
  if (!declare(fields, "name", step, wanted.name)) return;
  check_terms(wanted, fields.errors());
  planned_terms_.insert_or_assign(wanted.name, wanted);
  const auto present = connectors_.find(wanted.name);
  if (present != connectors_.end()) {
    compare_terms(present->second.terms, wanted, fields, step);
    step.carry_out = [this, wanted, before = present->second.terms] {
      return change_connector(before, wanted);
    };
    return;
  }
  step.creates = true;
  step.carry_out = [this, wanted]() -> Result<Record> {
    COFFER_TRY(const auto made, flows::register_connector(flows(), {wanted, {}}));
    connectors_.emplace(wanted.name, made.connector);
    Record record{{"id", made.connector.terms.id}};
    if (!made.secret.empty()) record.emplace_back("secret", made.secret);
    if (wanted.status != ConnectorStatus::active) {
      COFFER_TRY_VOID(flows::set_connector_status(flows(), made.connector.terms.id, wanted.status));
    }
    return record;
  };
}

void ApplyPlan::compare_terms(const ConnectorTerms& present, const ConnectorTerms& wanted,
                              api::Fields& fields, ApplyStep& step) {
  const auto before = fixed_terms(present);
  const auto after = fixed_terms(wanted);
  for (std::size_t i = 0; i < before.size(); ++i) {
    fixed(fields, before[i].first, before[i].second, after[i].second);
  }
  differs(step, "rate", present.rate.to_string(), wanted.rate.to_string());
  differs(step, "fee", shown_rule(present.fee), shown_rule(wanted.fee));
  differs(step, "minAmount", shown_limit(present.min_amount), shown_limit(wanted.min_amount));
  differs(step, "maxAmount", shown_limit(present.max_amount), shown_limit(wanted.max_amount));
  differs(step, "dayLimit", shown_limit(present.day_limit), shown_limit(wanted.day_limit));
  differs(step, "monthLimit", shown_limit(present.month_limit), shown_limit(wanted.month_limit));
  differs(step, "status", std::string(name(present.status)), std::string(name(wanted.status)));
  if (present.endpoint && wanted.endpoint) {
    differs(step, "baseUrl", present.endpoint->base_url, wanted.endpoint->base_url);
    differs(step, "timeoutMs", std::to_string(present.endpoint->timeout_ms),
            std::to_string(wanted.endpoint->timeout_ms));
  }
}

Result<Record> ApplyPlan::change_connector(const ConnectorTerms& present,
                                           const ConnectorTerms& wanted) {
  const ConnectorId id = present.id;
  if (present.rate.to_string() != wanted.rate.to_string()) {
    COFFER_TRY_VOID(flows::set_connector_rate(flows(), id, wanted.rate));
  }
  if (shown_rule(present.fee) != shown_rule(wanted.fee)) {
    COFFER_TRY_VOID(flows::set_connector_fee(flows(), id, wanted.fee));
  }
  if (!same_limits(present, wanted)) {
    COFFER_TRY_VOID(flows::set_connector_limits(
        flows(), id, {wanted.min_amount, wanted.max_amount, wanted.day_limit, wanted.month_limit}));
  }
  if (present.endpoint && wanted.endpoint &&
      (present.endpoint->base_url != wanted.endpoint->base_url ||
       present.endpoint->timeout_ms != wanted.endpoint->timeout_ms)) {
    COFFER_TRY_VOID(flows::set_connector_endpoint(
        flows(), id, {wanted.endpoint->base_url, wanted.endpoint->timeout_ms, false}));
  }
  if (present.status != wanted.status) {
    COFFER_TRY_VOID(flows::set_connector_status(flows(), id, wanted.status));
  }
  return Record{{"id", id}};
}

}  // namespace coffer::cli
