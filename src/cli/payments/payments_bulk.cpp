// coffer payment create and bulk: submit one payment, or the rows of a CSV file, as payments of an
// application (docs/operating.md#bulk-payments). A payment is identified by its transactionId, so
// repeating an interrupted run completes it.
#include <map>
#include <set>

#include "api/parties/bodies.h"
#include "app/app.h"
#include "base/digest.h"
#include "base/platform/exit_code.h"
#include "base/text/join.h"
#include "base/text/next_part.h"
#include "cli/ledger/market.h"
#include "cli/paths.h"
#include "cli/payments/payments.h"
#include "cli/progress.h"
#include "domain/ledger/market.h"
#include "domain/payments/compliance.h"
#include "flows/payments/make_quote.h"
#include "flows/payments/submit_payment.h"
#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"
#include "store/ledger/wallets.h"
#include "store/providers/connectors.h"

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
  if (require_scope(caller, Scope::payments_write)) return caller;
  return unexpected(Slug::insufficient_scope,
                    "The application lacks the scope " + std::string(name(Scope::payments_write)) +
                        ". Add it with coffer application scopes, or choose another one.");
}

/// The debit of a row; for an off-ramp, according to its quote.
struct Debit {
  Amount total;
  std::string asset;
  int decimals = Amount::kScale;
  std::optional<Amount> fee;
  std::optional<std::string> receives;
  std::optional<QuoteId> quote = {};
};

constexpr const char* kWorsePrice =
    "The price has become worse since the preview. Preview the payment again.";
constexpr std::string_view kPreviewCheck = "previewCheck";  // also an option

Unexpected changed_since(const std::string& what) {
  return unexpected(Slug::conflict, "Since the preview, this has changed: " + what +
                                        ". Preview the payment again.");
}

/// Who is paid and how, of a payment as it is accepted.
struct Paid {
  store::StorySides sides;
  std::optional<DestinationMethod> method;
  std::optional<std::string> connector;
  std::optional<std::string> rate;
  std::string check;  // see check_of()
};

/// What the destination pays to, without its ID and label.
std::string content_of(const store::DestinationRow& row) {
  auto json = api::destination_json(row, api::Shown::whole);
  for (const char* name : {"id", "label", "createdAt"}) json.erase(name);
  return json.dump();
}

constexpr int kRowsPerRead = 500;  // because a long read is interrupted
constexpr std::size_t kCheckDigits = 32;
constexpr std::size_t kPartDigits = 4;  // only to say which part has changed
constexpr auto kParts = std::to_array<std::string_view>(
    {"recipient", "destination", "wallet", "connector", "amount or assets"});

/// Equal only for payments with the same parts, whatever their price: some digits of each part and
/// the digest of all.
std::string check_of(const store::PaymentRecord& payment, const Paid& paid,
                     const std::optional<store::DestinationRow>& destination) {
  const PaymentRequest& request = payment.request;
  const auto text = [](const auto& one) { return one ? one->to_string() : std::string(); };
  const auto receives = store::receiving_denomination(payment);
  const std::array<std::string, kParts.size()> parts{
      request.beneficiary ? text(request.beneficiary) + " " + paid.sides.destination.name.value()
                          : text(request.only().destination_wallet),
      destination ? content_of(*destination) : std::string(), text(request.only().source_wallet),
      payment.provider ? payment.provider->connector.to_string() : std::string(),
      payment.sending_asset.value().value() + " " + payment.sending_amount->to_string(7) + " " +
          (receives ? receives->code : "") + " " +
          (request.min_receiving ? request.min_receiving->to_string(7) : "")};
  std::string out, all;
  for (const std::string& part : parts) {
    const std::string digest = to_hex(sha256(part));
    out += digest.substr(0, kPartDigits);
    all += digest;
  }
  return out + to_hex(sha256(all)).substr(0, kCheckDigits);
}

