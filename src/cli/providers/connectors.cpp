#include "cli/providers/connectors.h"

#include "app/app.h"
#include "base/text/join.h"
#include "base/text/next_part.h"
#include "cli/command_groups.h"
#include "cli/ledger/market.h"
#include "cli/operations/health.h"
#include "cli/operations/paging.h"
#include "flows/providers/connector_changes.h"
#include "store/ledger/catalog.h"
#include "store/providers/provider_payments.h"

namespace coffer::cli {
namespace {

std::string shown_types(TransactionTypes types) {
  std::string out;
  for (const TransactionType type :
       {TransactionType::c2c, TransactionType::c2b, TransactionType::b2c, TransactionType::b2b}) {
    if (!contains(types, type)) continue;
    out += (out.empty() ? "" : ",") + std::string(name(type));
  }
  return out;
}

Record connector_view(const ConnectorTerms& terms) {
  const int decimals = terms.send_decimals();
  Record record{{"id", terms.id},
                {"environment", name(terms.environment)},
                {"name", terms.name},
                {"provider", terms.provider},
                {"driver", name(terms.driver)},
                {"flow", name(terms.flow)},
                {"direction", name(terms.direction)},
                {"method", name(terms.method)},
                {"countryIsoCode2", terms.country},
                {"currencyIsoCode3", terms.currency},
                {"currencyDecimals", terms.currency_decimals},
                {"assetCode", terms.asset.code.value()},
                {"rate", terms.rate},
                {"fee", shown_fee(terms.fee, decimals)},
                {"minAmount", terms.min_amount.to_string(decimals)},
                {"maxAmount", terms.max_amount.to_string(decimals)},
                {"dayLimit", shown(terms.day_limit, decimals)},
                {"monthLimit", shown(terms.month_limit, decimals)},
                {"transactionTypes", shown_types(terms.types)},
                {"issuesReferences", terms.issues_references},
                {"status", name(terms.status)}};
  if (terms.endpoint) {
    record.emplace_back("baseUrl", terms.endpoint->base_url);
    record.emplace_back("timeoutMs", terms.endpoint->timeout_ms);
  }
  return record;
}

CommandResult one(const store::ConnectorRow& row) {
  return {.records = {connector_view(row.terms)}};
}

Record connector_view(const Requirement& requirement) {
  Record record{{"name", requirement.name},
                {"type", name(requirement.type)},
                {"required", requirement.required},
                {"label", requirement.label},
                {"description", requirement.description},
                {"pattern", requirement.pattern},
                {"choices", join(requirement.choices, ",",
                                 [](const auto& one) { return one.code + "=" + one.label; })},
                {"transactionTypes", shown_types(requirement.types)}};
  return record;
}

Result<std::optional<Amount>> optional_places(const Arguments& arguments, const std::string& name,
                                              int decimals) {
  if (!arguments.has(name)) return std::optional<Amount>();
  COFFER_TRY(const Amount amount, places_argument(arguments, name, decimals));
  return std::optional(amount);
}

Result<flows::ConnectorLimits> limits_argument(const Arguments& arguments, int decimals) {
  flows::ConnectorLimits limits;
  COFFER_TRY(limits.min_amount, places_argument(arguments, "min", decimals));
  COFFER_TRY(limits.max_amount, places_argument(arguments, "max", decimals));
  COFFER_TRY(limits.day_limit, optional_places(arguments, "day-limit", decimals));
  COFFER_TRY(limits.month_limit, optional_places(arguments, "month-limit", decimals));
  return limits;
}

Result<void> read_endpoint(const Arguments& arguments, ConnectorTerms& terms) {
  const bool has_url = arguments.has("base-url");
  if (terms.driver == DriverKind::http && !has_url) {
    return unexpected(Slug::malformed_request,
                      "--driver http needs --base-url, such as https://bank.example.");
  }
  if (!has_url) return {};
  terms.endpoint.emplace();
  terms.endpoint->base_url = arguments.text("base-url");
  COFFER_TRY(terms.endpoint->timeout_ms, number_argument<int>(arguments, "timeout-ms"));
  return {};
}

Result<CommandResult> add(Session& session, const Arguments& arguments) {
  ConnectorTerms terms;
  terms.name = arguments.text("NAME");
  terms.provider = arguments.find("provider").value_or(terms.name);
  terms.environment = environment_argument(arguments);
  terms.driver = *parse_term_in_any_case<DriverKind>(arguments.text("driver"));
  terms.flow = *parse_term_in_any_case<ConnectorFlow>(arguments.text("flow"));
  terms.direction = *parse_term_in_any_case<Direction>(arguments.text("direction"));
  terms.method = *parse_pay_method(arguments.text("method"));
  terms.country = arguments.text("country");
  terms.currency = arguments.text("currency");
  terms.issues_references = arguments.has("references");
  COFFER_TRY(terms.currency_decimals, number_argument<int>(arguments, "currency-decimals"));
  COFFER_TRY(const AssetCode asset, asset_argument(arguments, "asset"));
  COFFER_TRY(terms.asset, registered_asset(session, asset));
  COFFER_TRY(terms.rate, rate_argument(arguments, "rate"));
  COFFER_TRY(terms.fee, fee_argument(arguments, terms.send_decimals()));
  COFFER_TRY(const auto limits, limits_argument(arguments, terms.send_decimals()));
  terms.min_amount = limits.min_amount;
  terms.max_amount = limits.max_amount;
  terms.day_limit = limits.day_limit;
  terms.month_limit = limits.month_limit;
  COFFER_TRY(terms.types, types_argument(arguments, "types"));
  COFFER_TRY_VOID(read_endpoint(arguments, terms));
  COFFER_TRY(const auto out, flows::register_connector(session.app.flows(), {terms, {}}));
  CommandResult result = one(out.connector);
  if (!out.secret.empty()) {
    result.records[0].emplace_back("secret", out.secret);
    result.note = "\nConfigure this secret at the provider now. You won't see it again.";
  }
  return result;
}

Result<CommandResult> list_connectors(Session& session, store::Connection& db, const Arguments&) {
  return list_of({"id", "environment", "name", "flow", "direction", "method", "countryIsoCode2",
                  "currencyIsoCode3", "assetCode", "status", "health"},
                 store::list_connectors_of_all(db), [&](const store::ConnectorRow& row) {
                   Record record = connector_view(row.terms);
                   put_health(record, session.app, db, row.terms);
                   return record;
                 });
}

/// Retired addresses with payments in progress.
std::vector<Record> former_urls(store::Connection& db, std::int64_t connector) {
  std::vector<Record> out;
  for (const auto& left : store::find_connector_at_retired(db, connector)) {
    const ProviderEndpoint& endpoint = *left.terms.endpoint;
    const std::int64_t count = store::payments_in_progress_at(db, connector, endpoint.key);
    if (count == 0) continue;
    out.push_back({{"baseUrl", endpoint.base_url},
                   {"timeoutMs", endpoint.timeout_ms},
                   {"paymentsInProgress", count}});
  }
  return out;
}

Result<CommandResult> show_connector(Session& session, store::Connection& db,
                                     const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(db, arguments, "ID"));
  Record record = connector_view(terms);
  put_health(record, session.app, db, terms);
  std::vector<Record> requirements;
  for (const Requirement& requirement : store::requirements_of(db, terms.key)) {
    requirements.push_back(connector_view(requirement));
  }
  record.emplace_back("requirements", std::move(requirements));
  record.emplace_back("formerUrls", former_urls(db, terms.key));
  return CommandResult{.records = {std::move(record)}};
}

template <ConnectorStatus kStatus>
Result<CommandResult> change_status(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::set_connector_status(session.app.flows(), id, kStatus));
  return one(row);
}

