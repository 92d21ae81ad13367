#include "cli/ledger/market.h"

#include <array>
#include <map>
#include <numeric>

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "domain/country.h"
#include "flows/ledger/market_changes.h"
#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"

namespace coffer::cli {
namespace {

constexpr std::array kEnvironments = {Environment::sandbox, Environment::production};

Problem misshapen(const std::string& what) { return Problem(Slug::malformed_request, what); }

Record market_view(store::Connection& db, const Asset& asset) {
  Record record = {{"code", asset.code.value()},
                   {"name", asset.name},
                   {"decimals", asset.decimals},
                   {"issuer", asset.issuer}};
  for (const Environment environment : kEnvironments) {
    const Amount pool = store::operator_balance(db, environment, AccountKind::liquidity, asset.key);
    record.emplace_back(std::string(name(environment)) + "Liquidity",
                        pool.to_string(asset.decimals));
  }
  return record;
}

Result<CommandResult> show_asset(Session& session, const AssetCode& code) {
  return session.app.flows().read([&](store::Connection& db) {
    const auto asset = store::find_asset(db, code);
    COFFER_CHECK(asset.has_value());
    return CommandResult{.records = {market_view(db, *asset)}};
  });
}

Result<CommandResult> add_asset(Session& session, const Arguments& arguments) {
  flows::NewAsset asset;
  asset.code = arguments.text("CODE");
  asset.name = arguments.text("name");
  asset.issuer = arguments.find("issuer").value_or("");
  COFFER_TRY(asset.decimals, number_argument(arguments, "decimals", 0, Amount::kScale));
  COFFER_TRY(const Asset added, flows::register_asset(session.app.flows(), asset));
  return show_asset(session, added.code);
}

Result<CommandResult> list_assets(Session&, store::Connection& db, const Arguments&) {
  return list_of({"code", "name", "decimals", "sandboxLiquidity", "productionLiquidity"},
                 store::list_assets(db),
                 [&](const Asset& asset) { return market_view(db, asset); });
}

Result<CommandResult> list_countries(Session&, store::Connection&, const Arguments&) {
  return list_of({}, countries(), [](const Country& country) -> Record {
    return {{"code", country.alpha2}, {"alpha3", country.alpha3}, {"name", country.name}};
  });
}

Result<CommandResult> list_currencies(Session&, store::Connection&, const Arguments&) {
  return list_of({}, currencies(), [](const Currency& currency) -> Record {
    return {{"code", currency.alpha3},
            {"name", currency.name},
            {"decimals", currency.minor_units ? std::optional(std::int64_t{*currency.minor_units})
                                              : std::nullopt}};
  });
}

Result<CommandResult> add_liquidity(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode code, asset_argument(arguments, "CODE"));
  COFFER_TRY(const Amount amount, amount_argument(session, arguments, "AMOUNT", code));
  COFFER_TRY_VOID(
      flows::add_liquidity(session.app.flows(), environment_argument(arguments), code, amount));
  return show_asset(session, code);
}

/// The exact value of a rate that has no decimal form with 9 places, such as `25/23`.
std::optional<std::string> fraction_of(const Rate& rate) {
  constexpr std::int64_t kNano = 1'000'000'000;
  const std::int64_t common = std::gcd(rate.numerator, rate.denominator);
  const std::int64_t denominator = rate.denominator / common;
  if (kNano % denominator == 0) return std::nullopt;
  return std::to_string(rate.numerator / common) + "/" + std::to_string(denominator);
}

Record market_view(Environment environment, const AssetCode& sell, const AssetCode& buy,
                   Rate rate) {
  return {{"environment", name(environment)},
          {"sellAssetCode", sell.value()},
          {"buyAssetCode", buy.value()},
          {"rate", rate},
          {"fraction", fraction_of(rate)}};
}

Result<CommandResult> set_rate(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode sell, asset_argument(arguments, "SELL"));
  COFFER_TRY(const AssetCode buy, asset_argument(arguments, "BUY"));
  COFFER_TRY(const Rate rate, rate_argument(arguments, "RATE"));
  const Environment environment = environment_argument(arguments);
  COFFER_TRY_VOID(flows::set_rate(session.app.flows(), environment, sell, buy, rate));
  return CommandResult{.records = {market_view(environment, sell, buy, rate)}};
}

Result<CommandResult> remove_rate(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode sell, asset_argument(arguments, "SELL"));
  COFFER_TRY(const AssetCode buy, asset_argument(arguments, "BUY"));
  const Environment environment = environment_argument(arguments);
  COFFER_TRY_VOID(flows::remove_rate(session.app.flows(), environment, sell, buy));
  return CommandResult{.records = {{{"environment", name(environment)},
                                    {"sellAssetCode", sell.value()},
                                    {"buyAssetCode", buy.value()},
                                    {"removed", true}}}};
}

Result<CommandResult> list_rates(Session&, store::Connection& db, const Arguments& arguments) {
  const auto only = arguments.find("environment");
  std::map<std::int64_t, AssetCode> codes;
  for (const Asset& asset : store::list_assets(db)) codes[asset.key] = asset.code;
  CommandResult result{.list = true};
  for (const Environment environment : kEnvironments) {
    if (only && *only != name(environment)) continue;
    for (const MarketRate& rate : store::list_rates(db, environment)) {
      result.records.push_back(
          market_view(environment, codes.at(rate.sell), codes.at(rate.buy), rate.rate));
    }
  }
  return result;
}

constexpr std::string_view kAssetHint = "List assets with coffer asset list";
constexpr std::string_view kRateHint = "List rates with coffer rate list";

