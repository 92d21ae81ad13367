#include "cli/providers/connectors.h"

#include <algorithm>

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/ledger/market.h"
#include "cli/output/health.h"
#include "cli/paging.h"
#include "cli/providers/members.h"
#include "domain/country.h"
#include "domain/providers/quote.h"
#include "flows/providers/connector_changes.h"
#include "store/ledger/catalog.h"
#include "store/providers/provider_payments.h"

namespace coffer::cli {
namespace {

Record connector_view(const ConnectorTerms& terms) {
  const int decimals = terms.send_decimals();
  Record record;
  each_member<ConnectorTerms>([&](const auto& row) {
    if (row.name.empty() || !row.is_shown(terms) || row.name == "feeBasisPoints") return;
    if (row.name == "feeFixed") {
      record.emplace_back("fee", shown_fee(terms.fee, decimals));
      return;
    }
    put_member(record, row, terms, decimals);
  });
  if (terms.endpoint) {
    record.emplace_back("baseUrl", terms.endpoint->base_url);
    record.emplace_back("timeoutMs", terms.endpoint->timeout_ms);
  }
  return record;
}

CommandResult one(const store::ConnectorRow& row) {
  return {.records = {connector_view(row.terms)}};
}

/// The minor units of a currency that exists; `malformed-request` if it has none.
Result<std::optional<int>> usual_decimals(const std::string& code) {
  const Currency* currency = find_currency(code);
  if (currency == nullptr || currency->minor_units) {
    return currency == nullptr ? std::nullopt : currency->minor_units;
  }
  return unexpected(Slug::malformed_request, std::string(currency->alpha3) +
                                                 " has no minor unit in ISO 4217. Set "
                                                 "--currency-decimals.");
}

Result<void> read_endpoint(const Arguments& arguments, ConnectorTerms& terms) {
  const bool has_url = arguments.has("base-url");
  if (terms.calls_out() && !has_url) {
    return unexpected(Slug::malformed_request,
                      "--driver " + std::string(name(terms.driver)) +
                          " needs --base-url, such as https://bank.example.");
  }
  if (!has_url) return {};
  terms.endpoint.emplace();
  terms.endpoint->base_url = arguments.text("base-url");
  COFFER_TRY(terms.endpoint->timeout_ms, number_argument<int>(arguments, "timeout-ms"));
  return {};
}

/// The price of a payment of 100, or of the nearest permitted amount.
Result<CommandResult> price_example(const ConnectorTerms& terms) {
  const std::string what = terms.name + ": " + std::string(label(terms.direction)) + " by " +
                           std::string(label(terms.method)) + " in " + terms.country;
  if (!terms.has_price()) {
    return previewed(
        {{"connector", what}, {"price", "The provider sets the price of each quote."}});
  }
  const int send = terms.send_decimals();
  const Amount hundred = parse_amount("100", Amount::kScale).amount;
  const Amount sample = std::clamp(hundred, terms.min_amount, terms.max_amount);
  COFFER_TRY(const Price price, price_exact_send(terms, sample, std::nullopt));
  const auto shown_in = [&](Amount amount) {
    return amount.to_string(send) + " " + std::string(terms.send_code());
  };
  return previewed({{"connector", what},
                    {"amount", shown_in(price.send)},
                    {"fee", shown_in(price.fee)},
                    {"total", shown_in(price.total)},
                    {"recipientGets", price.receive.to_string(terms.receive_decimals()) + " " +
                                          std::string(terms.receive_code())}});
}

Result<CommandResult> add(Session& session, const Arguments& arguments) {
  COFFER_TRY(ConnectorChange change, given_members<ConnectorTerms>(session, arguments));
  ConnectorTerms terms = change.values();
  if (terms.provider.empty()) terms.provider = terms.name;
  if (!change.has<&ConnectorTerms::currency_decimals>()) {
    COFFER_TRY(const auto decimals, usual_decimals(terms.currency));
    if (decimals) change.set<&ConnectorTerms::currency_decimals>(*decimals);
  }
  COFFER_TRY_VOID(read_endpoint(arguments, terms));
  const bool preview = arguments.has("preview");
  COFFER_TRY(const auto out,
             flows::register_connector(session.app.flows(), {terms, {}, change, preview}));
  if (preview) return price_example(out.connector.terms);
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

Result<CommandResult> change_terms(Session& session, const Arguments& arguments,
                                   const ConnectorChange& change) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::change_connector(session.app.flows(), id, change));
  return one(row);
}

template <ConnectorStatus kStatus>
Result<CommandResult> change_status(Session& session, const Arguments& arguments) {
  return change_terms(session, arguments, ConnectorChange().set<&ConnectorTerms::status>(kStatus));
}

Result<CommandResult> set_rate(Session& session, const Arguments& arguments) {
  COFFER_TRY(const Rate rate, rate_argument(arguments, "RATE"));
  return change_terms(session, arguments, ConnectorChange().set<&ConnectorTerms::rate>(rate));
}

Result<CommandResult> set_decimals(Session& session, const Arguments& arguments) {
  COFFER_TRY(const int decimals, number_argument<int>(arguments, "DECIMALS"));
  return change_terms(session, arguments,
                      ConnectorChange().set<&ConnectorTerms::currency_decimals>(decimals));
}

/// Changes the terms in the options.
Result<CommandResult> set_options(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorChange change, given_members<ConnectorTerms>(session, arguments));
  return change_terms(session, arguments, change);
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

/// The limits, then their removals.
std::vector<Argument> limit_arguments() {
  std::vector<Argument> out, removals;
  each_limit([&](const auto& row) {
    out.push_back(argument_of(row, false));
    if (!row.option.removal.empty()) removals.push_back(removal_of(row));
  });
  return joined(std::move(out), removals);
}

template <auto... kPath>
Argument change_of() {
  return argument_of(member_row<ConnectorTerms, kPath...>(), false);
}

constexpr std::string_view kPriceDetails =
    "With the http driver, the provider sets the price of quotes. A rate and a fee are then "
    "accepted\nonly with a tolerance: coffer rejects a quote whose rate differs by more than the "
    "tolerance, or\nwhose fee differs by more than the tolerance of the amount.";

constexpr std::string_view kSetUrlDetails =
    "Payments in progress stay at the former URL, with its secret, until they are complete: a "
    "different\nprovider could execute them a second time. connector show lists such URLs as "
    "formerUrls.";

/// The step of the form to which an argument belongs, and when its field appears.
struct Place {
  std::string_view name;
  std::string_view step;
  std::string_view when = {};
  bool usual = false;  // also if it is optional
};
constexpr std::string_view kProvider = "Provider";
constexpr std::string_view kCorridor = "Corridor";
constexpr std::string_view kPrice = "Price and limits";
constexpr auto kPlaces = std::to_array<Place>({
    {"driver", kProvider},
    {"NAME", kProvider},
    {"base-url", kProvider, "driver=http"},
    {"environment", kProvider},
    {"provider", kProvider},
    {"timeout-ms", kProvider, "driver=http"},
    {"direction", kCorridor},
    {"method", kCorridor},
    {"country", kCorridor},
    {"currency", kCorridor},
    {"asset", kCorridor},
    {"flow", kCorridor},
    {"references", kCorridor, "flow=BESPOKE"},
    {"types", kCorridor},
    {"currency-decimals", kCorridor},
    {"min", kPrice},
    {"max", kPrice},
    {"tolerance-bps", kPrice, "driver=http", true},
    {"rate", kPrice, "driver=sandbox,flow=BESPOKE,tolerance-bps"},
    {"fee-fixed", kPrice, "driver=sandbox,flow=BESPOKE,tolerance-bps", true},
    {"fee-bps", kPrice, "driver=sandbox,flow=BESPOKE,tolerance-bps", true},
    {"day-limit", kPrice},
    {"month-limit", kPrice},
});

/// In the order of the steps.
std::vector<Argument> in_steps(std::vector<Argument> arguments) {
  std::vector<Argument> out;
  for (const Place& place : kPlaces) {
    const auto found = std::ranges::find(arguments, place.name, &Argument::name);
    COFFER_CHECK(found != arguments.end());
    out.push_back(placed(place.step, place.when, *found));
    out.back().usual = place.usual;
    if (place.name == "base-url" || place.name == "rate") out.back().needed_on_page = true;
    arguments.erase(found);
  }
  out.insert(out.end(), arguments.begin(), arguments.end());
  return out;
}

Command add_command() {
  return for_administrators(
      "connector add", "Register a connector", "Add connector",
      "It issues quotes as soon as it is added.", add,
      in_steps(joined(
          arguments_of<ConnectorTerms>(true),
          std::vector<Argument>{
              on_page(naming(Argument::Value::url,
                             option("base-url", "URL",
                                    "Base URL of the provider; required with the http driver")),
                      "Base URL of the provider", "https://payments.example.com"),
              on_page(option("timeout-ms", "N", "Timeout of a call", "10000"), "Timeout (ms)",
                      "10000"),
              toggle("preview",
                     "Check the connector, show the price of a payment, and add nothing")})),
      {.hint = "List assets with coffer asset list",
       .details = kPriceDetails,
       .preview = "preview"});
}

std::vector<Command> terms_commands() {
  const Argument id = connector_id();
  return {
      for_administrators(
          "connector set-rate", "Set the exchange rate of a connector", "Set exchange rate",
          "It applies to new quotes.", set_rate,
          {id,
           on_page(member_of("rate",
                             positional("RATE", "Amount received per unit sent, such as 129.5")),
                   "Exchange rate", "129.50")}),
      for_administrators(
          "connector set-fee", "Set the fee of a connector; a part that is not given stays",
          "Set fee", "It applies to new quotes. A field that you leave empty stays.", set_options,
          joined({id}, arguments_of<FeeRule>(false)), {.partial = true}),
      for_administrators(
          "connector set-tolerance", "Limit the price of a provider to a rate and a fee",
          "Set tolerance",
          "It applies to new quotes. Without a tolerance, every price of the provider is accepted.",
          set_options,
          joined(
              {id, change_of<&ConnectorTerms::tolerance_bps>(), change_of<&ConnectorTerms::rate>()},
              arguments_of<FeeRule>(false),
              std::vector<Argument>{
                  removal_of(member_row<ConnectorTerms, &ConnectorTerms::tolerance_bps>())}),
          {.details = kPriceDetails, .partial = true}),
      for_administrators("connector limits",
                         "Set the limits of a connector; a limit that is not given stays",
                         "Set limits", "A limit that you clear is removed.", set_options,
                         joined({id}, limit_arguments()), {.partial = true}),
      for_administrators("connector set-decimals",
                         "Set the decimal places of a connector's currency", "Set decimal places",
                         "They apply to new quotes and payments. The change is rejected while "
                         "payments are in progress or quotes are open.",
                         set_decimals,
                         {id, on_page(member_of("currencyDecimals",
                                                positional("DECIMALS", "Decimal places, 0 to 7")),
                                      "Decimal places of the currency", "2")}),
      for_administrators(
          "connector set-url", "Change the URL of the provider", "Change URL",
          "New payments go to the new URL.", set_endpoint,
          {id,
           on_page(member_of("baseUrl", naming(Argument::Value::url,
                                               positional("URL", "https://host/prefix"))),
                   "Base URL of the provider", "https://payments.example.com"),
           on_page(member_of("timeoutMs",
                             option("timeout-ms", "N", "Timeout of a call; unchanged by default")),
                   "Timeout (ms)", "10000"),
           on_page(toggle("confirm", "Keep payments in progress at the old URL"),
                   "Keep payments in progress at the old URL")},
          {.details = kSetUrlDetails}),
      for_administrators("connector rotate-secret", "Issue a new secret for the provider",
                         "Rotate secret",
                         "The old secret becomes invalid immediately. The new one is shown once.",
                         rotate_secret, {id}),
  };
}

}  // namespace

