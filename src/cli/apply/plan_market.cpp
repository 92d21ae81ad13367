// Objects of the operator: assets, rates and connectors.

#include "auth/strkey.h"
#include "base/text/ascii.h"
#include "cli/apply/plan.h"
#include "domain/country.h"
#include "domain/payments/limit.h"
#include "flows/ledger/market_changes.h"

namespace coffer::cli {
namespace {

/// A word of a vocabulary; nullopt if it is absent.
template <class Enum>
std::optional<Enum> read_term(api::Fields& fields, std::string_view member) {
  const auto text = fields.text(member, api::optional);
  if (!text) return std::nullopt;
  if (const auto value = parse_term_in_any_case<Enum>(*text)) return value;
  return fields.add_error(Slug::malformed_request, member,
                          "does not take the value \"" + *text + '"');
}

std::optional<TransactionTypes> read_types(api::Fields& fields, std::string_view member) {
  const auto* list = fields.array(member, api::optional);
  if (list == nullptr) return std::nullopt;
  TransactionTypes types = 0;
  for (const http::JsonValue& item : *list) {
    const auto type = item.string() == nullptr
                          ? std::nullopt
                          : parse_term_in_any_case<TransactionType>(*item.string());
    if (type) types |= 1U << static_cast<unsigned>(*type);
    if (!type) {
      fields.add_error(Slug::malformed_request, member, "must be a list of C2C, C2B, B2C and B2B");
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

/// `none` if it is empty.
template <class T>
std::string text_of(const T& member) {
  const PlainValue value = shown_member(member, Amount::kScale);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? std::to_string(*number) : "none";
}

/// Calls `visit(row)` for each member that an object of the file can contain. The environment is
/// that of the file.
template <class Noun, class Visit>
void each_declared(const Visit& visit) {
  each_member<Noun>([&]<auto... kPath>(const Member<kPath...>& row) {
    if constexpr (!std::is_same_v<MemberType<kPath...>, Environment>) {
      if (row.is_declared()) visit(row);
    }
  });
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
  if (!names_.declare(fields, "code", step, code.value())) return;
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
    COFFER_TRY_VOID(flows::register_asset(flows_, wanted));
    return Record{};
  };
}

void ApplyPlan::plan_rate(api::Fields& fields, ApplyStep& step) {
  const auto sell = fields.asset_code("sellAssetCode", api::required).value_or(AssetCode());
  const auto buy = fields.asset_code("buyAssetCode", api::required).value_or(AssetCode());
  const auto rate = read_rate(fields, "rate", api::required);
  asset(fields, "sellAssetCode", sell);
  asset(fields, "buyAssetCode", buy);
  if (!names_.declare(fields, "sellAssetCode", step, sell.value() + "/" + buy.value())) return;
  if (sell == buy) {
    fields.add_error(Slug::validation_failed, "buyAssetCode", "must differ from sellAssetCode");
  }
  const auto present = rates_.find(step.name);
  step.creates = present == rates_.end();
  if (!step.creates) differs(step, "rate", present->second.to_string(), rate->to_string());
  step.carry_out = [this, sell, buy, wanted = *rate]() -> Result<Record> {
    COFFER_TRY_VOID(flows::set_rate(flows_, environment_, sell, buy, wanted));
    return Record{};
  };
}

std::optional<Asset> ApplyPlan::asset(api::Fields& fields, std::string_view field,
                                      const AssetCode& code) {
  const auto found = assets_.find(code.value());
  if (found != assets_.end()) return found->second;
  names_.refers(fields, field, "asset", code.value(), false);
  return std::nullopt;
}

template <class T>
std::optional<T> ApplyPlan::read_value(api::Fields& fields, const MemberFact& row) {
  const bool required = row.is(MemberFlag::required) && !row.is(MemberFlag::changes);
  const api::Presence presence = required ? api::required : api::optional;
  if constexpr (std::is_same_v<T, std::string>) {
    const auto text = fields.text(row.name, presence);
    return text && row.is(MemberFlag::upper_case) ? std::optional(ascii::to_upper(*text)) : text;
  }
  if constexpr (std::is_same_v<T, Asset>) {
    const auto code = fields.asset_code(row.name, presence);
    return code ? asset(fields, row.name, *code) : std::nullopt;
  }
  if constexpr (std::is_same_v<T, Amount>) {
    return row.is(MemberFlag::may_be_zero) ? read_fixed_fee(fields, row.name)
                                           : fields.amount(row.name, presence);
  }
  if constexpr (Vocabulary<T>) return read_term<T>(fields, row.name);
  if constexpr (std::is_same_v<T, bool>) return fields.boolean(row.name, presence);
  if constexpr (std::is_same_v<T, Rate>) return read_rate(fields, row.name, presence);
  if constexpr (std::is_same_v<T, TransactionTypes>) return read_types(fields, row.name);
  if constexpr (std::is_signed_v<T>) return fields.integer(row.name, presence, 0, row.max);
  return std::nullopt;
}

template <class Noun>
Change<Noun> ApplyPlan::read_members(api::Fields& fields) {
  Change<Noun> out;
  each_declared<Noun>([&]<auto... kPath>(const Member<kPath...>& row) {
    using Type = MemberType<kPath...>;
    auto value = read_value<MemberValue<kPath...>>(fields, row);
    const bool removable = row.is(MemberFlag::may_be_zero) || !row.option.removal.empty();
    if ((removable && fields.present(row.name)) || value) {
      out.template set<kPath...>(value ? Type(*std::move(value)) : Type());
    }
  });
  return out;
}
template FeeChange ApplyPlan::read_members<FeeRule>(api::Fields& fields);
template PaymentLimitsChange ApplyPlan::read_members<PaymentLimits>(api::Fields& fields);

template <class Noun>
void compare_members(ApplyStep& step, const Noun& present, const Noun& wanted) {
  each_declared<Noun>([&](const auto& row) {
    differs(step, row.name, text_of(row.of(present)), text_of(row.of(wanted)));
  });
}
template void compare_members(ApplyStep& step, const FeeRule& present, const FeeRule& wanted);
template void compare_members(ApplyStep& step, const PaymentLimits& present,
                              const PaymentLimits& wanted);

void ApplyPlan::plan_connector(api::Fields& fields, ApplyStep& step) {
  ConnectorChange declared = read_members<ConnectorTerms>(fields);
  declared.set<&ConnectorTerms::environment>(environment_);
  const std::string name = declared.values().name;
  if (declared.values().provider.empty()) declared.set<&ConnectorTerms::provider>(name);
  const flows::EndpointChange endpoint = read_endpoint(fields);
  const auto present = connectors_.find(name);
  step.creates = present == connectors_.end();
  each_declared<ConnectorTerms>([&](const MemberFact& row) {
    if (step.creates && row.is(MemberFlag::required) && row.is(MemberFlag::changes) &&
        fields.find(row.name) == nullptr) {
      fields.add_error(Slug::malformed_request, row.name, "is required");
    }
  });
  if (!names_.declare(fields, "name", step, name)) return;
  if (step.creates) {
    plan_new_connector(declared, endpoint, fields, step);
  } else {
    plan_connector_change(present->second.terms, declared, endpoint, fields, step);
  }
}

void ApplyPlan::plan_new_connector(ConnectorChange declared, const flows::EndpointChange& endpoint,
                                   api::Fields& fields, ApplyStep& step) {
  ConnectorTerms wanted = declared.values();
  if (endpoint.base_url) {
    wanted.endpoint.emplace();
    wanted.endpoint->base_url = *endpoint.base_url;
    wanted.endpoint->timeout_ms = endpoint.timeout_ms.value_or(wanted.endpoint->timeout_ms);
  }
  const Currency* currency = find_currency(wanted.currency);
  if (!declared.has<&ConnectorTerms::currency_decimals>() && currency != nullptr) {
    if (currency->minor_units) {
      declared.set<&ConnectorTerms::currency_decimals>(*currency->minor_units);
    } else {
      fields.add_error(Slug::malformed_request, "currencyDecimals",
                       "is required: the currency has no minor unit in ISO 4217");
    }
  }
  const ConnectorTerms fixed = wanted;
  change_terms(wanted, declared, fields.errors());
  check_terms(wanted, fields.errors());
  planned_terms_.insert_or_assign(wanted.name, wanted);
  step.carry_out = [this, fixed, declared]() -> Result<Record> {
    COFFER_TRY(const auto made, flows::register_connector(flows_, {fixed, {}, declared}));
    connectors_.emplace(fixed.name, made.connector);
    Record record{{"id", made.connector.terms.id}};
    if (!made.secret.empty()) record.emplace_back("secret", made.secret);
    return record;
  };
}

void ApplyPlan::plan_connector_change(const ConnectorTerms& present,
                                      const ConnectorChange& declared,
                                      const flows::EndpointChange& endpoint, api::Fields& fields,
                                      ApplyStep& step) {
  each_declared<ConnectorTerms>([&](const auto& row) {
    if (row.is(MemberFlag::changes) || fields.find(row.name) == nullptr) return;
    fixed(fields, row.name, text_of(row.of(present)), text_of(row.of(declared.values())));
  });
  ConnectorTerms wanted = present;
  change_terms(wanted, declared, fields.errors());
  if (endpoint.base_url && !wanted.endpoint) wanted.endpoint.emplace();
  if (wanted.endpoint) {
    wanted.endpoint->base_url = endpoint.base_url.value_or(wanted.endpoint->base_url);
    wanted.endpoint->timeout_ms = endpoint.timeout_ms.value_or(wanted.endpoint->timeout_ms);
  }
  check_endpoint(wanted, fields.errors());
  planned_terms_.insert_or_assign(wanted.name, wanted);
  compare_members(step, present, wanted);
  const bool terms_change = !step.differences.empty();
  if (present.endpoint && wanted.endpoint) {
    differs(step, "baseUrl", present.endpoint->base_url, wanted.endpoint->base_url);
    differs(step, "timeoutMs", std::to_string(present.endpoint->timeout_ms),
            std::to_string(wanted.endpoint->timeout_ms));
  }
  step.carry_out = [this, declared, endpoint, terms_change, id = present.id]() -> Result<Record> {
    if (terms_change) COFFER_TRY_VOID(flows::change_connector(flows_, id, declared));
    if (endpoint.base_url || endpoint.timeout_ms) {
      COFFER_TRY_VOID(flows::set_connector_endpoint(flows_, id, endpoint));
    }
    return Record{{"id", id}};
  };
}

}  // namespace coffer::cli
