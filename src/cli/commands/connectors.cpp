#include "cli/commands/connectors.h"

#include "app.h"
#include "cli/commands/market.h"
#include "cli/operating/health.h"
#include "flows/providers/connector_changes.h"
#include "store/catalog.h"
#include "store/providers/provider_payments.h"

namespace coffer::cli {
namespace {

Problem misshapen(const std::string& what) { return Problem(Slug::malformed_request, what); }

std::string shown_types(TransactionTypes types) {
  std::string out;
  for (const TransactionType type :
       {TransactionType::c2c, TransactionType::c2b, TransactionType::b2c, TransactionType::b2b}) {
    if (!contains(types, type)) continue;
    out += (out.empty() ? "" : ",") + std::string(name(type));
  }
  return out;
}

std::optional<std::string> shown(const std::optional<Amount>& amount, int decimals) {
  return amount ? std::optional(amount->to_string(decimals)) : std::nullopt;
}

Record view(const ConnectorTerms& terms) {
  const int decimals = terms.send_decimals();
  Record record{{"id", terms.id.to_string()},
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
                {"rate", terms.rate.to_string()},
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

Answer one(const store::ConnectorRow& row) { return {.records = {view(row.terms)}}; }

Record view(const Requirement& requirement) {
  std::string choices;
  for (const auto& [code, label] : requirement.choices) {
    choices += (choices.empty() ? "" : ",") + code + "=" + label;
  }
  Record record{{"name", requirement.name},
                {"type", name(requirement.type)},
                {"required", requirement.required},
                {"label", requirement.label},
                {"description", requirement.description},
                {"pattern", requirement.pattern},
                {"choices", choices},
                {"transactionTypes", shown_types(requirement.types)}};
  return record;
}

Result<std::optional<Amount>> optional_places(const Arguments& arguments, const std::string& name,
                                              int decimals) {
  if (!arguments.has(name)) return std::optional<Amount>();
  COFFER_TRY(const Amount amount, places_argument(arguments, name, decimals));
  return std::optional(amount);
}

Result<Rate> rate_argument(const Arguments& arguments, const std::string& name) {
  const auto rate = Rate::parse(arguments.text(name));
  if (rate) return *rate;
  return unexpected(misshapen(name + " \"" + arguments.text(name) +
                              "\" is none; write a positive number of at most 9 places."));
}

Result<flows::ConnectorLimits> limits_argument(const Arguments& arguments, int decimals) {
  flows::ConnectorLimits limits;
  COFFER_TRY(limits.min_amount, places_argument(arguments, "min", decimals));
  COFFER_TRY(limits.max_amount, places_argument(arguments, "max", decimals));
  COFFER_TRY(limits.day_limit, optional_places(arguments, "day-limit", decimals));
  COFFER_TRY(limits.month_limit, optional_places(arguments, "month-limit", decimals));
  return limits;
}

/// Places the asset has; what an on-ramp sends has those of its currency.
Result<Asset> asset_of(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode code, asset_argument(arguments, "asset"));
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Asset> {
    auto asset = store::find_asset(db, code);
    if (asset) return *std::move(asset);
    return unexpected(Slug::not_found, "There is no asset " + code.value() + ".");
  });
}

Result<void> read_endpoint(const Arguments& arguments, ConnectorTerms& terms) {
  if (!arguments.has("base-url")) return {};
  terms.endpoint.emplace();
  terms.endpoint->base_url = arguments.text("base-url");
  COFFER_TRY(terms.endpoint->timeout_ms, number_argument<int>(arguments, "timeout-ms"));
  return {};
}

Result<Answer> add(Session& session, const Arguments& arguments) {
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
  COFFER_TRY(terms.asset, asset_of(session, arguments));
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
  Answer answer = one(out.connector);
  if (!out.secret.empty()) {
    answer.records[0].emplace_back("secret", out.secret);
    answer.note = "\nThe provider signs with this secret. It is not shown again.";
  }
  return answer;
}

Result<Answer> list(Session& session, const Arguments&) {
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Answer> {
    Answer answer{
        .list = true,
        .columns = {"id", "environment", "name", "flow", "direction", "method", "countryIsoCode2",
                    "currencyIsoCode3", "assetCode", "status", "health"}};
    for (const auto& row : store::list_connectors_of_all(db)) {
      answer.records.push_back(view(row.terms));
      put_health(answer.records.back(), session.app, db, row.terms);
    }
    return answer;
  });
}

/// Addresses that it has left, as long as payments are in progress there.
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

Result<Answer> show(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "ID"));
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Answer> {
    Record record = view(terms);
    put_health(record, session.app, db, terms);
    std::vector<Record> requirements;
    for (const Requirement& requirement : store::requirements_of(db, terms.key)) {
      requirements.push_back(view(requirement));
    }
    record.emplace_back("requirements", std::move(requirements));
    record.emplace_back("formerUrls", former_urls(db, terms.key));
    return Answer{.records = {std::move(record)}};
  });
}

