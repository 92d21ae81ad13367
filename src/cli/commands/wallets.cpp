#include "cli/commands/wallets.h"

#include "app.h"
#include "cli/commands/market.h"
#include "cli/operating/wallets.h"
#include "flows/wallet_changes.h"
#include "store/wallets.h"

namespace coffer::cli {
namespace {

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
    return Answer{.records = {whole_wallet(db, row, tenant)}};
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
  std::vector<Command> out = wallet_read_commands();
  const std::vector<Command> changes{
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
  out.insert(out.end(), changes.begin(), changes.end());
  return out;
}

}  // namespace coffer::cli
