#include "store/ledger/wallets.h"

#include <algorithm>

#include "api/ledger/statement_file.h"
#include "api/ledger/wallets.h"
#include "app/app.h"
#include "cli/choice.h"
#include "cli/command_groups.h"
#include "cli/ledger/market.h"
#include "cli/paging.h"
#include "flows/ledger/wallet_changes.h"
#include "store/ledger/catalog.h"
#include "store/ledger/statements.h"
#include "store/operations/noun_lists.h"

namespace coffer::cli {
namespace {

using store::Connection;

Record wallet_view(const store::WalletRow& row, std::int64_t tenant, Owners& owners) {
  const auto reason = [&](std::string WalletStatusReason::*member) {
    return row.reason ? std::optional((*row.reason).*member) : std::nullopt;
  };
  Record record{{"id", row.id},
                {"walletName", row.name},
                {"assetCode", row.asset_code.value()},
                {"status", name(row.status)},
                {"statusCode", reason(&WalletStatusReason::code)},
                {"statusMessage", reason(&WalletStatusReason::message)},
                {"ownAccount", row.own_account}};
  owners.put(record, tenant);
  record.emplace_back("accountNumber", row.account_number);
  record.emplace_back("publicKey", row.public_key);
  record.emplace_back("createdAt", row.created_at);
  record.emplace_back("updatedAt", row.updated_at);
  return record;
}

std::vector<Record> balances(const std::vector<store::WalletBalance>& lines) {
  std::vector<Record> out;
  for (const store::WalletBalance& line : lines) {
    const int decimals = line.asset.decimals;
    out.push_back({{"assetCode", line.asset.code.value()},
                   {"balance", line.balance.to_string(decimals)},
                   {"available", (line.balance - line.held).to_string(decimals)},
                   {"held", line.held.to_string(decimals)}});
  }
  return out;
}

/// The data that the reviewer checks.
std::vector<Record> details(const std::optional<Metadata>& metadata) {
  std::vector<Record> out;
  if (!metadata) return out;
  put_detail(out, "entityType", std::string(name(entity_type(*metadata))));
  const auto put = [&](const TextFact& fact, const std::string& value) {
    put_detail(out, fact.name, value);
  };
  std::visit([&](const auto& noun) { each_text(noun, put); }, *metadata);
  return out;
}

/// A wallet with its balances and the data for its review.
Record whole_wallet(Connection& db, const store::WalletRow& wallet, const Tenant& tenant) {
  Owners owners(db);
  Record record = wallet_view(wallet, tenant.key, owners);
  record.emplace_back("balances", balances(store::balances_of(db, wallet.key)));
  record.emplace_back("details", details(wallet.metadata));
  return record;
}

Result<CommandResult> list_wallets(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  store::WalletsWanted wanted;
  COFFER_TRY(wanted.tenants, owners_argument(db, arguments));
  wanted.status = optional_term<WalletStatus>(arguments, "status");
  wanted.text = arguments.find("text");
  wanted.oldest_first = arguments.text("order") == "oldest";
  Owners owners(db);
  return page_of(
      {"id", "walletName", "balance", "assetCode", "status", "ownAccount", "environment",
       "association"},
      store::newest_wallets(db, wanted, at), [&](const auto& listed) {
        Record record = wallet_view(listed.row, listed.tenant, owners);
        const auto held = store::balances_of(db, listed.row.key);
        const auto own = std::ranges::find(held, listed.row.asset_code,
                                           [](const auto& line) { return line.asset.code; });
        record.insert(
            record.begin() + 2,
            Field("balance", own == held.end()
                                 ? std::nullopt
                                 : std::optional(own->balance.to_string(own->asset.decimals))));
        record.emplace_back("balances", balances(held));
        return record;
      });
}

struct FoundWallet {
  store::WalletRow row;
  Tenant tenant;
};

Result<FoundWallet> required_wallet(Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<WalletId>(arguments, "ID"));
  COFFER_TRY(const Tenant tenant, existing(store::tenant_of_wallet(db, id), "wallet"));
  return FoundWallet{*store::find_wallet(db, tenant, id), tenant};
}

Result<CommandResult> show_wallet(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto found, required_wallet(db, arguments));
  return CommandResult{.records = {whole_wallet(db, found.row, found.tenant)}};
}