Result<CommandResult> set_rate(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY(const Rate rate, rate_argument(arguments, "RATE"));
  COFFER_TRY(const auto row, flows::set_connector_rate(session.app.flows(), id, rate));
  return one(row);
}

Result<CommandResult> set_fee(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "ID"));
  COFFER_TRY(const FeeRule fee, fee_argument(arguments, terms.send_decimals()));
  COFFER_TRY(const auto row, flows::set_connector_fee(session.app.flows(), terms.id, fee));
  return one(row);
}

Result<CommandResult> set_limits(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "ID"));
  COFFER_TRY(const auto limits, limits_argument(arguments, terms.send_decimals()));
  COFFER_TRY(const auto row, flows::set_connector_limits(session.app.flows(), terms.id, limits));
  return one(row);
}

Result<CommandResult> set_endpoint(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  flows::EndpointChange change{arguments.text("URL"), std::nullopt, arguments.has("confirm")};
  COFFER_TRY(change.timeout_ms, optional_number<int>(arguments, "timeout-ms"));
  COFFER_TRY(const auto row, flows::set_connector_endpoint(session.app.flows(), id, change));
  return one(row);
}

Result<CommandResult> rotate_secret(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY(const auto out, flows::rotate_connector_secret(session.app.flows(), id));
  return CommandResult{
      .records = {{{"id", id}, {"secret", out.secret}}},
      .note = "\nThe old secret is no longer valid. Copy the new one now. You won't see it again."};
}