template <ConnectorStatus kStatus>
Result<Answer> change_status(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::set_connector_status(session.app.flows(), id, kStatus));
  return one(row);
}

Result<Answer> set_rate(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY(const Rate rate, rate_argument(arguments, "RATE"));
  COFFER_TRY(const auto row, flows::set_connector_rate(session.app.flows(), id, rate));
  return one(row);
}

Result<Answer> set_fee(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "ID"));
  COFFER_TRY(const FeeRule fee, fee_argument(arguments, terms.send_decimals()));
  COFFER_TRY(const auto row, flows::set_connector_fee(session.app.flows(), terms.id, fee));
  return one(row);
}

Result<Answer> set_limits(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "ID"));
  COFFER_TRY(const auto limits, limits_argument(arguments, terms.send_decimals()));
  COFFER_TRY(const auto row, flows::set_connector_limits(session.app.flows(), terms.id, limits));
  return one(row);
}

Result<Answer> set_endpoint(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  flows::EndpointChange change{arguments.text("URL"), std::nullopt, arguments.has("confirm")};
  if (arguments.has("timeout-ms")) {
    COFFER_TRY(change.timeout_ms, number_argument<int>(arguments, "timeout-ms"));
  }
  COFFER_TRY(const auto row, flows::set_connector_endpoint(session.app.flows(), id, change));
  return one(row);
}

Result<Answer> rotate_secret(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY(const auto out, flows::rotate_connector_secret(session.app.flows(), id));
  return Answer{.records = {{{"id", id.to_string()}, {"secret", out.secret}}},
                .note = "\nThe old secret has ended. This one is not shown again."};
}

/// `CODE=Label,CODE=Label`; a label that is left out is the code.
std::vector<Requirement::Choice> choices_of(const std::string& text) {
  std::vector<Requirement::Choice> out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const auto equals = std::min(item.find('='), item.size());
    const std::string_view label = equals == item.size() ? item : item.substr(equals + 1);
    out.push_back({std::string(item.substr(0, equals)), std::string(label)});
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
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
  if (arguments.has("min-length")) {
    COFFER_TRY(out.min_length, number_argument<int>(arguments, "min-length"));
  }
  if (arguments.has("max-length")) {
    COFFER_TRY(out.max_length, number_argument<int>(arguments, "max-length"));
  }
  COFFER_TRY(out.types, types_argument(arguments, "types"));
  return out;
}

Result<std::vector<Requirement>> requirements_without(Session& session,
                                                      const ConnectorTerms& connector,
                                                      const std::string& left_out) {
  COFFER_TRY(auto all,
             store::with_reader(session.app.database(),
                                [&](store::Connection& db) -> Result<std::vector<Requirement>> {
                                  return store::requirements_of(db, connector.key);
                                }));
  std::erase_if(all, [&](const Requirement& one) { return one.name == left_out; });
  return all;
}

Result<Answer> require(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "ID"));
  COFFER_TRY(Requirement requirement, requirement_argument(arguments));
  COFFER_TRY(auto all, requirements_without(session, terms, requirement.name));
  all.push_back(std::move(requirement));
  COFFER_TRY_VOID(flows::set_requirements(session.app.flows(), terms.id, all));
  return show(session, arguments);
}