Record wallet_view(const StatementLine& line, const Asset& asset) {
  return {{"rowId", line.row_id},
          {"at", line.at},
          {"direction", line.amount.is_negative() ? "debit" : "credit"},
          {"amount", line.amount.to_string(asset.decimals)},
          {"assetCode", asset.code.value()},
          {"runningBalance", line.running_balance.to_string(asset.decimals)},
          {"description", line.description},
          {"reference", line.reference},
          {"counterparty", line.counterparty},
          {"transactionRecordId", line.payment},
          {"metadata", line.metadata}};
}

Result<Asset> statement_asset(Connection& db, const Arguments& arguments,
                              const store::WalletRow& wallet) {
  if (!arguments.has("asset")) return *store::find_asset(db, wallet.asset);
  COFFER_TRY(const AssetCode code, asset_argument(arguments, "asset"));
  return existing(store::find_asset(db, code), "asset");
}

Result<store::EntryRange> statement_range(Connection& db, const Arguments& arguments,
                                          const store::PageAt& at) {
  COFFER_TRY(const auto from, optional_time(arguments, "from"));
  COFFER_TRY(const auto to, optional_time(arguments, "to"));
  constexpr std::int64_t kEverMs = std::int64_t{1} << 60;
  store::EntryRange range =
      store::entries_between(db, from.value_or(Timestamp{}), to.value_or(Timestamp{kEverMs}));
  if (at.key) range.to = std::min(range.to, *at.key);
  return range;
}

Result<AccountKey> statement_account(Connection& db, const FoundWallet& found, const Asset& asset) {
  const auto account = store::find_trustline(db, found.row.key, asset.key);
  if (account) return *account;
  return unexpected(Slug::trustline_missing, "The wallet does not hold this asset.");
}

Result<CommandResult> statement(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  COFFER_TRY(const auto found, required_wallet(db, arguments));
  COFFER_TRY(const Asset asset, statement_asset(db, arguments, found.row));
  COFFER_TRY(const AccountKey account, statement_account(db, found, asset));
  COFFER_TRY(const auto range, statement_range(db, arguments, at));
  const auto page =
      store::page_of(store::newest_statement_lines(db, found.tenant, account, range, at.limit + 1),
                     at, [](const StatementLine& line) { return line.entry; });
  return page_of({"at", "amount", "assetCode", "runningBalance", "counterparty", "reference",
                  "description", "transactionRecordId"},
                 page, [&](const StatementLine& line) { return wallet_view(line, asset); });
}

Result<CommandResult> export_statement(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto from, optional_time(arguments, "from"));
  COFFER_TRY(const auto to, optional_time(arguments, "to"));
  COFFER_TRY(
      const api::Statement wanted,
      session.app.flows().read([&](Connection& db) -> Result<api::Statement> {
        COFFER_TRY(const auto found, required_wallet(db, arguments));
        COFFER_TRY(const Asset asset, statement_asset(db, arguments, found.row));
        COFFER_TRY(const AccountKey account, statement_account(db, found, asset));
        // The end is exclusive, so it is one millisecond later than the newest entry.
        const Timestamp now = session.app.queue().now().plus_ms(1);
        return api::Statement{
            found.tenant,    found.row.id, asset, account, from.value_or(found.row.created_at),
            to.value_or(now)};
      }));
  if (wanted.end < wanted.start) {
    return unexpected(Slug::malformed_request,
                      "--to is before --from. Choose an end that is after the start.");
  }
  const auto format = api::parse_statement_format(arguments.text("format"));
  COFFER_TRY(auto file, api::statement_file(session.app.flows(), wanted, *format));
  Record record{{"file", file.name}};
  return CommandResult{
      .records = {std::move(record)},
      .file =
          ProducedFile{file.name, std::string(file.content_type), true, {}, std::move(file.write)}};
}

