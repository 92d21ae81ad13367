#include "cli/apply/plan.h"

#include <algorithm>
#include <ranges>
#include <tuple>

#include "cli/apply/json_lines.h"
#include "flows/identity/tenancy_changes.h"
#include "store/ledger/catalog.h"

namespace coffer::cli {
namespace {

constexpr int kPage = 200;

std::string key_of(std::string_view kind, const std::string& name) {
  return std::string(kind) + " " + name;
}

/// Every row of a list in pages, newest first.
template <class Read, class Take>
void each_row(const Read& read, const Take& take) {
  store::PageAt at{.limit = kPage};
  do {
    auto page = read(at);
    for (auto& row : page.rows) take(std::move(row));
    at.key = page.next;
  } while (at.key);
}

/// Every error once, sorted by its line. One of the JSON explains others of the same value.
Problem with_lines(const std::string& text, const std::vector<FieldError>& of_json,
                   Problem problem) {
  std::set<std::tuple<std::size_t, std::string, std::string>> errors;
  const auto add = [&](const FieldError& error) {
    errors.emplace(line_of(text, error.field), error.field, error.message);
  };
  std::ranges::for_each(of_json | std::views::take(ValidationErrors::kShown), add);
  for (const FieldError& error : problem.fields) {
    const auto same = std::ranges::find(of_json, error.field, &FieldError::field);
    if (same == of_json.end()) add(error);
  }
  problem.fields.clear();
  for (const auto& [line, path, message] : errors) {
    problem.fields.push_back({"line " + std::to_string(line) + ": " + path, message});
  }
  if (problem.detail.empty()) problem.detail = "The file has errors. Nothing was changed.";
  return problem;
}

}  // namespace

void fixed(api::Fields& fields, std::string_view member, const std::string& present,
           const std::string& wanted) {
  if (present == wanted) return;
  fields.add_error(Slug::validation_failed, member, "cannot be changed: it is " + present);
}

void differs(ApplyStep& step, std::string_view member, const std::string& present,
             const std::string& wanted) {
  if (present == wanted) return;
  step.differences.push_back(std::string(member) + ": " + present + " -> " + wanted);
}

std::optional<Rate> read_rate(api::Fields& fields, std::string_view member,
                              api::Presence presence) {
  const http::JsonValue* value = fields.find(member);
  if (value == nullptr && presence == api::optional) return std::nullopt;
  const auto text = value == nullptr ? std::nullopt : value->scalar_text();
  if (const auto rate = text ? Rate::parse(*text) : std::nullopt) return rate;
  return fields.add_error(Slug::malformed_request, member,
                          "must be a positive number with at most 9 decimal places");
}

std::optional<Amount> read_fixed_fee(api::Fields& fields, std::string_view member) {
  const http::JsonValue* value = fields.find(member);
  if (value == nullptr) return std::nullopt;
  const ParsedAmount parsed = parse_fee(value->scalar_text().value_or(""), Amount::kScale);
  if (parsed.fault != AmountFault::none) {
    fields.add_error(Slug::malformed_request, member,
                     "must be a decimal with at most 7 decimal places, such as 0.50");
  }
  return parsed.amount;
}

const std::vector<ApplyPlan::Section> ApplyPlan::kSections{
    {"assets", "asset", &ApplyPlan::plan_asset, false},
    {"rates", "rate", &ApplyPlan::plan_rate, false},
    {"connectors", "connector", &ApplyPlan::plan_connector, false},
    {"applications", "application", &ApplyPlan::plan_application, true},
    {"fees", "fee", &ApplyPlan::plan_fee, true},
    {"wallets", "wallet", &ApplyPlan::plan_wallet, true},
    {"limits", "limit", &ApplyPlan::plan_limit, true},
    {"fundings", "funding", &ApplyPlan::plan_funding, true},
    {"beneficiaries", "beneficiary", &ApplyPlan::plan_beneficiary, true},
    {"webhooks", "webhook", &ApplyPlan::plan_webhook, true},
};

Result<void> ApplyPlan::read(const std::string& text) {
  std::vector<FieldError> of_json;
  const auto file = http::parse_json(text, {.subject = "The file", .errors = &of_json});
  if (!file) return unexpected(with_lines(text, of_json, file.error()));
  if (file->object() == nullptr) {
    return unexpected(Slug::malformed_request, "The file must contain a JSON object, not " +
                                                   std::string(file->type_name()) + ".");
  }
  ValidationErrors found;
  COFFER_TRY_VOID(load(*file, found));
  for (const Section& section : kSections) plan_section(section, *file, found);
  if (found.empty() && of_json.empty()) return {};
  Problem problem = found.empty() ? Problem(Slug::malformed_request, {}) : found.problem();
  problem.detail.clear();
  return unexpected(with_lines(text, of_json, std::move(problem)));
}

Result<void> ApplyPlan::load(const http::JsonValue& file, ValidationErrors& errors) {
  api::Fields fields(file, errors);
  const auto environment = fields.text("environment", api::optional);
  if (environment) {
    const auto known = parse_term<Environment>(*environment);
    if (!known) {
      errors.add(Slug::malformed_request, "environment", "must be sandbox or production");
    }
    environment_ = known.value_or(environment_);
  }
  const auto association = fields.text("association", api::optional);
  association_ = association.value_or("");
  bool needed = false;
  for (const Section& section : kSections) {
    const auto* items = fields.array(section.member, api::optional);
    needed = needed || (items != nullptr && section.of_association);
  }
  if (needed && !fields.present("association")) {
    errors.add(Slug::malformed_request, "association", "is required: it owns the other objects");
  }
  fields.reject_unknown();
  return flows_.read([&](store::Connection& db) -> Result<void> {
    load_market(db);
    if (association) load_association(db, errors);
    return {};
  });
}

void ApplyPlan::load_market(store::Connection& db) {
  std::map<std::int64_t, std::string> codes;
  for (Asset& asset : store::list_assets(db)) {
    codes[asset.key] = asset.code.value();
    assets_.emplace(asset.code.value(), asset);
  }
  for (const MarketRate& rate : store::list_rates(db, environment_)) {
    rates_.emplace(codes.at(rate.sell) + "/" + codes.at(rate.buy), rate.rate);
  }
  for (store::ConnectorRow& row : store::list_connectors_of_all(db)) {
    if (row.terms.environment == environment_) keep("connector", connectors_, row.terms.name, row);
  }
}

void ApplyPlan::load_association(store::Connection& db, ValidationErrors& errors) {
  std::optional<AssociationId> id;
  for (const auto& row : store::list_associations(db)) {
    if (row.name != association_) continue;
    if (id) {
      errors.add(Slug::validation_failed, "association", "is the name of several associations");
    }
    id = row.id;
  }
  if (id) {
    tenant_ = store::find_tenant(db, *id, environment_);
    load_tenant(db);
    return;
  }
  ApplyStep step{
      .section = "associations", .kind = "association", .name = association_, .creates = true};
  step.carry_out = [this]() -> Result<Record> {
    COFFER_TRY(const auto row,
               flows::register_association(flows_, association_, AssociationStatus::active));
    COFFER_TRY(tenant_, flows_.read([&](store::Connection& reader) {
      return Result<std::optional<Tenant>>(store::find_tenant(reader, row.id, environment_));
    }));
    return Record{{"id", row.id}};
  };
  steps_.push_back(std::move(step));
}

template <class Row>
void ApplyPlan::keep(std::string_view kind, std::map<std::string, Row>& rows,
                     const std::string& name, const Row& row) {
  if (!rows.emplace(name, row).second) names_.repeat(kind, name);
}

void ApplyPlan::load_tenant(store::Connection& db) {
  for (const store::ApplicationRow& row : store::list_applications(db)) {
    if (row.tenant && row.tenant->key == tenant_->key) {
      keep("application", applications_, row.name, row);
    }
  }
  each_row([&](const store::PageAt& at) { return store::list_wallets(db, *tenant_, {}, at); },
           [&](const store::WalletRow& row) { keep("wallet", wallets_, row.name, row); });
  each_row([&](const store::PageAt& at) { return store::list_beneficiaries(db, *tenant_, {}, at); },
           [&](const store::BeneficiaryRow& row) {
             const auto& reference = row.detail.client_reference;
             if (reference) keep("beneficiary", beneficiaries_, *reference, row);
           });
  each_row(
      [&](const store::PageAt& at) {
        return store::list_webhooks(db, *tenant_, {.active = true}, at);
      },
      [&](const store::WebhookRow& row) {
        keep("webhook", webhooks_, row.url, row);
        types_.emplace_back(row.url, row.types);
      });
}

void ApplyPlan::plan_section(const Section& section, const http::JsonValue& file,
                             ValidationErrors& errors) {
  const http::JsonValue* value = file.find(section.member);
  if (value == nullptr || value->array() == nullptr) return;
  for (std::size_t i = 0; i < value->array()->size(); ++i) {
    // In some messages, the API's parsers write field names without a prefix.
    ValidationErrors of_item;
    item_ = &(*value->array())[i];
    api::Fields fields(*item_, of_item);
    ApplyStep step{.section = section.member, .kind = section.kind};
    (this->*section.plan)(fields, step);
    fields.reject_unknown();
    fields.reject_removals();
    if (of_item.empty()) {
      steps_.push_back(std::move(step));
      continue;
    }
    const Problem problem = of_item.problem();
    for (const FieldError& error : problem.fields) {
      const std::string prefix = std::string(section.member) + "[" + std::to_string(i) + "]";
      errors.add(problem.slug, error.field == "body" ? prefix : prefix + "." + error.field,
                 error.message);
    }
  }
}

void ApplyNames::repeat(std::string_view kind, const std::string& name) {
  ambiguous_.insert(key_of(kind, name));
}

bool ApplyNames::refers(api::Fields& fields, std::string_view field, std::string_view kind,
                        const std::string& name, bool exists) {
  if (name.empty()) return false;  // an error that was already added
  if (ambiguous_.contains(key_of(kind, name))) {
    fields.add_error(Slug::validation_failed, field,
                     "is the name of several objects. Rename all but one");
    return false;
  }
  if (exists || declared_.contains(key_of(kind, name))) return true;
  fields.errors().add(
      Slug::validation_failed, fields.path(field),
      "\"" + name + "\" does not exist and is not declared without errors in this file");
  return false;
}

bool ApplyNames::declare(api::Fields& fields, std::string_view field, ApplyStep& step,
                         std::string name) {
  if (!fields.errors().empty()) return false;
  step.name = std::move(name);
  const std::string key = key_of(step.kind, step.name);
  if (ambiguous_.contains(key)) {
    fields.add_error(Slug::validation_failed, field,
                     "is the name of several objects. Rename all but one");
    return false;
  }
  if (declared_.insert(key).second) return true;
  fields.add_error(Slug::validation_failed, field, "is declared twice");
  return false;
}

}  // namespace coffer::cli
