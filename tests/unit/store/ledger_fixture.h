// A real coffer file in a separate folder with a small ledger, at the level of the store: one
// association, three assets, funded wallets, and payments that tests accept and settle.
#pragma once

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/telemetry/log.h"
#include "store/commit_queue.h"
#include "store/database.h"
#include "store/file/chain_keys.h"
#include "store/identity/tenants.h"
#include "store/invariants.h"
#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"
#include "store/ledger/wallets.h"
#include "store/payments/payments.h"
#include "store/webhooks/events.h"

namespace coffer::store::test {

/// The open settlement job of a payment, if any.
inline std::optional<SettlementJob> job_of(Connection& db, std::int64_t payment) {
  const auto due = settlement_view(db, payment).settle_at;
  return due ? std::optional(SettlementJob{*due, payment}) : std::nullopt;
}

/// A folder that is removed with its content.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "coffer-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name = "ledger.db") const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Receives the log lines of a test instead of the terminal, from `info` up, whatever level a
/// command has set.
class CapturedLog {
 public:
  CapturedLog() {
    set_log_level(LogLevel::info);
    redirect_log([this](std::string_view line) { text_ += std::string(line) + '\n'; });
  }
  ~CapturedLog() { redirect_log(nullptr); }
  bool has(const std::string& words) const { return text_.find(words) != std::string::npos; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// First column of the first row of any statement, as text; empty without a row.
inline std::string scalar(Connection& db, const std::string& sql) {
  Query query(db, db.interned(sql));
  return query.step() ? query.text(0) : std::string();
}

inline std::int64_t number(Connection& db, const std::string& sql) {
  Query query(db, db.interned(sql));
  REQUIRE(query.step());
  return query.integer(0);
}

/// The keys of the test files.
inline std::unique_ptr<const ChainKeys> test_keys() {
  return std::unique_ptr<const ChainKeys>(
      new ChainKeys{KeyedDigest("journal"), KeyedDigest("audit"), KeyedDigest("rows")});
}

/// store::verify with the test keys.
inline std::vector<Violation> keyed_verify(Connection& db, bool deep = true) {
  use_keys(db, test_keys());
  return verify(db, deep, [](auto&&...) {});
}

/// An open file with its queue, which can be reopened.
class OpenedFile {
 public:
  explicit OpenedFile(CommitQueueOptions options = {}, DatabaseOptions files = {})
      : options_(options), database_options_(std::move(files)) {
    database_options_.path = folder.file();
    // No floor unless the test needs one, because this machine's disk may be nearly full.
    if (options_.disk_floor_bytes == CommitQueueOptions().disk_floor_bytes) {
      options_.disk_floor_bytes = 0;
    }
    open();
  }

  void open() {
    OpenError error;
    database = Database::open(database_options_, clock, error);
    INFO(error.message);
    REQUIRE(database);
    queue = std::make_unique<CommitQueue>(*database, clock, options_, [this](Signal signal) {
      signals |= 1U << static_cast<unsigned>(signal);
    });
    // Writes nothing, not even the time.
    const auto use = [](WriteTx& tx) -> Result<void> {
      use_keys(tx.db(), test_keys());
      return {};
    };
    const auto given = queue->run(use, CommitQueue::Mode::dry_run);
    // A full disk rejects this too; then no row that needs keys is written.
    REQUIRE((given || given.error().slug == Slug::storage_full));
  }
  void close() {
    queue.reset();
    database.reset();
  }

  /// A value read on a leased reader.
  template <class F>
  auto read(F&& f) {
    const Reader lease = database->reader().value();
    return f(lease.db());
  }
  std::string value(const std::string& sql) {
    return read([&](Connection& db) { return scalar(db, sql); });
  }
  std::int64_t count(const std::string& table) {
    return read([&](Connection& db) { return number(db, "SELECT count(*) FROM " + table); });
  }
  Result<void> write(const CommitQueue::Command& command,
                     CommitQueue::Mode mode = CommitQueue::Mode::commit) {
    return queue->run(command, mode);
  }
  std::vector<Violation> verify() {
    Connection db(database->path(), OpenMode::read_only);
    return keyed_verify(db);
  }

  TemporaryFolder folder;
  ManualClock clock;
  SeededRandom random{7};
  std::unique_ptr<Database> database;
  std::unique_ptr<CommitQueue> queue;
  std::atomic<unsigned> signals{0};

 private:
  CommitQueueOptions options_;
  DatabaseOptions database_options_;
};

struct LedgerWallet {
  WalletId id;
  std::int64_t key = 0;
  AccountKey account = 0;  // in its first asset
};

/// Two wallets in USDC (1,000 each), one in EURC (0), of one sandbox tenant.
class SmallLedger : public OpenedFile {
 public:
  explicit SmallLedger(CommitQueueOptions options = {}, DatabaseOptions database_options = {})
      : OpenedFile(options, std::move(database_options)) {
    write([this](WriteTx& tx) -> Result<void> {
      fill(tx);
      return {};
    }).value();
  }

  PaymentRequest transfer(const std::string& transaction_id, std::int64_t units,
                          bool back = false) const {
    PaymentRequest request;
    request.transaction_id = transaction_id;
    TransferLeg leg;
    leg.source_wallet = (back ? second : first).id;
    leg.destination_wallet = (back ? first : second).id;
    leg.sending_asset = usdc.code;
    leg.amount = Amount::from_units(units);
    request.legs = {leg};
    return request;
  }

  /// Record, hold, event and job, as acceptance writes them; returns the record's key.
  std::int64_t accept(WriteTx& tx, const PaymentRequest& request) {
    PaymentKeys keys;
    std::vector<Posting> movements;
    Amount total;
    for (const TransferLeg& leg : request.legs) {
      const LedgerWallet& from = of(*leg.source_wallet);
      const LedgerWallet& to = of(*leg.destination_wallet);
      keys.legs.push_back({from.key, to.key, usdc.key});
      movements.push_back({from.account, to.account, leg.amount});
      total = total + leg.amount;
    }
    const std::int64_t key = insert_payment(tx, tenant,
                                            {random.id<PaymentId>(tx.now()), application, "req",
                                             request, keys, total, std::nullopt, tx.now()});
    const auto holds = holds_for(movements).value();
    place_holds(tx, key, request.type, holds);
    seal_payment(tx, key, request.type);
    append_event(tx, random, tenant.key, {0, key, std::nullopt, 1});
    tx.signal(Signal::settlement);
    return key;
  }

  /// Posts the hold of accept(), or voids it if there is a failure.
  void settle(WriteTx& tx, std::int64_t key, std::optional<FailureCode> failure = std::nullopt) {
    SettlementView payment = settlement_view(tx.db(), key);
    COFFER_CHECK(payment.settle_at.has_value());
    change(tx, payment, {PaymentStatus::processing, {}, {}, {}});
    if (failure) {
      close_holds(tx, payment, HoldState::voided);
      return change(tx, payment, {PaymentStatus::failed, failure, {}, {}});
    }
    close_holds(tx, payment, HoldState::posted);
    std::vector<Movement> movements;
    for (std::size_t i = 0; i < payment.keys.legs.size(); ++i) {
      const auto& leg = payment.keys.legs[i];
      movements.push_back(
          {{*find_trustline(tx.db(), *leg.source_wallet, *leg.asset),
            *find_trustline(tx.db(), *leg.destination_wallet, *leg.asset), payment.amounts[i]},
           static_cast<int>(i)});
    }
    post(tx, payment, JournalKind::payment, movements);
    change(tx, payment, {PaymentStatus::succeeded, {}, {}, {}});
  }

  std::int64_t pay(const PaymentRequest& request) {
    return run_for<std::int64_t>(
               *queue, [&](WriteTx& tx) -> Result<std::int64_t> { return accept(tx, request); })
        .value();
  }
  std::int64_t pay_and_settle(const PaymentRequest& request) {
    return run_for<std::int64_t>(*queue,
                                 [&](WriteTx& tx) -> Result<std::int64_t> {
                                   const std::int64_t key = accept(tx, request);
                                   settle(tx, key);
                                   return key;
                                 })
        .value();
  }

  std::int64_t balance(const LedgerWallet& wallet, const char* column = "balance") {
    return read([&](Connection& db) {
      return number(db, std::string("SELECT ") + column +
                            " FROM accounts WHERE account = " + std::to_string(wallet.account));
    });
  }

  Tenant tenant;
  std::int64_t application = 0;
  Asset usdc;
  Asset eurc;
  LedgerWallet first;
  LedgerWallet second;
  LedgerWallet third;  // in EURC

 private:
  void fill(WriteTx& tx) {
    AssociationRow association;
    association.id = random.id<AssociationId>(tx.now());
    association.name = "Test";
    association.status = AssociationStatus::active;
    insert_association(tx, association);
    tenant = *find_tenant(tx.db(), association.id, Environment::sandbox);
    ApplicationRow row;
    row.id = random.id<ApplicationId>(tx.now());
    row.tenant = tenant;
    row.name = "App";
    row.client_id = "app_1";
    row.public_key = "GAPP";
    row.api_key_hash.fill(1);
    row.connect_hash.fill(2);
    insert_application(tx, row);
    application = find_application(tx.db(), row.id)->key;
    usdc = insert_asset(tx, {0, *AssetCode::parse("USDC"), "GISSUER", "US dollar", 7});
    eurc = insert_asset(tx, {0, *AssetCode::parse("EURC"), "GISSUER", "Euro", 2});
    first = add_wallet(tx, "First", usdc);
    second = add_wallet(tx, "Second", usdc);
    third = add_wallet(tx, "Third", eurc);
    for (const LedgerWallet& wallet : {first, second}) {
      const AccountKey issuance =
          operator_account(tx, Environment::sandbox, AccountKind::issuance, usdc.key);
      const Movement movement{{issuance, wallet.account, Amount::from_units(10'000'000'000)}, 0};
      post(tx, tenant.key, JournalKind::funding, {&movement, 1});
    }
  }

  LedgerWallet add_wallet(WriteTx& tx, const std::string& name, const Asset& asset) {
    WalletRow row;
    row.id = random.id<WalletId>(tx.now());
    row.name = name;
    row.account_number = name;
    row.public_key = "G" + name;
    row.sealed_seed = "sealed";
    row.asset = asset.key;
    row.asset_code = asset.code;
    row.own_account = true;
    row.status = WalletStatus::verified;
    insert_wallet(tx, tenant, row);
    return {row.id, row.key, open_trustline(tx, tenant, row.key, asset.key)};
  }

  const LedgerWallet& of(WalletId id) const {
    return id == first.id ? first : id == second.id ? second : third;
  }

  void change(WriteTx& tx, SettlementView& payment, const StatusChange& to) {
    change_status(tx, payment, to);
    append_event(tx, random, payment.tenant,
                 {static_cast<int>(payment.status), payment.key, std::nullopt, payment.version});
  }
};

/// Opens and closes a database.
inline OpenError open_error(const std::string& path, DatabaseOptions options = {}) {
  const SystemClock clock;
  options.path = path;
  OpenError error;
  const auto database = Database::open(options, clock, error);
  CHECK((database == nullptr) == (error.fault != OpenFault::none));
  return error;
}

}  // namespace coffer::store::test