/// The names in api::kStatementFormats; a test exports each of them.
constexpr std::string_view kFormatWords = "csv|camt.053|ndjson|json";

/// Applies `change` to the wallet with this ID, and shows the result.
Result<CommandResult> change_wallet(
    Session& session, const Arguments& arguments,
    const std::function<Result<store::WalletRow>(const Tenant&, WalletId)>& change) {
  COFFER_TRY(const auto id, id_argument<WalletId>(arguments, "ID"));
  COFFER_TRY(const Tenant tenant, session.app.flows().read([&](Connection& db) {
    return existing(store::tenant_of_wallet(db, id), "wallet");
  }));
  COFFER_TRY(const auto row, change(tenant, id));
  return session.app.flows().read(
      [&](Connection& db) { return CommandResult{.records = {whole_wallet(db, row, tenant)}}; });
}

constexpr std::string_view kOwn = "own";

/// The arguments as the body of a request of the API.
http::JsonValue body_of(const Arguments& arguments) {
  using http::JsonValue;
  const std::string& holder = arguments.text("holder");
  JsonValue::Object body;
  arguments.put(body, "walletName", "NAME");
  arguments.put(body, "assetCode", "asset");
  body.emplace_back("ownAccount", JsonValue(JsonValue::Data(holder == kOwn)));
  if (holder != kOwn) {
    const bool is_person = holder == "person";
    JsonValue::Object type{
        {"entityType", JsonValue(JsonValue::Data(std::string(
                           name(is_person ? EntityType::person : EntityType::business))))}};
    body.emplace_back("metadata", is_person
                                      ? arguments.texts_of<PersonMetadata>(std::move(type))
                                      : arguments.texts_of<BusinessMetadata>(std::move(type)));
  }
  return JsonValue(JsonValue::Data(std::move(body)));
}

Result<CommandResult> create(Session& session, const Arguments& arguments) {
  const flows::Context& context = session.app.flows();
  COFFER_TRY(const auto owner, context.read([&](Connection& db) {
    return chosen_tenant(db, arguments, environment_argument(arguments));
  }));
  const http::JsonValue body = body_of(arguments);
  api::Fields fields(body);
  const auto wanted = api::read_new_wallet(fields, context.clock.now());
  COFFER_TRY_VOID(fields.check());
  const bool preview = arguments.has("preview");
  COFFER_TRY(const auto row, flows::register_wallet(context, owner.tenant, wanted, preview));
  return context.read([&](Connection& db) {
    if (!preview) return CommandResult{.records = {whole_wallet(db, row, owner.tenant)}};
    return previewed({{"walletName", row.name},
                      {"assetCode", row.asset_code.value()},
                      {"status", name(row.status)},
                      {"environment", name(owner.tenant.environment)},
                      {"association", owner.association_name},
                      {"details", details(row.metadata)}});
  });
}