std::vector<Command> asset_commands(const Argument& environment) {
  const Argument code =
      on_page(positional("CODE", "Asset code, such as USDC"), "Asset code", "USDC");
  return {
      for_administrators(
          "asset add", "Register an asset", "Add asset", "", add_asset,
          {code, required_option("name", "TEXT", "Name of the asset"),
           on_page(option("decimals", "N", "Decimal places, 0 to 7", "7"), "Decimal places", "7"),
           on_page(
               option("issuer", "G...", "Public key of the issuer; by default, coffer creates one"),
               "Public key of the issuer", "G...")}),
      for_viewers("asset list", "List assets and their liquidity", list_assets),
      for_viewers("country list", "List countries and their codes", list_countries),
      for_viewers("currency list", "List currencies and their codes", list_currencies),
      for_administrators(
          "asset liquidity", "Add liquidity to the market", "Add liquidity",
          "Swaps can use it immediately.", add_liquidity,
          {chosen_from("asset list", code),
           on_page(positional("AMOUNT", "Amount to add, such as 250000.50"), "Amount", "250000.50"),
           environment},
          {.hint = kAssetHint,
           .moves =
               [](Session&, const Arguments& arguments) {
                 return moved_amount(arguments, "CODE", "AMOUNT");
               }}),
  };
}

}  // namespace

Result<AssetCode> asset_argument(const Arguments& arguments, const std::string& name) {
  const auto code = AssetCode::parse(arguments.text(name));
  if (code) return *code;
  return unexpected(misshapen(name + " \"" + arguments.text(name) +
                              "\" is not an asset code. Use 1 to 12 letters or digits."));
}

Result<Asset> registered_asset(Session& session, const AssetCode& code) {
  return session.app.flows().read([&](store::Connection& db) -> Result<Asset> {
    auto found = store::find_asset(db, code);
    if (found) return *std::move(found);
    return unexpected(Slug::not_found, "Asset not found: " + code.value() + ".");
  });
}

Result<Rate> rate_argument(const Arguments& arguments, const std::string& name) {
  const auto rate = Rate::parse(arguments.text(name));
  if (rate) return *rate;
  return unexpected(
      misshapen(name + " \"" + arguments.text(name) +
                "\" is not a rate. Use a positive number with at most 9 decimal places."));
}

/// Shows the text without what people put between digits.
Problem not_an_amount(const std::string& label, const std::string& text) {
  std::string plain = text;
  std::erase_if(plain, [](char c) { return c == ',' || c == '\'' || c == ' ' || c == '_'; });
  const bool groups = parse_amount(plain, Amount::kScale).fault == AmountFault::none;
  const std::string advice =
      groups ? "Write " + plain + ", without thousands separators." : "Write it like 250.50.";
  Problem problem = misshapen(label + " \"" + text + "\" is not an amount. " + advice);
  problem.fields.push_back({label, advice});
  return problem;
}

Result<Amount> parse_amount_of(const std::string& label, const std::string& text, int decimals,
                               const std::string& limit) {
  const ParsedAmount parsed = parse_amount(text, decimals);
  switch (parsed.fault) {
    case AmountFault::none:
      return parsed.amount;
    case AmountFault::not_a_number:
      return unexpected(not_an_amount(label, text));
    case AmountFault::too_precise:
      return unexpected(Slug::amount_precision,
                        label + " " + text + " has too many decimal places" + limit);
    case AmountFault::out_of_range:
      return unexpected(
          Slug::amount_out_of_range,
          label + " " + text +
              " is out of range. Use an amount from the smallest unit to 922337203685.4775807.");
  }
  throw InternalError("unknown amount fault");
}

Result<Amount> amount_argument(Session& session, const Arguments& arguments,
                               const std::string& name, const AssetCode& code) {
  COFFER_TRY(const Asset asset, registered_asset(session, code));
  return parse_amount_of(name, arguments.text(name), asset.decimals,
                         "; " + code.value() + " has " + std::to_string(asset.decimals) + ".");
}

std::optional<MovedAmount> moved_amount(const Arguments& arguments, const std::string& asset,
                                        const std::string& amount) {
  const auto code = AssetCode::parse(arguments.text(asset));
  const ParsedAmount parsed = parse_amount(arguments.text(amount), Amount::kScale);
  if (!code || parsed.fault != AmountFault::none) return std::nullopt;
  return MovedAmount{*code, parsed.amount};
}

std::vector<Command> market_commands() {
  const Argument environment = environment_choice("Environment of the market");
  const Argument sell = identifying(
      "sellAssetCode",
      on_page(chosen_from("asset list", positional("SELL", "Asset sold")), "Asset sold", "USDC"));
  const Argument buy = identifying(
      "buyAssetCode", on_page(chosen_from("asset list", positional("BUY", "Asset bought")),
                              "Asset bought", "EURC"));
  std::vector<Command> out = asset_commands(environment);
  out.insert(
      out.end(),
      {for_administrators("rate set", "Set an exchange rate", "Set exchange rate",
                          "It applies to every swap that has not settled yet.", set_rate,
                          {sell, buy,
                           on_page(member_of("rate", positional("RATE",
                                                                "Amount bought per unit sold, such "
                                                                "as 0.9215")),
                                   "Exchange rate", "0.9215"),
                           identifying("environment", environment)},
                          {.hint = kAssetHint, .present = "rate list"}),
       for_viewers("rate list", "List exchange rates", list_rates,
                   {choice_of<Environment>("environment", "Filter by environment")}),
       for_administrators("rate remove", "Remove an exchange rate", "Remove exchange rate",
                          "Swaps without another path fail.", remove_rate, {sell, buy, environment},
                          {.hint = kRateHint})});
  return out;
}

}  // namespace coffer::cli
