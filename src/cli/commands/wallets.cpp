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

/// The audit log keeps it with the command.
Result<void> check_reason(const Tenant& tenant, const Arguments& arguments) {
  if (tenant.environment == Environment::sandbox || arguments.has("reason")) return {};
  return unexpected(Problem(Slug::validation_failed, "A production wallet is funded with a reason.",
                            {{"reason", "is required for a production wallet"}}));
}

Result<Answer> fund(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode asset, asset_argument(arguments, "asset"));
  COFFER_TRY(const Amount amount, amount_argument(session, arguments, "amount", asset));
  bool replayed = false;
  COFFER_TRY(
      auto answer,
      change_wallet(
          session, arguments, [&](const Tenant& tenant, WalletId id) -> Result<store::WalletRow> {
            COFFER_TRY_VOID(check_reason(tenant, arguments));
            COFFER_TRY(auto funded,
                       flows::fund_wallet(session.app.flows(), tenant, id,
                                          {asset, amount, arguments.find("transaction-id"),
                                           arguments.find("description")}));
            replayed = funded.replayed;
            return std::move(funded.wallet);
          }));
  answer.records.front().emplace_back("isIdempotent", replayed);
  if (replayed) {
    answer.note = "The wallet was funded under this transaction id before.";
    answer.unchanged = "funded before under this transaction id";
  }
  return answer;
}

constexpr std::string_view kFundDetails =
    "The command issues new value: fund a production wallet only with money that you hold for its "
    "owner. The same --transaction-id again changes nothing; with other content it is refused.";
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
       .summary = "Credit a wallet from the issuance account of an asset",
       .run = fund,
       .arguments = {id, required_option("asset", "CODE", "The asset; the wallet has a trustline"),
                     required_option("amount", "AMOUNT", "As in 1000.50"),
                     option("reason", "TEXT", "For the audit log; required in production"),
                     option("transaction-id", "ID",
                            "Your own id; repeated, it credits nothing. Required in production"),
                     option("description", "TEXT", "Shown on the statement of the wallet")},
       .hint = "coffer wallet list and coffer asset list show what there is",
       .details = kFundDetails},
  };
  out.insert(out.end(), changes.begin(), changes.end());
  return out;
}

}  // namespace coffer::cli
