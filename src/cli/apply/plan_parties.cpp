// Objects of an association: applications, fees, wallets and their funding, beneficiaries,
// webhooks.
#include <algorithm>

#include "api/json/fields.h"
#include "api/ledger/wallets.h"
#include "api/parties/bodies.h"
#include "api/webhooks/webhooks.h"
#include "base/text/join.h"
#include "cli/apply/plan.h"
#include "flows/identity/tenancy_changes.h"
#include "flows/ledger/wallet_changes.h"
#include "flows/payments/limits.h"
#include "flows/webhooks/webhook_changes.h"
#include "store/ledger/journal.h"

namespace coffer::cli {
namespace {

/// Shown in place of personal data, which is never printed.
constexpr std::string_view kChanged = "changed";

std::vector<AssetCode> read_trustlines(api::Fields& fields) {
  std::vector<AssetCode> out;
  const auto* list = fields.array("trustlines", api::optional);
  if (list == nullptr) return out;
  for (const http::JsonValue& item : *list) {
    const auto code = item.string() == nullptr ? std::nullopt : AssetCode::parse(*item.string());
    if (code) out.push_back(*code);
    if (!code) {
      fields.add_error(Slug::malformed_request, "trustlines", "must be a list of asset codes");
    }
  }
  return out;
}

std::string shown_types(EventTypeSet types) {
  return join(types.types(), ",", [](EventType type) { return name(type); });
}

bool same_destinations(const std::vector<store::DestinationRow>& present,
                       const std::vector<Destination>& wanted) {
  return std::equal(
      present.begin(), present.end(), wanted.begin(), wanted.end(),
      [](const store::DestinationRow& row, const Destination& one) { return row.detail == one; });
}

/// The same rules as for funding the wallet.
void check_funding(api::Fields& fields, const Asset& asset, Amount amount, bool held) {
  if (truncate_to(amount, asset.decimals) != amount) {
    fields.add_error(Slug::amount_precision, "amount",
                     "has too many decimal places: " + asset.code.value() + " has " +
                         std::to_string(asset.decimals));
  }
  if (!held) {
    fields.add_error(Slug::trustline_missing, "assetCode",
                     "must be an asset for which the wallet has a trustline");
  }
}

/// The object with the members of `declared` in place of its own, as a PATCH of the API changes it.
Result<flows::BeneficiaryChange> merged(const flows::Context& flows,
                                        const flows::BeneficiaryState& present,
                                        const http::JsonValue& declared) {
  COFFER_TRY(auto target, http::parse_json(api::writable_json(present.beneficiary.detail).dump()));
  ValidationErrors errors;
  auto change =
      api::read_beneficiary(api::merge_patch(std::move(target), declared),
                            flows::beneficiary_rules(flows), errors, present.destinations);
  COFFER_TRY_VOID(errors.check());
  const http::JsonValue* destinations = declared.find("paymentDestinations");
  if (destinations != nullptr && destinations->is_null()) change.destinations.emplace();
  return change;
}

/// Adds an error if another webhook has one of the types; otherwise, the webhook has them.
void take_types(api::Fields& fields, std::vector<std::pair<std::string, EventTypeSet>>& owners,
                const std::string& url, EventTypeSet types) {
  const auto is_own = [&](const auto& webhook) { return webhook.first == url; };
  for (const auto& webhook : owners) {
    if (is_own(webhook)) continue;
    for (const EventType type : types.types()) {
      if (!webhook.second.contains(type)) continue;
      fields.add_error(Slug::webhook_event_type_taken, "eventTypes",
                       std::string(name(type)) + " is delivered to " + webhook.first);
    }
  }
  std::erase_if(owners, is_own);
  owners.emplace_back(url, types);
}

}  // namespace

void ApplyPlan::plan_application(api::Fields& fields, ApplyStep& step) {
  flows::NewApplication wanted;
  wanted.name = fields.text("name", api::required).value_or("");
  wanted.environment = environment_;
  if (const auto text = fields.text("scopes", api::optional)) {
    const auto scopes = ScopeSet::parse(*text);
    if (scopes) wanted.scopes = *scopes;
    if (!scopes) {
      fields.add_error(Slug::malformed_request, "scopes",
                       "must be names of scopes separated by spaces");
    }
  }
  if (!names_.declare(fields, "name", step, wanted.name)) return;
  const auto present = applications_.find(wanted.name);
  step.creates = present == applications_.end();
  if (!step.creates) {
    if (fields.find("scopes") == nullptr) return;
    differs(step, "scopes", present->second.scopes.to_string(), wanted.scopes.to_string());
    step.carry_out = [this, wanted, id = present->second.id]() -> Result<Record> {
      COFFER_TRY(const auto row, flows::change_scopes(flows_, id, wanted.scopes));
      return Record{{"id", row.id}};
    };
    return;
  }
  step.carry_out = [this, wanted]() mutable -> Result<Record> {
    wanted.association = tenant_->association;
    COFFER_TRY(const auto made, flows::register_application(flows_, wanted));
    applications_.emplace(wanted.name, made.application);
    return Record{{"id", made.application.id},
                  {"clientId", made.secrets.client_id},
                  {"clientSecret", made.secrets.client_secret},
                  {"apiKey", made.secrets.api_key},
                  {"connectSecret", made.secrets.connect_secret},
                  {"signInSecret", made.secrets.sign_in_secret},
                  {"publicKey", made.secrets.public_key},
                  {"secretSeed", made.secrets.secret_seed}};
  };
}

void ApplyPlan::plan_fee(api::Fields& fields, ApplyStep& step) {
  const std::string connector = fields.text("connector", api::required).value_or("");
  const std::string word = fields.text("transactionType", api::required).value_or("");
  const auto type = parse_term_in_any_case<TransactionType>(word);
  if (!word.empty() && !type) {
    fields.add_error(Slug::malformed_request, "transactionType", "must be C2C, C2B, B2C or B2B");
  }
  const FeeChange change = read_members<FeeRule>(fields);
  const auto found = connectors_.find(connector);
  names_.refers(fields, "connector", "connector", connector, found != connectors_.end());
  if (!names_.declare(fields, "connector", step, connector + ", " + word)) return;
  const auto planned = planned_terms_.find(connector);
  const ConnectorTerms& terms =
      planned != planned_terms_.end() ? planned->second : found->second.terms;
  if (terms.direction != Direction::off_ramp) {
    fields.add_error(Slug::validation_failed, "connector",
                     "is an on-ramp connector, which has one fee for all");
  }
  std::optional<FeeRule> present;
  if (found != connectors_.end() && tenant_) {
    const auto read = flows_.read([&](store::Connection& db) {
      return store::find_fee(db, tenant_->association, found->second.terms.key, *type);
    });
    if (read) present = *read;
  }
  FeeRule wanted = present.value_or(FeeRule());
  change.apply_to(wanted);
  ValidationErrors of_fee;
  check_fee(terms, wanted, of_fee);
  if (!of_fee.empty()) {
    const Problem problem = of_fee.problem();
    fields.add_error(problem.slug, "feeFixed", problem.fields.front().message);
  }
  step.creates = !present;
  if (present) compare_members(step, *present, wanted);
  step.carry_out = [this, connector, change, at = *type]() -> Result<Record> {
    COFFER_TRY_VOID(flows::set_fee(flows_, tenant_->association, connectors_.at(connector).terms.id,
                                   at, change));
    return Record{};
  };
}

void ApplyPlan::plan_wallet(api::Fields& fields, ApplyStep& step) {
  const flows::NewWallet wanted = api::read_new_wallet(fields, flows_.clock.now());
  std::vector<AssetCode> trustlines = read_trustlines(fields);
  asset(fields, "assetCode", wanted.asset);
  for (const AssetCode& code : trustlines) asset(fields, "trustlines", code);
  if (!names_.declare(fields, "walletName", step, wanted.name)) return;
  std::vector<AssetCode>& planned = planned_trustlines_[wanted.name];
  planned = trustlines;
  planned.push_back(wanted.asset);
  const auto present = wallets_.find(wanted.name);
  step.creates = present == wallets_.end();
  if (!step.creates) {
    const store::WalletRow& row = present->second;
    fixed(fields, "assetCode", row.asset_code.value(), wanted.asset.value());
    if (fields.find("ownAccount") != nullptr) {
      fixed(fields, "ownAccount", row.own_account ? "true" : "false",
            wanted.own_account ? "true" : "false");
    }
    if (wanted.metadata && row.metadata != wanted.metadata) {
      step.differences.push_back("metadata: " + std::string(kChanged));
    }
    without_present(row, trustlines);
    for (const AssetCode& code : trustlines) {
      step.differences.push_back("trustlines: + " + code.value());
    }
  }
  step.carry_out = [this, wanted, trustlines, creates = step.creates]() -> Result<Record> {
    if (creates) {
      COFFER_TRY(auto made, flows::register_wallet(flows_, *tenant_, wanted));
      wallets_.emplace(wanted.name, std::move(made));
    }
    store::WalletRow& row = wallets_.at(wanted.name);
    if (!creates && wanted.metadata && row.metadata != wanted.metadata) {
      COFFER_TRY(row,
                 flows::update_wallet(flows_, *tenant_, row.id, {.metadata = wanted.metadata}));
    }
    for (const AssetCode& code : trustlines) {
      COFFER_TRY_VOID(flows::add_trustline(flows_, *tenant_, row.id, code));
    }
    return Record{{"id", row.id}};
  };
}

void ApplyPlan::plan_limit(api::Fields& fields, ApplyStep& step) {
  const auto code = fields.asset_code("assetCode", api::required).value_or(AssetCode());
  const auto application = fields.text("application", api::optional);
  const auto wallet = fields.text("walletName", api::optional);
  const PaymentLimitsChange change = read_members<PaymentLimits>(fields);
  const auto of_application = applications_.find(application.value_or(""));
  const auto of_wallet = wallets_.find(wallet.value_or(""));
  asset(fields, "assetCode", code);
  if (application && wallet) {
    fields.add_error(Slug::validation_failed, "walletName",
                     "must not be given together with application");
  }
  if (application) {
    names_.refers(fields, "application", "application", *application,
                  of_application != applications_.end());
  }
  if (wallet) names_.refers(fields, "walletName", "wallet", *wallet, of_wallet != wallets_.end());
  const std::string holder = application ? "application " + *application
                             : wallet    ? "wallet " + *wallet
                                         : "association";
  if (!names_.declare(fields, "assetCode", step, code.value() + ", " + holder)) return;
  const auto owner = [this, application, wallet] {
    flows::LimitOwner out{.environment = environment_};
    if (application) {
      out.application = applications_.at(*application).id;
    } else if (wallet) {
      out.wallet = wallets_.at(*wallet).id;
    } else {
      out.association = tenant_->association;
    }
    return out;
  };
  const bool exists = tenant_ && (!application || of_application != applications_.end()) &&
                      (!wallet || of_wallet != wallets_.end());
  std::optional<store::LimitRow> present;
  if (exists) {
    const auto read =
        flows_.read([&](store::Connection& db) { return flows::limit_of(db, owner(), code); });
    if (read) present = *read;  // a new asset has no limit
  }
  step.creates = !present;
  PaymentLimits wanted = present ? present->limits : PaymentLimits();
  change.apply_to(wanted);
  if (present) compare_members(step, present->limits, wanted);
  step.carry_out = [this, owner, code, change]() -> Result<Record> {
    COFFER_TRY_VOID(flows::set_limit(flows_, owner(), code, change));
    return Record{};
  };
}

bool ApplyPlan::holds(const std::string& wallet, const AssetCode& asset) {
  std::vector<AssetCode> missing{asset};
  const auto present = wallets_.find(wallet);
  if (present != wallets_.end()) without_present(present->second, missing);
  const std::vector<AssetCode>& planned = planned_trustlines_[wallet];
  return missing.empty() || std::ranges::find(planned, asset) != planned.end();
}

void ApplyPlan::without_present(const store::WalletRow& wallet, std::vector<AssetCode>& codes) {
  const auto present =
      flows_.read([&](store::Connection& db) { return store::balances_of(db, wallet.key); });
  if (!present) return;
  std::erase_if(codes, [&](const AssetCode& code) {
    return std::any_of(present->begin(), present->end(),
                       [&](const auto& balance) { return balance.asset.code == code; });
  });
}

void ApplyPlan::plan_funding(api::Fields& fields, ApplyStep& step) {
  const std::string wallet = fields.text("walletName", api::required).value_or("");
  flows::WalletFunding wanted;
  wanted.asset = fields.asset_code("assetCode", api::required).value_or(AssetCode());
  wanted.amount = fields.amount("amount", api::required).value_or(Amount());
  const std::string id = fields.text("transactionId", api::required).value_or("");
  if (!id.empty() && !is_transaction_id(id)) {
    fields.add_error(Slug::malformed_request, "transactionId",
                     "must have 1 to 64 characters, each a letter, a digit or one of . _ : -");
  }
  wanted.transaction_id = id;
  wanted.description = fields.text("description", api::optional, kDescriptionMax);
  if (environment_ == Environment::production) {
    fields.add_error(Slug::validation_failed, "transactionId",
                     "is only permitted in the sandbox; use coffer wallet fund");
  }
  const auto found = wallets_.find(wallet);
  names_.refers(fields, "walletName", "wallet", wallet, found != wallets_.end());
  const auto known = asset(fields, "assetCode", wanted.asset);
  if (!names_.declare(fields, "transactionId", step, id)) return;
  const auto first =
      flows_.read([&](store::Connection& db) { return store::find_funding(db, id); });
  if (!first || !known) return;
  check_funding(fields, *known, wanted.amount, holds(wallet, wanted.asset));
  step.creates = !*first;
  const bool same =
      step.creates ||
      (found != wallets_.end() && **first == store::Funding{found->second.key, known->key,
                                                            wanted.amount, id, wanted.description});
  if (!same) {
    fields.add_error(Slug::transaction_id_conflict, "transactionId",
                     "was already used for a different funding");
  }
  step.carry_out = [this, wallet, wanted]() -> Result<Record> {
    COFFER_TRY_VOID(flows::fund_wallet(flows_, *tenant_, wallets_.at(wallet).id, wanted));
    return Record{};
  };
}

void ApplyPlan::plan_beneficiary(api::Fields& fields, ApplyStep& step) {
  for (const char* member :
       {"individual", "business", "addresses", "tags", "paymentDestinations"}) {
    fields.find(member);  // read below; known to the check of unknown members
    fields.present(member);
  }
  const http::JsonValue* given = fields.find("clientReference");
  const auto present = given != nullptr && given->string() != nullptr
                           ? beneficiaries_.find(*given->string())
                           : beneficiaries_.end();
  step.creates = present == beneficiaries_.end();
  flows::BeneficiaryState now;
  if (!step.creates) {
    now.beneficiary = present->second;
    const auto destinations = flows_.read(
        [&](store::Connection& db) { return store::destinations_of(db, now.beneficiary.key); });
    if (!destinations) return;
    now.destinations = *destinations;
  }
  flows::BeneficiaryChange wanted;
  if (step.creates) {
    wanted = api::read_beneficiary(*item_, flows::beneficiary_rules(flows_), fields.errors());
  } else if (auto change = merged(flows_, now, *item_)) {
    wanted = *std::move(change);
  } else {
    for (const FieldError& error : change.error().fields) {
      fields.errors().add(change.error().slug, fields.path(error.field), error.message);
    }
  }
  if (given != nullptr && given->string() == nullptr) return;  // an error of the beneficiary
  const auto reference = fields.text("clientReference", api::required);
  if (!reference || !names_.declare(fields, "clientReference", step, *reference)) return;
  if (step.creates) {
    step.carry_out = [this, wanted]() -> Result<Record> {
      COFFER_TRY(const auto made,
                 flows::create_beneficiary(
                     flows_, *tenant_,
                     {wanted.detail, wanted.destinations.value_or(std::vector<Destination>())}));
      return Record{{"id", made.beneficiary.id}};
    };
    return;
  }
  if (!(now.beneficiary.detail == wanted.detail)) {
    step.differences.push_back("details: " + std::string(kChanged));
  }
  const bool keeps =
      !wanted.destinations || same_destinations(now.destinations, *wanted.destinations);
  if (!keeps) step.differences.push_back("paymentDestinations: " + std::string(kChanged));
  step.carry_out = [this, item = *item_, id = now.beneficiary.id, keeps]() -> Result<Record> {
    COFFER_TRY(const auto changed,
               flows::revise_beneficiary(
                   flows_, *tenant_, id,
                   [&](const flows::BeneficiaryState& at) -> Result<flows::BeneficiaryChange> {
                     COFFER_TRY(auto change, merged(flows_, at, item));
                     if (keeps) change.destinations.reset();  // their IDs stay
                     return change;
                   }));
    return Record{{"id", changed.beneficiary.id}};
  };
}

void ApplyPlan::plan_webhook(api::Fields& fields, ApplyStep& step) {
  const std::string application = fields.text("application", api::required).value_or("");
  flows::NewWebhook wanted = api::read_new_webhook(fields, api::optional, 0);
  const auto owner = applications_.find(application);
  names_.refers(fields, "application", "application", application, owner != applications_.end());
  if (!names_.declare(fields, "url", step, wanted.url)) return;
  const auto target = flows_.webhooks->sender.check_target(wanted.url, environment_);
  if (!target) fields.add_error(Slug::webhook_target_refused, "url", target.error().detail);
  const auto present = webhooks_.find(wanted.url);
  step.creates = present == webhooks_.end();
  flows::WebhookUpdate update;
  if (fields.find("eventTypes") != nullptr) update.types = wanted.types;
  if (fields.present("description")) update.description = wanted.description;
  if (!step.creates) wanted.types = update.types.value_or(present->second.types);
  take_types(fields, types_, wanted.url, wanted.types);
  if (step.creates) {
    step.carry_out = [this, application, wanted]() mutable -> Result<Record> {
      wanted.application = applications_.at(application).key;
      COFFER_TRY(const auto made, flows::register_webhook(flows_, *tenant_, wanted));
      return Record{{"id", made.webhook.id}, {"signingSecret", made.secret}};
    };
    return;
  }
  const store::WebhookRow& row = present->second;
  if (owner == applications_.end() || owner->second.id != row.application_id) {
    fixed(fields, "application", row.application_id.to_string(), application);
  }
  differs(step, "eventTypes", shown_types(row.types), shown_types(wanted.types));
  const auto description = update.description.value_or(row.description);
  differs(step, "description", row.description.value_or(""), description.value_or(""));
  step.carry_out = [this, update, id = row.id]() -> Result<Record> {
    COFFER_TRY_VOID(flows::update_webhook(flows_, {*tenant_, id, std::nullopt}, update));
    return Record{{"id", id}};
  };
}

}  // namespace coffer::cli
