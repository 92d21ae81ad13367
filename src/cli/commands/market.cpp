#include "cli/commands/market.h"

#include <array>
#include <map>

#include "app.h"
#include "flows/market_changes.h"
#include "store/catalog.h"
#include "store/journal.h"

namespace coffer::cli {
namespace {

constexpr std::array kEnvironments = {Environment::sandbox, Environment::production};

Problem misshapen(const std::string& what) { return Problem(Slug::malformed_request, what); }

Record view(store::Connection& db, const Asset& asset) {
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

Result<Answer> show_asset(Session& session, const AssetCode& code) {
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Answer> {
    const auto asset = store::find_asset(db, code);
    COFFER_CHECK(asset.has_value());
    return Answer{.records = {view(db, *asset)}};
  });
}

Result<Answer> add_asset(Session& session, const Arguments& arguments) {
  flows::NewAsset asset;
  asset.code = arguments.text("CODE");
  asset.name = arguments.text("name");
  asset.issuer = arguments.find("issuer").value_or("");
  COFFER_TRY(asset.decimals, number_argument(arguments, "decimals", 0, Amount::kScale));
  COFFER_TRY(const Asset added, flows::register_asset(session.app.flows(), asset));
  return show_asset(session, added.code);
}

Result<Answer> list_assets(Session& session, const Arguments&) {
  return store::with_reader(session.app.database(), [](store::Connection& db) -> Result<Answer> {
    Answer answer{
        .list = true,
        .columns = {"code", "name", "decimals", "sandboxLiquidity", "productionLiquidity"}};
    for (const Asset& asset : store::list_assets(db)) {
      answer.records.push_back(view(db, asset));
    }
    return answer;
  });
}

Result<Answer> add_liquidity(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode code, asset_argument(arguments, "CODE"));
  COFFER_TRY(const Amount amount, amount_argument(session, arguments, "AMOUNT", code));
  COFFER_TRY_VOID(
      flows::add_liquidity(session.app.flows(), environment_argument(arguments), code, amount));
  return show_asset(session, code);
}

Record view(Environment environment, const AssetCode& sell, const AssetCode& buy, Rate rate) {
  return {{"environment", name(environment)},
          {"sellAssetCode", sell.value()},
          {"buyAssetCode", buy.value()},
          {"rate", rate.to_string()}};
}

Result<Answer> set_rate(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode sell, asset_argument(arguments, "SELL"));
  COFFER_TRY(const AssetCode buy, asset_argument(arguments, "BUY"));
  const auto rate = Rate::parse(arguments.text("RATE"));
  if (!rate) {
    return unexpected(misshapen("RATE \"" + arguments.text("RATE") +
                                "\" is none; write a positive number of at most 9 places."));
  }
  const Environment environment = environment_argument(arguments);
  COFFER_TRY_VOID(flows::set_rate(session.app.flows(), environment, sell, buy, *rate));
  return Answer{.records = {view(environment, sell, buy, *rate)}};
}

Result<Answer> remove_rate(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode sell, asset_argument(arguments, "SELL"));
  COFFER_TRY(const AssetCode buy, asset_argument(arguments, "BUY"));
  const Environment environment = environment_argument(arguments);
  COFFER_TRY_VOID(flows::remove_rate(session.app.flows(), environment, sell, buy));
  return Answer{.records = {{{"environment", name(environment)},
                             {"sellAssetCode", sell.value()},
                             {"buyAssetCode", buy.value()},
                             {"removed", true}}}};
}

Result<Answer> list_rates(Session& session, const Arguments& arguments) {
  const auto only = arguments.find("environment");
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Answer> {
    std::map<std::int64_t, AssetCode> codes;
    for (const Asset& asset : store::list_assets(db)) codes[asset.key] = asset.code;
    Answer answer{.list = true};
    for (const Environment environment : kEnvironments) {
      if (only && *only != name(environment)) continue;
      for (const MarketRate& rate : store::list_rates(db, environment)) {
        answer.records.push_back(
            view(environment, codes.at(rate.sell), codes.at(rate.buy), rate.rate));
      }
    }
    return answer;
  });
}

constexpr std::string_view kAssetHint = "coffer asset list shows what there is";
constexpr std::string_view kRateHint = "coffer rate list shows what there is";

std::vector<Command> asset_commands(const Argument& environment) {
  const Argument code = positional("CODE", "Its code, as in USDC");
  return {
      {.path = "asset add",
       .summary = "Register an asset",
       .run = add_asset,
       .arguments = {code, required_option("name", "TEXT", "Its name"),
                     option("decimals", "N", "Places of its amounts, 0 to 7", "7"),
                     option("issuer", "G...", "Key of its issuer; by default one is made")}},
      {.path = "asset list",
       .summary = "List the assets and their liquidity",
       .run = list_assets,
       .role = OperatorRole::viewer},
      {.path = "asset liquidity",
       .summary = "Add to what the market can pay out",
       .run = add_liquidity,
       .arguments = {code, positional("AMOUNT", "As in 250000.50"), environment},
       .hint = kAssetHint},
  };
}

}  // namespace

Result<AssetCode> asset_argument(const Arguments& arguments, const std::string& name) {
  const auto code = AssetCode::parse(arguments.text(name));
  if (code) return *code;
  return unexpected(misshapen(name + " \"" + arguments.text(name) +
                              "\" is no asset code; write 1 to 12 letters or digits."));
}

Result<Amount> amount_argument(Session& session, const Arguments& arguments,
                               const std::string& name, const AssetCode& code) {
  COFFER_TRY(
      const Asset asset,
      store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Asset> {
        auto found = store::find_asset(db, code);
        if (found) return *std::move(found);
        return unexpected(Slug::not_found, "There is no asset " + code.value() + ".");
      }));
  const std::string& text = arguments.text(name);
  const ParsedAmount parsed = parse_amount(text, asset.decimals);
  switch (parsed.fault) {
    case AmountFault::none:
      return parsed.amount;
    case AmountFault::not_a_number:
      return unexpected(misshapen(name + " \"" + text + "\" is no amount; write it as in 250.50."));
    case AmountFault::too_precise:
      return unexpected(Slug::amount_precision, name + " " + text + " has too many places; " +
                                                    code.value() + " has " +
                                                    std::to_string(asset.decimals) + ".");
    case AmountFault::out_of_range:
      return unexpected(Slug::amount_out_of_range,
                        name + " " + text + " is out of range; write a positive amount.");
  }
  throw InternalError("unknown amount fault");
}

std::vector<Command> market_commands() {
  const Argument environment =
      choice("environment", "sandbox|production", "Whose market", "sandbox");
  const Argument sell = positional("SELL", "The asset that is sold");
  const Argument buy = positional("BUY", "The asset that is bought");
  std::vector<Command> out = asset_commands(environment);
  out.insert(out.end(),
             {{.path = "rate set",
               .summary = "Say what one unit of an asset gives of another",
               .run = set_rate,
               .arguments = {sell, buy, positional("RATE", "As in 0.9215"), environment},
               .hint = kAssetHint},
              {.path = "rate list",
               .summary = "List the rates",
               .run = list_rates,
               .role = OperatorRole::viewer,
               .arguments = {choice("environment", "sandbox|production", "Only this market")}},
              {.path = "rate remove",
               .summary = "Take a rate out of the market",
               .run = remove_rate,
               .arguments = {sell, buy, environment},
               .hint = kRateHint}});
  return out;
}

}  // namespace coffer::cli