/// `CODE=Label,CODE=Label`; the default label is the code.
std::vector<Requirement::Choice> choices_of(const std::string& text) {
  std::vector<Requirement::Choice> out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view item = next_part(rest, ',');
    const auto equals = std::min(item.find('='), item.size());
    const std::string_view label = equals == item.size() ? item : item.substr(equals + 1);
    out.push_back({std::string(item.substr(0, equals)), std::string(label)});
  }
  return out;
}

Result<Requirement> requirement_argument(const Arguments& arguments) {
  Requirement out;
  out.name = arguments.text("NAME");
  out.label = arguments.find("label").value_or(out.name);
  out.description = arguments.find("description").value_or("");
  out.required = !arguments.has("optional");
  out.pattern = arguments.find("pattern");
  out.choices = choices_of(arguments.find("choices").value_or(""));
  out.type = parse_term<Requirement::Type>(arguments.text("type")).value_or(out.type);
  COFFER_TRY(out.min_length, optional_number<int>(arguments, "min-length"));
  COFFER_TRY(out.max_length, optional_number<int>(arguments, "max-length"));
  COFFER_TRY(out.types, types_argument(arguments, "types"));
  return out;
}

Result<std::vector<Requirement>> requirements_without(Session& session,
                                                      const ConnectorTerms& connector,
                                                      const std::string& left_out) {
  COFFER_TRY(auto all, session.app.flows().read([&](store::Connection& db) {
    return store::requirements_of(db, connector.key);
  }));
  std::erase_if(all, [&](const Requirement& one) { return one.name == left_out; });
  return all;
}

Result<CommandResult> require(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "ID"));
  COFFER_TRY(Requirement requirement, requirement_argument(arguments));
  COFFER_TRY(auto all, requirements_without(session, terms, requirement.name));
  all.push_back(std::move(requirement));
  COFFER_TRY_VOID(flows::set_requirements(session.app.flows(), terms.id, all));
  return run_read(session, show_connector, arguments);
}

Result<CommandResult> unrequire(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "ID"));
  COFFER_TRY(const auto all, requirements_without(session, terms, arguments.text("NAME")));
  COFFER_TRY_VOID(flows::set_requirements(session.app.flows(), terms.id, all));
  return run_read(session, show_connector, arguments);
}

const Argument kId =
    positional_id("ID", "ID of the connector", "List IDs with coffer connector list");
const Argument kTypes =
    on_page(option("types", "LIST", "Transaction types, such as C2C,B2C", "all"),
            "Transaction types", "C2C,B2C");
const Argument kMin =
    on_page(required_option("min", "AMOUNT", "Minimum amount, in the sending currency"),
            "Minimum amount", "1");
const Argument kMax =
    on_page(required_option("max", "AMOUNT", "Maximum amount, in the sending currency"),
            "Maximum amount", "10000");
const Argument kDayLimit =
    on_page(option("day-limit", "AMOUNT", "Limit per destination in 24 hours"),
            "Daily limit per destination", "5000");
const Argument kMonthLimit =
    on_page(option("month-limit", "AMOUNT", "Limit per destination in 30 days"),
            "Monthly limit per destination", "50000");

constexpr std::string_view kSetUrlDetails =
    "Payments in progress stay at the former URL, with its secret, until they are complete: a "
    "different\nprovider could execute them a second time. connector show lists such URLs as "
    "formerUrls.";

Command add_command() {
  return {
      .path = "connector add",
      .summary = "Register a connector",
      .label = "Add connector",
      .run = add,
      .arguments =
          {positional("NAME", "Name of the connector"),
           option("provider", "TEXT", "Name of the provider; by default the connector's name"),
           environment_choice("Environment of the connector"),
           choice("driver", choices<DriverKind>(),
                  "sandbox simulates a provider; http uses the provider protocol", "sandbox"),
           choice("flow", choices<ConnectorFlow>(),
                  "QUOTED: payments against a quote; BESPOKE: initiated by the provider", "QUOTED"),
           choice("direction", choices<Direction>(), "OFF_RAMP (payout) or ON_RAMP (collection)",
                  "OFF_RAMP"),
           choice("method", choices<PayMethod>(), "Payment method", "BANK"),
           on_page(required_option("country", "CODE", "Country, ISO 3166-1 alpha-2"), "Country",
                   "KE"),
           on_page(required_option("currency", "CODE", "Currency, ISO 4217"), "Currency", "KES"),
           on_page(option("currency-decimals", "N", "Decimal places of the currency", "2"),
                   "Decimal places of the currency", "2"),
           on_page(required_option("asset", "CODE", "Asset on the ledger side"), "Asset", "USDC"),
           on_page(required_option("rate", "RATE", "Exchange rate: amount received per unit sent"),
                   "Exchange rate", "129.50"),
           fixed_fee_option(),
           basis_points_option(),
           kMin,
           kMax,
           kDayLimit,
           kMonthLimit,
           kTypes,
           on_page(toggle("references", "The BESPOKE connector issues references"),
                   "Issues references"),
           on_page(naming(Argument::Value::url,
                          option("base-url", "URL",
                                 "Base URL of the provider; required with the http driver")),
                   "Base URL of the provider", "https://payments.example.com"),
           on_page(option("timeout-ms", "N", "Timeout of a call", "10000"), "Timeout (ms)",
                   "10000")},
      .hint = "List assets with coffer asset list"};
}

