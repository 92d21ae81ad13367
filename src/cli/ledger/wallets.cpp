#include "store/ledger/wallets.h"

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/ledger/market.h"
#include "cli/ledger/wallet_reads.h"
#include "flows/ledger/wallet_changes.h"

namespace coffer::cli {
namespace {

/// Applies `change` to the wallet with this ID, and shows the result.
Result<CommandResult> change_wallet(
    Session& session, const Arguments& arguments,
    const std::function<Result<store::WalletRow>(const Tenant&, WalletId)>& change) {
  COFFER_TRY(const auto id, id_argument<WalletId>(arguments, "ID"));
  COFFER_TRY(const Tenant tenant, session.app.flows().read([&](store::Connection& db) {
    return existing(store::tenant_of_wallet(db, id), "wallet");
  }));
  COFFER_TRY(const auto row, change(tenant, id));
  return session.app.flows().read([&](store::Connection& db) {
    return CommandResult{.records = {whole_wallet(db, row, tenant)}};
  });
}

Result<CommandResult> verify(Session& session, const Arguments& arguments) {
  return change_wallet(session, arguments, [&](const Tenant& tenant, WalletId id) {
    return flows::review_wallet(session.app.flows(), tenant, id, std::nullopt);
  });
}

Result<CommandResult> reject(Session& session, const Arguments& arguments) {
  const WalletStatusReason reason{arguments.text("code"), arguments.text("message")};
  return change_wallet(session, arguments, [&](const Tenant& tenant, WalletId id) {
    return flows::review_wallet(session.app.flows(), tenant, id, reason);
  });
}

/// Requires a reason in production, so that the audit log contains one for each credit.
Result<void> check_reason(const Tenant& tenant, const Arguments& arguments) {
  if (tenant.environment == Environment::sandbox || arguments.has("reason")) return {};
  return unexpected(Problem(Slug::validation_failed,
                            "Funding a production wallet requires a reason. Add --reason.",
                            {{"reason", "is required for a production wallet"}}));
}

Result<CommandResult> fund(Session& session, const Arguments& arguments) {
  COFFER_TRY(const AssetCode asset, asset_argument(arguments, "asset"));
  COFFER_TRY(const Amount amount, amount_argument(session, arguments, "amount", asset));
  bool replayed = false;
  COFFER_TRY(
      auto result,
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
  result.records.front().emplace_back("isIdempotent", replayed);
  if (replayed) {
    result.note = "This transaction ID has already funded the wallet. Nothing was credited.";
    result.unchanged = "already funded under this transaction ID";
  }
  return result;
}

constexpr std::string_view kFundDetails =
    "The command issues new value. Fund a production wallet only with money that you hold for its "
    "owner. Repeating a --transaction-id credits nothing; with different content, it is an error.";
constexpr std::string_view kWalletHint = "List wallets with coffer wallet list";

}  // namespace

std::vector<Command> wallet_commands() {
  const Argument id = positional("ID", "ID of the wallet");
  std::vector<Command> out = wallet_read_commands();
  const std::vector<Command> changes{
      {.path = "wallet verify",
       .summary = "Approve a pending wallet",
       .label = "Approve wallet",
       .consequence = "It can transact immediately.",
       .run = verify,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kWalletHint},
      {.path = "wallet reject",
       .summary = "Reject a pending wallet",
       .label = "Reject wallet",
       .consequence = "It cannot transact. Its owner sees the code and the message.",
       .run = reject,
       .role = OperatorRole::operating,
       .arguments =
           {id,
            on_page(required_option("code", "WORD", "Reason code, returned as statusReason.code"),
                    "Reason code", "document_unreadable"),
            on_page(required_option("message", "TEXT",
                                    "Message to the owner, returned as statusReason.message"),
                    "Message to the owner")},
       .hint = kWalletHint},
      {.path = "wallet fund",
       .summary = "Fund a wallet from the issuance account of an asset",
       .label = "Fund wallet",
       .run = fund,
       .arguments =
           {id,
            on_page(required_option("asset", "CODE", "Asset for which the wallet has a trustline"),
                    "Asset", "USDC"),
            on_page(required_option("amount", "AMOUNT", "Amount to credit, such as 1000.50"),
                    "Amount", "1000.50"),
            option("reason", "TEXT", "Reason for the audit log; required in production"),
            on_page(
                option("transaction-id", "ID",
                       "Your ID for this credit, which is applied once; required in production"),
                "Your transaction ID", "BANK-2026-11-20-881"),
            option("description", "TEXT", "Description on the statement of the wallet")},
       .hint = "List wallets with coffer wallet list and assets with coffer asset list",
       .details = kFundDetails,
       .moves =
           [](Session&, const Arguments& arguments) {
             return moved_amount(arguments, "asset", "amount");
           }},
  };
  out.insert(out.end(), changes.begin(), changes.end());
  return out;
}

}  // namespace coffer::cli