Result<Answer> unrequire(Session& session, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "ID"));
  COFFER_TRY(const auto all, requirements_without(session, terms, arguments.text("NAME")));
  COFFER_TRY_VOID(flows::set_requirements(session.app.flows(), terms.id, all));
  return show(session, arguments);
}

constexpr std::string_view kHint = "coffer connector list shows what there is";

const Argument kId = positional("ID", "Its id");
const Argument kFixed = option("fee-fixed", "AMOUNT", "Fixed part, in what is sent");
const Argument kBasisPoints = option("fee-bps", "N", "Hundredths of a percent of the amount");
const Argument kMin = required_option("min", "AMOUNT", "Smallest amount, in what is sent");
const Argument kMax = required_option("max", "AMOUNT", "Largest amount");
const Argument kDayLimit = option("day-limit", "AMOUNT", "Per destination in 24 hours");
const Argument kMonthLimit = option("month-limit", "AMOUNT", "Per destination in 30 days");

constexpr std::string_view kSetUrlDetails =
    "A payment that was sent to the old URL stays there, with the secret of that URL, until it "
    "ends:\n"
    "another provider could make it a second time. connector show lists such URLs as formerUrls.";

Command add_command() {
  return {
      .path = "connector add",
      .summary = "Register a connector",
      .run = add,
      .arguments = {positional("NAME", "Its name"),
                    option("provider", "TEXT", "Whose it is; by default its name"),
                    choice("environment", "sandbox|production", "Where", "sandbox"),
                    choice("driver", choices<DriverKind>(), "What it speaks", "sandbox"),
                    choice("flow", choices<ConnectorFlow>(), "Who begins", "QUOTED"),
                    choice("direction", choices<Direction>(), "Cash-out or collection", "OFF_RAMP"),
                    choice("method", choices<PayMethod>(), "Payment method", "BANK"),
                    required_option("country", "CODE", "ISO 3166-1 alpha-2"),
                    required_option("currency", "CODE", "ISO 4217"),
                    option("currency-decimals", "N", "Places of the currency", "2"),
                    required_option("asset", "CODE", "What the ledger side is in"),
                    required_option("rate", "RATE", "Received per unit sent"),
                    kFixed,
                    kBasisPoints,
                    kMin,
                    kMax,
                    kDayLimit,
                    kMonthLimit,
                    option("types", "LIST", "As in C2C,B2C", "all"),
                    toggle("references", "A BESPOKE one that issues references"),
                    option("base-url", "URL", "Of the provider; the http driver needs it"),
                    option("timeout-ms", "N", "How long a call may take", "10000")},
      .hint = "coffer asset list shows what there is"};
}

std::vector<Command> requirement_commands() {
  const Argument field = positional("NAME", "The field's name in additionalFields");
  return {{.path = "connector require",
           .summary = "Ask for a field with every submission, or ask for it otherwise",
           .run = require,
           .arguments = {kId, field,
                         choice("type", choices<Requirement::Type>(), "What it holds", "string"),
                         option("label", "TEXT", "What a form calls it; by default its name"),
                         option("description", "TEXT", "What a form says about it"),
                         option("pattern", "REGEX", "That the whole value matches"),
                         option("min-length", "N", "In characters"),
                         option("max-length", "N", "In characters, at most 200"),
                         option("choices", "LIST", "As in A=First,B=Second"),
                         option("types", "LIST", "As in C2C,B2C", "all"),
                         toggle("optional", "It may be left out")},
           .hint = kHint},
          {.path = "connector unrequire",
           .summary = "Ask for a field no longer",
           .run = unrequire,
           .arguments = {kId, field},
           .hint = kHint}};
}

}  // namespace

Result<Amount> places_argument(const Arguments& arguments, const std::string& name, int decimals) {
  const std::string& text = arguments.text(name);
  const ParsedAmount parsed = parse_amount(text, decimals);
  switch (parsed.fault) {
    case AmountFault::none:
      return parsed.amount;
    case AmountFault::not_a_number:
      return unexpected(
          misshapen("--" + name + " \"" + text + "\" is no amount; write it as in 250.50."));
    case AmountFault::too_precise:
      return unexpected(Slug::amount_precision, "--" + name + " " + text + " has more than " +
                                                    std::to_string(decimals) + " places.");
    case AmountFault::out_of_range:
      return unexpected(Slug::amount_out_of_range,
                        "--" + name + " " + text + " is out of range; write a positive amount.");
  }
  throw InternalError("unknown amount fault");
}

