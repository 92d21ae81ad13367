// coffer payment bulk: submits the rows of a CSV file as payments of an application
// (docs/operating.md#bulk-payments). A row is identified by its transactionId, so repeating an
// interrupted run completes it.
#include <map>

#include "app/app.h"
#include "base/digest.h"
#include "base/platform/exit_code.h"
#include "base/text/join.h"
#include "cli/paths.h"
#include "cli/payments/payments.h"
#include "cli/progress.h"
#include "flows/payments/make_quote.h"
#include "flows/payments/submit_payment.h"
#include "store/identity/tenants.h"
#include "store/ledger/wallets.h"

namespace coffer::cli {
namespace {

/// The application with the same rights as an authenticated API caller.
Result<Caller> caller_argument(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "application"));
  COFFER_TRY(const auto row, session.app.flows().read([&](store::Connection& db) {
    return existing(store::find_application(db, id), "application");
  }));
  if (!row.tenant) {
    return unexpected(Slug::conflict,
                      "The application belongs to no association, so it cannot submit payments. "
                      "Choose another one.");
  }
  if (row.suspended)
    return unexpected(Slug::conflict,
                      "The application is suspended. Resume it with coffer application resume, or "
                      "choose another one.");
  Caller caller{row.id, row.key, *row.tenant, *row.association_status, row.scopes};
  COFFER_TRY_VOID(require_scope(caller, Scope::payments_write));
  return caller;
}

/// The debit of a row; for an off-ramp, according to its quote.
struct Debit {
  Amount total;
  std::string asset;
  int decimals = Amount::kScale;
  std::optional<Amount> fee;
  std::optional<std::string> receives;
};

/// The sum that the rows of a preview debit from a wallet.
struct Taken {
  Amount sum;
  int decimals = Amount::kScale;
};

constexpr std::string_view kExists = "exists";

struct RowResult {
  std::string_view status;
  std::optional<PaymentId> id;
  std::optional<std::string> payment_status = {};  // of an existing payment
};

class BulkRun {
 public:
  BulkRun(Session& session, const Caller& caller, const std::string& csv, bool preview)
      : flows_(session.app.flows()), caller_(caller), preview_(preview) {
    request_prefix_ = "bulk-" + to_hex(sha256(csv)).substr(0, 16) + "-";
  }

  /// Adds the result of the row; a row that fails does not affect the others.
  void carry_out(const BulkRow& row) {
    Debit debit{row.amount.is_zero() ? row.request.only().amount : row.amount,
                row.request.only().sending_asset.value(),
                Amount::kScale,
                {},
                {}};
    const auto done = submit(row, debit);
    Record record{{"line", static_cast<std::int64_t>(row.line)},
                  {"transactionId", row.request.transaction_id},
                  {"type", name(row.request.type)},
                  {"status", done ? done->status : "failed"},
                  {"total", debit.total.to_string(debit.decimals)},
                  {"assetCode", debit.asset},
                  {"fee", shown(debit.fee, debit.decimals)},
                  {"receives", debit.receives}};
    record.emplace_back("paymentStatus", done ? done->payment_status : std::nullopt);
    record.emplace_back("transactionRecordId", done ? done->id : std::nullopt);
    record.emplace_back("problem", done ? std::nullopt : std::optional(sentence(done.error())));
    result_.records.push_back(std::move(record));
    ++counts_[done ? done->status : "failed"];
  }

  CommandResult finish(std::size_t rows) {
    result_.list = true;
    result_.columns = {"line",      "transactionId", "status",        "total",  "fee",
                       "assetCode", "receives",      "paymentStatus", "problem"};
    std::string note = join(counts_, ", ", [](const auto& one) {
      return std::to_string(one.second) + " " + std::string(one.first);
    });
    note += " of " + std::to_string(rows) + (rows == 1 ? " row." : " rows.");
    for (const auto& [from, taken] : taken_) {
      note += " Wallet " + from.first + " needs " + taken.sum.to_string(taken.decimals) + " " +
              from.second + ".";
    }
    if (preview_)
      note += " This was a preview: nothing was submitted, and limits were not checked.";
    if (counts_.contains("failed")) {
      note +=
          " Correct the failed rows and repeat the command. It skips rows that already exist as "
          "payments.";
      result_.exit_code = exit_code::kFailed;
    }
    result_.note = std::move(note);
    return std::move(result_);
  }

 private:
  Result<RowResult> submit(const BulkRow& row, Debit& debit) {
    COFFER_TRY(const auto stored, find(row));
    if (stored) return compare(row, *stored, debit);
    auto submitted = submit_new(row, debit);
    if (submitted && submitted->status != kExists) return submitted;
    // A concurrent run may have submitted the row meanwhile, with its own quote.
    COFFER_TRY(const auto meanwhile, find(row));
    return meanwhile ? compare(row, *meanwhile, debit) : submitted;
  }

  Result<std::optional<store::PaymentRecord>> find(const BulkRow& row) const {
    return flows::find_submission(flows_, caller_.tenant, row.request.transaction_id);
  }

  Result<RowResult> submit_new(const BulkRow& row, Debit& debit) {
    PaymentRequest request = row.request;
    if (row.connector) {
      COFFER_TRY(request.quote, quote(row, debit));
    }
    COFFER_TRY_VOID(covered(request, debit));
    COFFER_TRY(const auto submission,
               flows::submit_payment(flows_, caller_, request,
                                     request_prefix_ + std::to_string(row.line), preview_));
    if (submission.replayed) return RowResult{kExists, submission.id};
    if (preview_) return RowResult{"valid", std::nullopt};
    return RowResult{"accepted", submission.id};
  }