Result<CommandResult> show_connector(Session& session, store::Connection& db,
                                     const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(db, arguments, "ID"));
  Record record = connector_view(terms);
  each_member<ConnectorTerms>([&](const auto& row) {
    const bool of_fee = row.name == "feeFixed" || row.name == "feeBasisPoints";
    if (of_fee && row.is_shown(terms)) put_member(record, row, terms, terms.send_decimals());
  });
  put_health(record, session.app, db, terms);
  std::vector<Record> requirements;
  for (const Requirement& requirement : store::requirements_of(db, terms.key)) {
    requirements.push_back(requirement_view(requirement));
  }
  record.emplace_back("requirements", std::move(requirements));
  record.emplace_back("formerUrls", former_urls(db, terms.key));
  return CommandResult{.records = {std::move(record)}};
}

std::vector<Command> connector_commands() {
  const Argument id = connector_id();
  std::vector<Command> out{
      add_command(),
      for_viewers("connector list", "List connectors", list_connectors),
      for_viewers("connector show", "Show a connector and its required fields", show_connector,
                  {id}),
      for_operators("connector pause",
                    "Pause a connector; it issues no new quotes, and accepted payments finish",
                    "Pause connector", "It issues no new quotes. Accepted payments finish.",
                    change_status<ConnectorStatus::paused>, {id}),
      for_operators("connector resume", "Resume a paused connector", "Resume connector",
                    "It issues quotes immediately.", change_status<ConnectorStatus::active>, {id},
                    {.sensitive = true}),
  };
  for (const auto& more : {terms_commands(), requirement_commands()})
    out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace coffer::cli