Result<FeeRule> fee_argument(const Arguments& arguments, int decimals) {
  FeeRule fee;
  // Zero is a fee too, though no amount.
  const std::string fixed = arguments.find("fee-fixed").value_or("0");
  if (fixed != "0") {
    COFFER_TRY(fee.fixed, places_argument(arguments, "fee-fixed", decimals));
  }
  if (arguments.has("fee-bps")) {
    COFFER_TRY(fee.basis_points, number_argument<int>(arguments, "fee-bps"));
  }
  return fee;
}

Result<TransactionTypes> types_argument(const Arguments& arguments, const std::string& name) {
  std::string_view rest = arguments.text(name);
  if (rest == "all") return kAllTransactionTypes;
  TransactionTypes types = 0;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const auto type = parse_term_in_any_case<TransactionType>(word);
    if (!type) {
      return unexpected(
          misshapen("--" + name + " \"" + std::string(word) + "\" is none of C2C, C2B, B2C, B2B."));
    }
    types |= 1U << static_cast<unsigned>(*type);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return types;
}

std::string shown_fee(const FeeRule& fee, int decimals) {
  std::string percent = std::to_string(fee.basis_points % 100);
  if (percent.size() < 2) percent.insert(0, "0");
  return fee.fixed.to_string(decimals) + " + " + std::to_string(fee.basis_points / 100) + "." +
         percent + " %";
}

Result<ConnectorTerms> connector_argument(Session& session, const Arguments& arguments,
                                          const std::string& name) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, name));
  return store::with_reader(session.app.database(),
                            [&](store::Connection& db) -> Result<ConnectorTerms> {
                              const auto row = store::find_connector_of_any(db, id);
                              if (row) return row->terms;
                              return unexpected(Slug::not_found, "There is no such connector.");
                            });
}

std::vector<Command> connector_commands() {
  std::vector<Command> out{
      add_command(),
      {.path = "connector list",
       .summary = "List the connectors",
       .run = list,
       .role = OperatorRole::viewer},
      {.path = "connector show",
       .summary = "Show a connector and what it requires",
       .run = show,
       .role = OperatorRole::viewer,
       .arguments = {kId},
       .hint = kHint},
      {.path = "connector pause",
       .summary = "Give no more quotes; accepted payments finish",
       .run = change_status<ConnectorStatus::paused>,
       .role = OperatorRole::operating,
       .arguments = {kId},
       .hint = kHint},
      {.path = "connector resume",
       .summary = "Give quotes again",
       .run = change_status<ConnectorStatus::active>,
       .role = OperatorRole::operating,
       .arguments = {kId},
       .hint = kHint},
      {.path = "connector set-rate",
       .summary = "Say what one unit sent gives",
       .run = set_rate,
       .arguments = {kId, positional("RATE", "As in 129.5")},
       .hint = kHint},
      {.path = "connector set-fee",
       .summary = "Set the connector's own fee",
       .run = set_fee,
       .arguments = {kId, kFixed, kBasisPoints},
       .hint = kHint},
      {.path = "connector limits",
       .summary = "Set the amounts it takes; a limit that is not given ends",
       .run = set_limits,
       .arguments = {kId, kMin, kMax, kDayLimit, kMonthLimit},
       .hint = kHint},
      {.path = "connector set-url",
       .summary = "Change the provider's URL",
       .run = set_endpoint,
       .arguments = {kId, positional("URL", "https://host/prefix"),
                     option("timeout-ms", "N", "How long a call may take; by default as it is"),
                     toggle("confirm", "Although payments are in progress at the old URL")},
       .hint = kHint,
       .details = kSetUrlDetails},
      {.path = "connector rotate-secret",
       .summary = "Give the provider a new secret",
       .run = rotate_secret,
       .arguments = {kId},
       .hint = kHint},
  };
  for (Command& command : requirement_commands()) out.push_back(std::move(command));
  return out;
}

}  // namespace coffer::cli