  /// Returns the payment of an earlier run; a Problem if its content differs from the row.
  Result<RowResult> compare(const BulkRow& row, const store::PaymentRecord& stored,
                            Debit& debit) const {
    if (stored.sending_asset) debit.asset = stored.sending_asset->value();
    debit.decimals = stored.sending_decimals;
    if (row.connector && stored.provider) {
      debit.fee = stored.provider->fee;
      debit.total = stored.provider->total;
    }
    const auto quoted = quote_request(row);
    COFFER_TRY(const auto replay,
               flows::replay_submission(flows_, caller_.tenant, stored, row.request,
                                        quoted ? &*quoted : nullptr));
    return RowResult{kExists, replay.id, std::string(name(stored.status))};
  }

  /// The quote request of an off-ramp row; nullopt for other types.
  static std::optional<flows::QuoteRequest> quote_request(const BulkRow& row) {
    if (!row.connector) return std::nullopt;
    return flows::QuoteRequest{.amount = row.amount,
                               .connector = *row.connector,
                               .direction = Direction::off_ramp,
                               .beneficiary = row.request.beneficiary,
                               .destination = row.request.destination};
  }

  Result<std::optional<QuoteId>> quote(const BulkRow& row, Debit& debit) {
    COFFER_TRY(const auto quoted, flows::make_quote(flows_, caller_.tenant, *quote_request(row)));
    const Price& price = quoted.quote.price;
    const ConnectorTerms& connector = quoted.connector;
    debit = {price.total, std::string(connector.send_code()), connector.send_decimals(), price.fee,
             price.receive.to_string(connector.receive_decimals()) + " " +
                 std::string(connector.receive_code())};
    return std::optional(quoted.quote.id);
  }

  /// A preview places no holds, so it adds up the debits of the earlier rows.
  Result<void> covered(const PaymentRequest& request, const Debit& debit) {
    if (!preview_) return {};
    const auto wallet = request.only().source_wallet;
    if (!wallet) return {};
    const std::pair from{wallet->to_string(), debit.asset};
    const auto before = taken_.find(from);
    COFFER_TRY(const Amount sum,
               debit.total.add(before == taken_.end() ? Amount() : before->second.sum));
    COFFER_TRY(const auto available, available_in(*wallet, debit.asset));
    if (available && *available < sum) {
      return unexpected(Slug::insufficient_funds,
                        "The wallet has " + available->to_string(debit.decimals) + " " +
                            debit.asset + " available. Up to this row, the file needs " +
                            sum.to_string(debit.decimals) + ".");
    }
    taken_.insert_or_assign(from, Taken{sum, debit.decimals});
    return {};
  }

  /// nullopt if the wallet or its trustline does not exist; the payment's checks report that.
  Result<std::optional<Amount>> available_in(WalletId id, const std::string& asset) {
    using Found = std::optional<Amount>;
    return flows_.read([&](store::Connection& db) {
      const auto wallet = store::find_wallet_brief(db, caller_.tenant, id);
      if (!wallet) return Found();
      for (const auto& one : store::balances_of(db, wallet->key)) {
        if (one.asset.code.value() == asset) return Found(one.balance - one.held);
      }
      return Found();
    });
  }

  const flows::Context& flows_;
  const Caller& caller_;
  const bool preview_;
  std::string request_prefix_;
  std::map<std::pair<std::string, std::string>, Taken> taken_;  // by wallet and asset
  std::map<std::string_view, int> counts_;
  CommandResult result_;
};

Result<CommandResult> bulk(Session& session, const Arguments& arguments) {
  COFFER_TRY(const Caller caller, caller_argument(session, arguments));
  COFFER_TRY(const auto rows, read_bulk_rows(arguments.text("FILE")));
  BulkRun run(session, caller, arguments.text("FILE"), arguments.has("preview"));
  std::size_t done = 0;
  ProgressLine line(session.console, session.interruption);
  const auto total = static_cast<std::int64_t>(rows.size());
  COFFER_TRY_VOID(unless_stopped([&]() -> Result<void> {
    for (const BulkRow& row : rows) {
      line.show({"submitting", static_cast<std::int64_t>(done++), total, Progress::Unit::rows});
      run.carry_out(row);
    }
    return {};
  }));
  return run.finish(rows.size());
}

constexpr std::string_view kDetails =
    "The first line names the columns, which are the fields of the payment routes, and `type`, "
    "which\ndefaults to offramp. coffer quotes each off-ramp, so use connectorId and amount "
    "instead of\nquoteId. If a cell is malformed, nothing is submitted. A repeated run skips rows "
    "whose\ntransactionId exists.";

}  // namespace

std::vector<Command> bulk_payment_commands() {
  return {
      {.path = "payment bulk",
       .summary = "Submit the payments in a CSV file, or preview them",
       .label = "Submit payments from CSV",
       .consequence = "coffer submits every row as a payment of the application.",
       .run = bulk,
       .role = OperatorRole::operating,
       .arguments = {content_positional("CSV file with one payment per line"),
                     required_option("application", "ID", "Application that submits the payments"),
                     toggle("preview", "Check every row and submit nothing")},
       .hint = "List IDs with coffer application list",
       .details = kDetails,
       .sensitive = true,
       .preview = "preview"}};
}

}  // namespace coffer::cli