std::vector<Argument> create_arguments() {
  std::vector<Argument> out{
      on_page(member_of("walletName", positional("NAME", "Name of the wallet")), "Name",
              "Treasury"),
      on_page(member_of("assetCode", required_option("asset", "CODE", "First asset of the wallet")),
              "Asset", "USDC"),
      needed_on_page(on_page(
          option("association", "ID", "Association of the wallet; required if there are several"),
          "Customer")),
      environment_choice("Environment of the wallet"),
      on_page(chosen_among({}, "The customer|A person|A business",
                           choice("holder", "own|person|business", "Whose money it holds", kOwn)),
              "Holder")};
  add_texts<PersonMetadata>(out, "holder=person");
  add_texts<BusinessMetadata>(out, "holder=business");
  out.push_back(toggle("preview", "Check the data and store nothing"));
  return out;
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
    "owner. Each transaction ID is credited once. Reusing it with other details is rejected.";

std::vector<Command> read_commands(const Argument& id) {
  const Argument asset =
      option("asset", "CODE", "Asset of the statement; by default the asset of the wallet");
  return {
      for_viewers(
          "wallet list", "List wallets of all associations, newest first", list_wallets,
          joined({choice_of<WalletStatus>("status", "Filter by status"),
                  choice("order", "newest|oldest", "Which comes first", "newest"),
                  option("text", "TEXT", "ID, account number, public key, or part of the name")},
                 owner_arguments(), page_arguments())),
      for_viewers("wallet show", "Show a wallet with its balances and review data", show_wallet,
                  {id}),
      for_viewers("wallet statement", "Show the statement of a wallet, newest first", statement,
                  joined({id, asset, option("from", "TIME", "Start of the period"),
                          option("to", "TIME", "End of the period")},
                         page_arguments())),
      {.path = "statement export",
       .summary = "Export the statement of a wallet as a file, oldest entry first",
       .label = "Export statement",
       .run = export_statement,
       .role = OperatorRole::viewer,
       .arguments = {id,
                     chosen_among({}, "CSV|ISO 20022 (camt.053)|JSON, one line per entry|JSON",
                                  choice("format", kFormatWords, "Format of the export", "csv")),
                     asset,
                     option("from", "TIME",
                            "Start of the period; by default the creation of the wallet"),
                     option("to", "TIME", "End of the period, exclusive; by default now")},
       .prints_data = false,
       .details =
           "Writes the file to standard output. The formats are those of the API: camt.053 is "
           "the statement of\nISO 20022 (camt.053.001.08), json is one document."}};
}

}  // namespace

std::vector<Command> wallet_commands() {
  const Argument id =
      positional_id("ID", "ID of the wallet", "List wallets with coffer wallet list");
  std::vector<Command> out = read_commands(id);
  const std::vector<Command> changes{
      for_operators("wallet create", "Create a wallet", "Create wallet",
                    "A wallet of the customer can transact immediately. One of another person or "
                    "business waits for its review.",
                    create, create_arguments(),
                    {.hint = "List assets with coffer asset list and associations with coffer "
                             "association list",
                     .sensitive = true,
                     .preview = "preview"}),
      for_operators("wallet verify", "Approve a pending wallet", "Approve wallet",
                    "It can transact immediately.", verify, {id}),
      for_operators(
          "wallet reject", "Reject a pending wallet", "Reject wallet",
          "It cannot transact. Its owner sees the code and the message.", reject,
          {id,
           on_page(required_option("code", "WORD", "Reason code, returned as statusReason.code"),
                   "Reason code", "document_unreadable"),
           on_page(required_option("message", "TEXT",
                                   "Message to the owner, returned as statusReason.message"),
                   "Message to the owner")}),
      for_administrators(
          "wallet fund", "Fund a wallet from the issuance account of an asset", "Fund wallet", "",
          fund,
          {id,
           on_page(required_option("asset", "CODE", "Asset for which the wallet has a trustline"),
                   "Asset", "USDC"),
           on_page(required_option("amount", "AMOUNT", "Amount to credit, such as 1000.50"),
                   "Amount", "1000.50"),
           option("reason", "TEXT", "Reason for the audit log; required in production"),
           on_page(option("transaction-id", "ID",
                          "Your ID for this credit, which is applied once; required in production"),
                   "Your transaction ID", "BANK-2026-11-20-881"),
           option("description", "TEXT", "Description on the statement of the wallet")},
          {.hint = "List wallets with coffer wallet list and assets with coffer asset list",
           .details = kFundDetails,
           .moves =
               [](Session&, const Arguments& arguments) {
                 return moved_amount(arguments, "asset", "amount");
               }}),
  };
  out.insert(out.end(), changes.begin(), changes.end());
  return out;
}

}  // namespace coffer::cli
