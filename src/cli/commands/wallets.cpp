#include "cli/commands/wallets.h"

#include "app.h"
#include "cli/commands/market.h"
#include "flows/wallet_changes.h"
#include "store/journal.h"
#include "store/wallets.h"

namespace coffer::cli {
namespace {

std::vector<Record> balances(store::Connection& db, std::int64_t wallet) {
  std::vector<Record> out;
  for (const store::WalletBalance& line : store::balances_of(db, wallet)) {
    const int decimals = line.asset.decimals;
    out.push_back({{"assetCode", line.asset.code.value()},
                   {"balance", line.balance.to_string(decimals)},
                   {"available", (line.balance - line.held).to_string(decimals)}});
  }
  return out;
}

Record view(const store::WalletRow& row, const Tenant& tenant) {
  const auto reason = [&](std::string WalletStatusReason::*member) {
    return row.reason ? std::optional((*row.reason).*member) : std::nullopt;
  };
  return {{"id", row.id.to_string()},
          {"walletName", row.name},
          {"assetCode", row.asset_code.value()},
          {"status", name(row.status)},
          {"statusCode", reason(&WalletStatusReason::code)},
          {"statusMessage", reason(&WalletStatusReason::message)},
          {"ownAccount", row.own_account},
          {"environment", name(tenant.environment)},
          {"associationId", tenant.association.to_string()},
          {"accountNumber", row.account_number},
          {"publicKey", row.public_key},
          {"createdAt", row.created_at.to_string()},
          {"updatedAt", row.updated_at.to_string()}};
}

Result<Answer> list(Session& session, const Arguments& arguments) {
  const auto wanted = arguments.find("status");
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Answer> {
    Answer answer{.list = true,
                  .columns = {"id", "walletName", "assetCode", "status", "ownAccount",
                              "environment", "associationId"}};
    for (const auto& [row, tenant] : store::list_wallets_of_all(db)) {
      if (wanted && *wanted != name(row.status)) continue;
      answer.records.push_back(view(row, tenant));
    }
    return answer;
  });
}

/// Does `change` to the wallet that ID names and shows it as it is then.
Result<Answer> change_wallet(
    Session& session, const Arguments& arguments,
    const std::function<Result<store::WalletRow>(const Tenant&, WalletId)>& change) {
  COFFER_TRY(const auto id, id_argument<WalletId>(arguments, "ID"));
  store::Database& database = session.app.database();
  COFFER_TRY(const Tenant tenant,
             store::with_reader(database, [&](store::Connection& db) -> Result<Tenant> {
               auto found = store::tenant_of_wallet(db, id);
               if (found) return *std::move(found);
               return unexpected(Slug::not_found, "There is no such wallet.");
             }));
  COFFER_TRY(const auto row, change(tenant, id));
  return store::with_reader(database, [&](store::Connection& db) -> Result<Answer> {
    Record record = view(row, tenant);
    record.emplace_back("balances", balances(db, row.key));
    return Answer{.records = {std::move(record)}};
  });
}

Result<Answer> verify(Session& session, const Arguments& arguments) {
  return change_wallet(session, arguments, [&](const Tenant& tenant, WalletId id) {
    return flows::review_wallet(session.app.flows(), tenant, id, std::nullopt);
  });
}

Result<Answer> reject(Session& session, const Arguments& arguments) {
  const WalletStatusReason reason{arguments.text("code"), arguments.text("message")};
  return change_wallet(session, arguments, [&](const Tenant& tenant, WalletId id) {
    return flows::review_wallet(session.app.flows(), tenant, id, reason);
  });
}

Result<Answer> fund(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode asset, asset_argument(arguments, "asset"));
  COFFER_TRY(const Amount amount, amount_argument(session, arguments, "amount", asset));
  return change_wallet(session, arguments, [&](const Tenant& tenant, WalletId id) {
    return flows::fund_wallet(session.app.flows(), tenant, id, asset, amount);
  });
}

constexpr std::string_view kHint = "coffer wallet list shows what there is";

}  // namespace

std::vector<Command> wallet_commands() {
  const Argument id = positional("ID", "Its id");
  return {
      {.path = "wallet list",
       .summary = "List the wallets of all associations, those under review first",
       .run = list,
       .role = OperatorRole::viewer,
       .arguments = {choice("status", "Pending|Verified|Rejected", "Only these")}},
      {.path = "wallet verify",
       .summary = "End the review of a Pending wallet well: it can transact",
       .run = verify,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kHint},
      {.path = "wallet reject",
       .summary = "End the review of a Pending wallet badly",
       .run = reject,
       .role = OperatorRole::operating,
       .arguments = {id, required_option("code", "WORD", "Shown as statusReason.code"),
                     required_option("message", "TEXT", "Shown as statusReason.message")},
       .hint = kHint},
      {.path = "wallet fund",
       .summary = "Credit a sandbox wallet",
       .run = fund,
       .role = OperatorRole::operating,
       .arguments = {id, required_option("asset", "CODE", "The asset; the wallet has a trustline"),
                     required_option("amount", "AMOUNT", "As in 1000.50")},
       .hint = kHint},
  };
}

}  // namespace coffer::cli