std::vector<Command> terms_commands() {
  return {
      {.path = "connector set-rate",
       .summary = "Set the exchange rate of a connector",
       .label = "Set exchange rate",
       .consequence = "It applies to new quotes.",
       .run = set_rate,
       .arguments = {kId,
                     on_page(positional("RATE", "Amount received per unit sent, such as 129.5"),
                             "Exchange rate", "129.50")}},
      {.path = "connector set-fee",
       .summary = "Set the fee of a connector",
       .label = "Set fee",
       .consequence = "It applies to new quotes.",
       .run = set_fee,
       .arguments = {kId, fixed_fee_option(), basis_points_option()}},
      {.path = "connector limits",
       .summary = "Set the limits of a connector; omitted limits are removed",
       .label = "Set limits",
       .consequence = "A daily or monthly limit that you leave empty is removed.",
       .run = set_limits,
       .arguments = {kId, kMin, kMax, kDayLimit, kMonthLimit}},
      {.path = "connector set-url",
       .summary = "Change the URL of the provider",
       .label = "Change URL",
       .consequence = "New payments go to the new URL.",
       .run = set_endpoint,
       .arguments = {kId,
                     on_page(naming(Argument::Value::url, positional("URL", "https://host/prefix")),
                             "Base URL of the provider", "https://payments.example.com"),
                     on_page(option("timeout-ms", "N", "Timeout of a call; unchanged by default"),
                             "Timeout (ms)", "10000"),
                     on_page(toggle("confirm", "Keep payments in progress at the old URL"),
                             "Keep payments in progress at the old URL")},
       .details = kSetUrlDetails},
      {.path = "connector rotate-secret",
       .summary = "Issue a new secret for the provider",
       .label = "Rotate secret",
       .consequence = "The old secret becomes invalid immediately. The new one is shown once.",
       .run = rotate_secret,
       .arguments = {kId}},
  };
}

std::vector<Command> requirement_commands() {
  const Argument field = positional("NAME", "Name of the field in additionalFields");
  return {
      {.path = "connector require",
       .summary = "Require a field in every submission, or change a required field",
       .label = "Require field",
       .consequence = "It applies to new submissions.",
       .run = require,
       .arguments = {kId, field,
                     choice("type", choices<Requirement::Type>(), "Type of the value", "string"),
                     option("label", "TEXT", "Label in a form; by default the name"),
                     option("description", "TEXT", "Description in a form"),
                     on_page(option("pattern", "REGEX", "Pattern that the whole value must match"),
                             "Pattern", "^[0-9]{11}$"),
                     on_page(option("min-length", "N", "Minimum length in characters"),
                             "Minimum length", "1"),
                     on_page(option("max-length", "N", "Maximum length in characters, up to 200"),
                             "Maximum length", "200"),
                     on_page(option("choices", "LIST",
                                    "Permitted values with labels, such as A=First,B=Second"),
                             "Permitted values", "A=First,B=Second"),
                     kTypes, toggle("optional", "Make the field optional")}},
      {.path = "connector unrequire",
       .summary = "Stop requiring a field",
       .label = "Remove required field",
       .consequence = "It applies to new submissions.",
       .run = unrequire,
       .arguments = {kId, field}}};
}

}  // namespace

std::vector<Command> connector_commands() {
  std::vector<Command> out{
      add_command(),
      for_viewers("connector list", "List connectors", list_connectors),
      for_viewers("connector show", "Show a connector and its required fields", show_connector,
                  {kId}),
      {.path = "connector pause",
       .summary = "Pause a connector; it issues no new quotes, and accepted payments finish",
       .label = "Pause connector",
       .consequence = "It issues no new quotes. Accepted payments finish.",
       .run = change_status<ConnectorStatus::paused>,
       .role = OperatorRole::operating,
       .arguments = {kId}},
      {.path = "connector resume",
       .summary = "Resume a paused connector",
       .label = "Resume connector",
       .consequence = "It issues quotes immediately.",
       .run = change_status<ConnectorStatus::active>,
       .role = OperatorRole::operating,
       .arguments = {kId},
       .sensitive = true},
  };
  for (const auto& more : {terms_commands(), requirement_commands()})
    out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace coffer::cli