/// `conflict` with the parts that differ.
Result<void> check_same(const std::string& previewed, const std::string& now) {
  if (previewed == now) return {};
  if (previewed.size() != now.size()) {
    return unexpected(Slug::malformed_request, "--preview-check is not the value of a preview.");
  }
  std::string changed;
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const std::size_t at = i * kPartDigits;
    if (previewed.compare(at, kPartDigits, now, at, kPartDigits) == 0) continue;
    changed += (changed.empty() ? "" : ", ") + std::string(kParts[i]);
  }
  return changed_since(changed.empty() ? "details of the payment" : changed);
}

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
  BulkRun(Session& session, const Caller& caller, const std::string& content, bool preview)
      : flows_(session.app.flows()), caller_(caller), preview_(preview) {
    request_prefix_ = "bulk-" + to_hex(sha256(content)).substr(0, 16) + "-";
  }

  /// The result of a single payment.
  Result<CommandResult> one(const BulkRow& row) {
    Debit debit = debit_of(row);
    COFFER_TRY(const RowResult done, submit(row, debit));
    const auto in_asset = [&](const std::optional<Amount>& amount) {
      return amount ? std::optional(amount->to_string(debit.decimals) + " " + debit.asset)
                    : std::nullopt;
    };
    CommandResult result{
        .records = {{{"transactionRecordId", done.id},
                     {"transactionId", row.request.transaction_id},
                     {"type", name(row.request.type)},
                     {"amount", in_asset(row.connector ? row.amount : debit.total)},
                     {"fee", in_asset(debit.fee)},
                     {"total", in_asset(debit.total)}}}};
    Record& record = result.records.front();
    put_sides(record, paid_.sides);
    record.emplace_back("destinationMethod", paid_.method);
    record.emplace_back("connector", paid_.connector);
    record.emplace_back("recipientGets", debit.receives);
    record.emplace_back("rate", paid_.rate);
    record.emplace_back("quoteId", debit.quote);
    if (done.status == kExists) {
      result.unchanged = "already submitted under this transaction ID";
      result.note = "This transaction ID was used for the same payment. Nothing was submitted.";
    } else if (preview_) {
      record.emplace_back(std::string(kPreviewCheck), paid_.check);
      return previewed(std::move(record));
    }
    record.emplace_back("isIdempotent", done.status == kExists);
    return result;
  }

  /// Adds the result of the row; a row that fails does not affect the others.
  void carry_out(const BulkRow& row) {
    Debit debit = debit_of(row);
    const auto done = submit(row, debit);
    Record record{{"line", static_cast<std::int64_t>(row.line)},
                  {"transactionId", row.request.transaction_id},
                  {"type", name(row.request.type)},
                  {"status", done ? done->status : "failed"},
                  {"total", debit.total.to_string(debit.decimals)},
                  {"assetCode", debit.asset},
                  {"fee", shown(debit.fee, debit.decimals)},
                  {"receives", debit.receives}};
    put_sides(record, paid_.sides);
    record.emplace_back("paymentStatus", done ? done->payment_status : std::nullopt);
    record.emplace_back("transactionRecordId", done ? done->id : std::nullopt);
    record.emplace_back("problem", done ? std::nullopt : std::optional(sentence(done.error())));
    if (preview_) {
      record.emplace_back("limits", "checked for this row alone");
    }
    result_.records.push_back(std::move(record));
    ++counts_[done ? done->status : "failed"];
    if (!done || done->status == kExists) return;
    if (const auto sum = debited_[debit.asset].add(debit.total)) debited_[debit.asset] = *sum;
  }

  CommandResult finish(std::size_t rows) {
    for (const auto& [asset, sum] : debited_)
      file_check_ += "," + asset + "=" + sum.to_string(Amount::kScale);
    for (Record& record : result_.records) {
      if (preview_) record.emplace_back(std::string(kPreviewCheck), file_check_);
    }
    result_.list = true;
    result_.columns = {
        "line",   "transactionId", "status",    "destinationName", "destinationAccount",
        "total",  "fee",           "assetCode", "receives",        "paymentStatus",
        "problem"};
    std::string note = join(counts_, ", ", [](const auto& one) {
      return std::to_string(one.second) + " " + std::string(one.first);
    });
    note += " of " + std::to_string(rows) + (rows == 1 ? " row." : " rows.");
    for (const auto& [from, taken] : taken_) {
      note += " Wallet " + from.first + " needs " + taken.sum.to_string(taken.decimals) + " " +
              from.second + ".";
    }
    if (preview_)
      note +=
          " This was a preview: nothing was submitted, and each row was checked against the limits "
          "alone, without the others.";
    if (counts_.contains("failed")) {
      note +=
          " Correct the failed rows and repeat the command. It skips rows that already exist as "
          "payments.";
      result_.exit_code = exit_code::kFailed;
    }
    result_.note = std::move(note);
    return std::move(result_);
  }

  /// Compares recipients and terms of the rows with those of the preview, if there was one.
  Result<void> check_recipients(const std::vector<BulkRow>& rows,
                                const std::optional<std::string>& previewed) {
    if (!preview_ && !previewed) return {};
    std::string all;
    std::set<ConnectorId> seen;
    for (auto next = rows.begin(); next != rows.end();) {
      COFFER_TRY_VOID(flows_.read([&](store::Connection& db) -> Result<void> {
        for (int i = 0; i < kRowsPerRead && next != rows.end(); ++i, ++next) {
          all += recipient_of(db, next->request) + "\n";
          if (next->connector && seen.insert(*next->connector).second)
            all += terms_of(db, *next->connector) + "\n";
        }
        return {};
      }));
    }
    file_check_ = to_hex(sha256(all)).substr(0, kCheckDigits);
    if (!previewed) return {};
    std::string_view rest = *previewed;
    if (next_part(rest, ',') != file_check_)
      return changed_since("a recipient, a destination, or the rate or fee of a connector");
    for (most_.emplace(); !rest.empty();) {
      const std::string asset(next_part(rest, '='));
      (*most_)[asset] = parse_amount(next_part(rest, ','), Amount::kScale).amount;
    }
    return {};
  }

 private:
  /// The beneficiary with the destinations to which the payment may go.
  std::string recipient_of(store::Connection& db, const PaymentRequest& request) const {
    if (!request.beneficiary) return {};
    const auto row = store::find_beneficiary(db, caller_.tenant, *request.beneficiary);
    if (!row || row->archived) return {};
    std::string out = row->id.to_string() + " " + display_name(row->detail);
    for (const store::DestinationRow& each : store::destinations_of(db, row->key)) {
      if (!request.destination || each.id == *request.destination) out += content_of(each);
    }
    return out;
  }

  /// The rate and the fees of a connector, which bound its prices.
  std::string terms_of(store::Connection& db, ConnectorId connector) const {
    const auto found = store::find_connector(db, caller_.tenant.environment, connector);
    if (!found) return {};
    const ConnectorTerms& terms = found->terms;
    const auto text = [](const FeeRule& fee) {
      return " " + fee.fixed.to_string(Amount::kScale) + " " + std::to_string(fee.basis_points);
    };
    std::string out = (terms.rate ? terms.rate->to_string() : "") + text(terms.fee);
    for (const store::FeeRow& each : store::list_fees(db)) {
      if (each.connector == terms.id) out += text(each.fee);
    }
    return out;
  }

  /// Notes who is paid. `conflict` if the row has a preview that showed something else.
  Result<void> look(store::Connection& db, const BulkRow& row, const store::PaymentRecord& payment,
                    Debit& debit) {
    const PaymentRequest& request = payment.request;
    const auto parties = store::parties_of_payment(db, payment.key);
    paid_.sides = store::sides_of_payment(db, payment.key);
    paid_.connector = parties.connector;
    std::optional<store::DestinationRow> destination;
    if (request.destination) {
      destination = store::find_destination(db, caller_.tenant, *request.destination);
      paid_.method = destination.value().detail.method;
    }
    if (parties.rate) paid_.rate = parties.rate->to_string();
    paid_.check = check_of(payment, paid_, destination);
    std::string_view least = row.preview_check ? std::string_view(*row.preview_check) : "";
    const std::string previewed(next_part(least, ','));
    if (row.preview_check) COFFER_TRY_VOID(check_same(previewed, paid_.check));
    if (!is_swap(request.type)) return {};
    const Amount yield = look_at_market(db, request, debit);
    paid_.check += "," + yield.to_string(Amount::kScale);
    if (least.empty() || yield >= parse_amount(least, Amount::kScale).amount) return {};
    return unexpected(Slug::conflict, kWorsePrice);
  }

  /// What the swap yields now; zero without a rate.
  Amount look_at_market(store::Connection& db, const PaymentRequest& request, Debit& debit) {
    const Asset sending = store::find_asset(db, request.only().sending_asset).value();
    const Asset receiving = store::find_asset(db, *request.receiving_asset).value();
    const auto path =
        best_path(store::list_rates(db, caller_.tenant.environment), store::list_assets(db),
                  sending.key, receiving.key, request.only().amount);
    if (!path) return {};
    debit.receives = path->receiving.to_string(receiving.decimals) + " " + receiving.code.value();
    paid_.rate = Rate{path->receiving.units(), request.only().amount.units()}.to_string();
    return path->receiving;
  }

  static Debit debit_of(const BulkRow& row) {
    return {row.amount.is_zero() ? row.request.only().amount : row.amount,
            row.request.only().sending_asset.value(),
            Amount::kScale,
            {},
            {}};
  }

  Result<RowResult> submit(const BulkRow& row, Debit& debit) {
    paid_ = {};
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
    COFFER_TRY_VOID(within_preview(debit));
    COFFER_TRY_VOID(covered(request, debit));
    COFFER_TRY(const auto submission,
               flows::submit_payment(flows_, caller_, request,
                                     request_prefix_ + std::to_string(row.line), preview_,
                                     [&](store::WriteTx& tx, const store::PaymentRecord& payment) {
                                       return look(tx.db(), row, payment, debit);
                                     }));
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

  /// A new quote, or that of the preview. Once that has expired, a new one that is no worse.
  Result<flows::Quoted> quoted_for(const BulkRow& row) {
    if (!row.quote) return flows::make_quote(flows_, caller_.tenant, *quote_request(row));
    COFFER_TRY(auto seen, flows::find_quote(flows_, caller_.tenant, *row.quote));
    if (seen.quote.price.send != row.amount || seen.connector.id != *row.connector) {
      return unexpected(Problem(Slug::validation_failed, "The quote is for another payment.",
                                {{"quote", "has another amount or connector"}}));
    }
    if (seen.quote.status(flows_.queue.now()) != QuoteStatus::expired) return seen;
    COFFER_TRY(auto fresh, flows::make_quote(flows_, caller_.tenant, *quote_request(row)));
    COFFER_TRY_VOID(same_recipient(seen.quote, fresh.quote));
    const Price& then = seen.quote.price;
    const Price& now = fresh.quote.price;
    if (now.total <= then.total && now.receive >= then.receive) return fresh;
    return unexpected(Slug::conflict, kWorsePrice);
  }

  /// `conflict` unless the new quote is for the recipient and the destination of the first one.
  Result<void> same_recipient(const store::QuoteRow& first, const store::QuoteRow& fresh) {
    if (first.beneficiary && (first.beneficiary != fresh.beneficiary || first.type != fresh.type)) {
      return changed_since(std::string(kParts[0]));
    }
    if (!first.destination || first.destination == fresh.destination) return {};
    return flows_.read([&](store::Connection& db) -> Result<void> {
      const auto content = [&](std::int64_t key) {
        return content_of(store::find_destination_by_key(db, key).value());
      };
      if (fresh.destination && content(*first.destination) == content(*fresh.destination))
        return {};
      return changed_since(std::string(kParts[1]));
    });
  }

  Result<std::optional<QuoteId>> quote(const BulkRow& row, Debit& debit) {
    COFFER_TRY(const auto quoted, quoted_for(row));
    const Price& price = quoted.quote.price;
    const ConnectorTerms& connector = quoted.connector;
    debit = {price.total,
             std::string(connector.send_code()),
             connector.send_decimals(),
             price.fee,
             price.receive.to_string(connector.receive_decimals()) + " " +
                 std::string(connector.receive_code()),
             quoted.quote.id};
    return std::optional(quoted.quote.id);
  }

  /// `conflict` if the rows up to this one debit more than all rows of the preview.
  Result<void> within_preview(const Debit& debit) {
    if (!most_) return {};
    COFFER_TRY(const Amount sum, debited_[debit.asset].add(debit.total));
    if (sum <= (*most_)[debit.asset]) return {};
    return unexpected(Slug::conflict,
                      "The file now debits more than its preview showed. Preview it again.");
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
  Paid paid_;                                          // of the last row
  std::string file_check_;                             // and, at the end, debited_
  std::map<std::string, Amount> debited_;              // by asset
  std::optional<std::map<std::string, Amount>> most_;  // of the preview
  CommandResult result_;
};

constexpr std::string_view kCreate = "payment create";
constexpr std::string_view kParties = "From and to";
constexpr std::string_view kAmount = "Amount";
constexpr std::string_view kPayout = "type=offramp";

Argument column(std::string_view step, std::string_view when, std::string_view member,
                const Argument& argument) {
  return placed(step, when, member_of(member, argument));
}

std::vector<Argument> party_arguments() {
  constexpr std::string_view kToBeneficiary = "type=offramp|p2p_beneficiary|swap_beneficiary";
  constexpr std::string_view kApplication = "application";
  const Argument to = like(
      kApplication,
      on_page(chosen_from("wallet list", option("to", "ID", "Wallet that receives")), "To wallet"));
  Argument destination = like(
      "beneficiary",
      chosen_from("beneficiary show", option("destination", "ID",
                                             "Destination of the beneficiary; by default the only "
                                             "one")));
  destination.inside = "destinations";
  return {column(kParties, {}, "type",
                 chosen_among(
                     {},
                     "Payout through a connector|Payment to an address|Swap to an address|"
                     "Transfer between wallets|Swap between wallets",
                     choice("type", "offramp|p2p_beneficiary|swap_beneficiary|p2p_own|swap_own",
                            "Kind of payment", "offramp"))),
          placed(kParties, {}, required_option(kApplication, "ID", "Application that submits it")),
          column(kParties, {}, "sourceWalletId",
                 like(kApplication,
                      on_page(required_option("wallet", "ID", "Wallet that pays"), "From wallet"))),
          column(kParties, kToBeneficiary, "beneficiaryId",
                 like(kApplication,
                      needed_on_page(option("beneficiary", "ID", "Recipient of the payment")))),
          column(kParties, "type=p2p_own|swap_own", "destinationWalletId", needed_on_page(to)),
          column(kParties, kToBeneficiary, "destinationId", destination)};
}

std::vector<Argument> compliance_arguments() {
  const auto code = [](std::string_view member, std::string_view name, std::span<const Term> terms,
                       std::string_view help) {
    return column(kAmount, kPayout, member,
                  needed_on_page(chosen_among(terms, option(name, "CODE", help))));
  };
  return {code("purposeOfPayment", "purpose", purpose_of_payment_terms(), "Purpose of the payment"),
          code("sourceOfFunds", "source-of-funds", source_of_funds_terms(), "Origin of the money"),
          code("relationship", "relationship", relationship_terms(),
               "Relationship of the sender to the recipient")};
}

std::vector<Argument> amount_arguments() {
  constexpr std::string_view kSwap = "type=swap_own|swap_beneficiary";
  const Argument receive =
      on_page(chosen_from("asset list", option("receive-asset", "CODE", "Asset to receive")),
              "Asset to receive");
  return {column(kAmount, kPayout, "connectorId",
                 like("application",
                      needed_on_page(option("connector", "ID", "Connector of the payout")),
                      "direction=OFF_RAMP")),
          column(kAmount, "type=p2p_own|p2p_beneficiary|swap_own|swap_beneficiary",
                 "sendingAssetCode", needed_on_page(option("asset", "CODE", "Asset to send"))),
          column(kAmount, {}, "amount",
                 on_page(required_option("amount", "AMOUNT", "Amount to send, before the fee"),
                         "Amount", "100.00")),
          column(kAmount, kSwap, "receivingAssetCode", needed_on_page(receive)),
          column(kAmount, kSwap, "minReceivingAmount",
                 option("min-receive", "AMOUNT", "Least amount to receive; else the swap fails"))};
}

constexpr Argument carried(Argument argument) {
  argument.carried = true;
  return argument;
}

Argument preview_check() {
  return carried(member_of(
      kPreviewCheck,
      option("preview-check", "TEXT", "Check value of a preview: refuse what it did not show")));
}

/// The member of an argument is the column of a row.
std::vector<Argument> create_arguments() {
  const Argument quote =
      carried(column(kAmount, kPayout, "quoteId", option("quote", "ID", "Quote of a preview")));
  return joined(
      party_arguments(), amount_arguments(), compliance_arguments(),
      std::vector<Argument>{
          column(kAmount, {}, "transactionId",
                 on_page(required_option("transaction-id", "TEXT",
                                         "Your ID of the payment; repeated, it submits nothing"),
                         "Your transaction ID")),
          column(kAmount, {}, "fromRef", option("from-ref", "TEXT", "Reference for the sender")),
          column(kAmount, {}, "toRef", option("to-ref", "TEXT", "Reference for the recipient")),
          column(kAmount, {}, "description", option("description", "TEXT", "Description")),
          placed(kAmount, kPayout,
                 on_page(option("fields", "NAME=TEXT,...", "Fields that the connector requires"),
                         "Further fields", "nationalId=12345678")),
          quote, preview_check(),
          toggle("preview", "Check the payment, show its price, and submit nothing")});
}

Result<CommandResult> bulk(Session& session, const Arguments& arguments) {
  COFFER_TRY(const Caller caller, caller_argument(session, arguments));
  COFFER_TRY(const auto rows, read_bulk_rows(arguments.text("FILE")));
  BulkRun run(session, caller, arguments.text("FILE"), arguments.has("preview"));
  COFFER_TRY_VOID(run.check_recipients(rows, arguments.find("preview-check")));
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

/// The columns of the arguments whose values a row takes.
BulkCells cells_of(const Arguments& arguments) {
  BulkCells out;
  for (const Argument& argument : find_command(kCreate)->arguments) {
    const auto given = arguments.find(std::string(argument.name));
    if (given && !argument.member.empty() && !argument.carried) {
      out.emplace_back(argument.member, *given);
    }
  }
  for (std::string_view rest = arguments.find("fields").value_or(""); !rest.empty();) {
    const std::string item(next_part(rest, ','));
    const auto equals = std::min(item.find('='), item.size());
    out.emplace_back("additionalFields." + item.substr(0, equals),
                     equals == item.size() ? "" : item.substr(equals + 1));
  }
  return out;
}

Result<CommandResult> create(Session& session, const Arguments& arguments) {
  COFFER_TRY(const Caller caller, caller_argument(session, arguments));
  COFFER_TRY(BulkRow row, read_bulk_row(cells_of(arguments)));
  if (row.connector) {
    COFFER_TRY(row.quote, optional_id<QuoteId>(arguments, "quote"));
  }
  row.preview_check = arguments.find("preview-check");
  BulkRun run(session, caller, row.request.transaction_id, arguments.has("preview"));
  return run.one(row);
}

/// Of a payout, the total of its quote; unknown before the preview.
std::optional<MovedAmount> created_amount(Session& session, const Arguments& arguments) {
  if (arguments.text("type") != name(PaymentType::offramp)) {
    return arguments.has("asset") ? moved_amount(arguments, "asset", "amount") : std::nullopt;
  }
  const auto caller = caller_argument(session, arguments);
  const auto quote = optional_id<QuoteId>(arguments, "quote");
  if (!caller || !quote || !*quote) return std::nullopt;
  const auto seen = flows::find_quote(session.app.flows(), caller->tenant, **quote);
  if (!seen) return std::nullopt;
  return MovedAmount{seen->connector.asset.code, seen->quote.price.total};
}

constexpr std::string_view kCreateDetails =
    "A repeated command with the same transaction ID submits nothing. A payout is quoted: --quote "
    "takes the quote of a preview; once it has expired, the payment is quoted again, and rejected "
    "if the price has become worse.";

constexpr std::string_view kDetails =
    "The first line names the columns, which are the fields of the payment routes, and `type`, "
    "which\ndefaults to offramp. coffer quotes each off-ramp, so use connectorId and amount "
    "instead of\nquoteId. If a cell is malformed, nothing is submitted. A repeated run skips rows "
    "whose\ntransactionId exists.";

}  // namespace

std::vector<Command> submitting_commands() {
  return {
      for_operators(kCreate, "Submit one payment, or preview it with its price", "Create payment",
                    "coffer submits it as a payment of the application, with its permissions and "
                    "limits.",
                    create, create_arguments(),
                    {.hint = "List applications with coffer application list",
                     .details = kCreateDetails,
                     .calls_out = true,  // for the quote
                     .sensitive = true,
                     .moves = created_amount,
                     .preview = "preview"}),
      for_operators("payment bulk", "Submit the payments in a CSV file, or preview them",
                    "Submit payments from CSV",
                    "coffer submits every row as a payment of the application.", bulk,
                    {content_positional("CSV file with one payment per line"),
                     required_option("application", "ID", "Application that submits the payments"),
                     preview_check(), toggle("preview", "Check every row and submit nothing")},
                    {.hint = "List IDs with coffer application list",
                     .details = kDetails,
                     .sensitive = true,
                     .preview = "preview"})};
}

}  // namespace coffer::cli
