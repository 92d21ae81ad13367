// Objects of the operator: assets, rates and connectors.

#include "app/app.h"
#include "auth/strkey.h"
#include "base/text/ascii.h"
#include "cli/apply/plan.h"
#include "domain/country.h"
#include "flows/ledger/market_changes.h"
#include "flows/providers/connector_changes.h"

namespace coffer::cli {
namespace {

/// A word of a vocabulary; nullopt if it is absent.
template <class Enum>
std::optional<Enum> read_term(api::Fields& fields, std::string_view member) {
  const auto text = fields.text(member, api::optional);
  if (!text) return std::nullopt;
  const auto value = parse_term_in_any_case<Enum>(*text);
  if (!value) {
    fields.add_error(Slug::malformed_request, member, "does not take the value \"" + *text + '"');
  }
  return value;
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

flows::EndpointChange read_endpoint(api::Fields& fields) {
  constexpr int kTimeoutMsMax = 60'000;
  flows::EndpointChange out;
  out.base_url = fields.text("baseUrl", api::optional, 2'048);
  const auto timeout = fields.integer("timeoutMs", api::optional, 1, kTimeoutMsMax);
  if (timeout) out.timeout_ms = static_cast<int>(*timeout);
  return out;
}

std::string shown_rate(const std::optional<Rate>& rate) {
  return rate ? rate->to_string() : "none";
}

std::string shown_tolerance(const std::optional<int>& tolerance) {
  return tolerance ? std::to_string(*tolerance) + " bp" : "none";
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
          {"assetCode", terms.asset.code.value()},
          {"transactionTypes", std::to_string(terms.types)},
          {"issuesReferences", terms.issues_references ? "true" : "false"}};
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
    if (fields.find("decimals") != nullptr) {
      fixed(fields, "decimals", std::to_string(present->second.decimals),
            std::to_string(wanted.decimals));
    }
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
  const auto rate = read_rate(fields, "rate", api::required);
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
  terms.driver = read_term<DriverKind>(fields, "driver").value_or(terms.driver);
  terms.flow = read_term<ConnectorFlow>(fields, "flow").value_or(terms.flow);
  terms.direction = read_term<Direction>(fields, "direction").value_or(terms.direction);
  terms.method = read_term<PayMethod>(fields, "method").value_or(terms.method);
  terms.country = fields.text("countryIsoCode2", api::required).value_or("");
  terms.currency = fields.text("currencyIsoCode3", api::required).value_or("");
  const auto code = fields.asset_code("assetCode", api::required);
  if (code) terms.asset = asset(fields, "assetCode", *code).value_or(Asset());
  terms.types = read_types(fields);
  terms.issues_references = fields.boolean("issuesReferences", api::optional).value_or(false);
  return terms;
}

ConnectorChange ApplyPlan::read_change(api::Fields& fields) {
  constexpr int kBasisPointsMax = 10'000;
  ConnectorChange change;
  change.rate = read_rate(fields, "rate", api::optional);
  const flows::FeeChange fee = read_fee(fields);
  change.fee_fixed = fee.fixed;
  change.fee_basis_points = fee.basis_points;
  const auto tolerance = fields.integer("toleranceBasisPoints", api::optional, 0, kBasisPointsMax);
  if (fields.present("toleranceBasisPoints")) {
    change.tolerance_bps = tolerance ? std::optional(static_cast<int>(*tolerance)) : std::nullopt;
  }
  change.min_amount = fields.amount("minAmount", api::optional);
  change.max_amount = fields.amount("maxAmount", api::optional);
  const auto day = fields.amount("dayLimit", api::optional);
  if (fields.present("dayLimit")) change.day_limit = day;
  const auto month = fields.amount("monthLimit", api::optional);
  if (fields.present("monthLimit")) change.month_limit = month;
  const auto decimals = fields.integer("currencyDecimals", api::optional, 0, Amount::kScale);
  if (decimals) change.currency_decimals = static_cast<int>(*decimals);
  change.status = read_term<ConnectorStatus>(fields, "status");
  return change;
}

void ApplyPlan::plan_connector(api::Fields& fields, ApplyStep& step) {
  ConnectorTerms wanted = read_terms(fields);
  ConnectorChange change = read_change(fields);
  const flows::EndpointChange endpoint = read_endpoint(fields);
  const auto present = connectors_.find(wanted.name);
  step.creates = present == connectors_.end();
  for (const char* member : {"minAmount", "maxAmount"}) {
    if (step.creates && fields.find(member) == nullptr) {
      fields.add_error(Slug::malformed_request, member, "is required");
    }
  }
  if (!declare(fields, "name", step, wanted.name)) return;
  if (step.creates) {
    plan_new_connector(wanted, change, endpoint, fields, step);
  } else {
    plan_connector_change(present->second.terms, wanted, change, endpoint, fields, step);
  }
}

void ApplyPlan::plan_new_connector(ConnectorTerms wanted, ConnectorChange change,
                                   const flows::EndpointChange& endpoint, api::Fields& fields,
                                   ApplyStep& step) {
  if (endpoint.base_url) {
    wanted.endpoint.emplace();
    wanted.endpoint->base_url = *endpoint.base_url;
    wanted.endpoint->timeout_ms = endpoint.timeout_ms.value_or(wanted.endpoint->timeout_ms);
  }
  const Currency* currency = find_currency(wanted.currency);
  if (!change.currency_decimals && currency != nullptr) {
    change.currency_decimals = currency->minor_units;
    if (!currency->minor_units) {
      fields.add_error(Slug::malformed_request, "currencyDecimals",
                       "is required: the currency has no minor unit in ISO 4217");
    }
  }
  const ConnectorTerms fixed = wanted;
  change_terms(wanted, change, fields.errors());
  check_terms(wanted, fields.errors());
  planned_terms_.insert_or_assign(wanted.name, wanted);
  step.carry_out = [this, fixed, change]() -> Result<Record> {
    COFFER_TRY(const auto made, flows::register_connector(flows(), {fixed, {}, change}));
    connectors_.emplace(fixed.name, made.connector);
    Record record{{"id", made.connector.terms.id}};
    if (!made.secret.empty()) record.emplace_back("secret", made.secret);
    return record;
  };
}

void ApplyPlan::plan_connector_change(const ConnectorTerms& present, const ConnectorTerms& declared,
                                      const ConnectorChange& change,
                                      const flows::EndpointChange& endpoint, api::Fields& fields,
                                      ApplyStep& step) {
  const auto before = fixed_terms(present);
  const auto after = fixed_terms(declared);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (fields.find(before[i].first) == nullptr) continue;
    fixed(fields, before[i].first, before[i].second, after[i].second);
  }
  ConnectorTerms wanted = present;
  change_terms(wanted, change, fields.errors());
  if (endpoint.base_url && !wanted.endpoint) wanted.endpoint.emplace();
  if (wanted.endpoint) {
    wanted.endpoint->base_url = endpoint.base_url.value_or(wanted.endpoint->base_url);
    wanted.endpoint->timeout_ms = endpoint.timeout_ms.value_or(wanted.endpoint->timeout_ms);
  }
  check_endpoint(wanted, fields.errors());
  planned_terms_.insert_or_assign(wanted.name, wanted);
  differs(step, "rate", shown_rate(present.rate), shown_rate(wanted.rate));
  differs(step, "fee", shown_rule(present.fee), shown_rule(wanted.fee));
  differs(step, "tolerance", shown_tolerance(present.tolerance_bps),
          shown_tolerance(wanted.tolerance_bps));
  differs(step, "minAmount", shown_limit(present.min_amount), shown_limit(wanted.min_amount));
  differs(step, "maxAmount", shown_limit(present.max_amount), shown_limit(wanted.max_amount));
  differs(step, "dayLimit", shown_limit(present.day_limit), shown_limit(wanted.day_limit));
  differs(step, "monthLimit", shown_limit(present.month_limit), shown_limit(wanted.month_limit));
  differs(step, "currencyDecimals", std::to_string(present.currency_decimals),
          std::to_string(wanted.currency_decimals));
  differs(step, "status", std::string(name(present.status)), std::string(name(wanted.status)));
  const bool terms_change = !step.differences.empty();
  if (present.endpoint && wanted.endpoint) {
    differs(step, "baseUrl", present.endpoint->base_url, wanted.endpoint->base_url);
    differs(step, "timeoutMs", std::to_string(present.endpoint->timeout_ms),
            std::to_string(wanted.endpoint->timeout_ms));
  }
  step.carry_out = [this, change, endpoint, terms_change, id = present.id]() -> Result<Record> {
    if (terms_change) COFFER_TRY_VOID(flows::change_connector(flows(), id, change));
    if (endpoint.base_url || endpoint.timeout_ms) {
      COFFER_TRY_VOID(flows::set_connector_endpoint(flows(), id, endpoint));
    }
    return Record{{"id", id}};
  };
}

}  // namespace coffer::cli
