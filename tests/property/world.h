// The real system for property tests: flows over a real file, with a reproducible clock and
// randomness. The file is in memory if possible, so that a commit is cheap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/master_key.h"
#include "auth/seal.h"
#include "auth/token.h"
#include "base/clock.h"
#include "base/random.h"
#include "domain/payments/payment.h"
#include "domain/providers/connector.h"
#include "flows/context.h"
#include "property/provider.h"
#include "store/invariants.h"
#include "store/ledger/wallets.h"
#include "store/operations/reports.h"
#include "store/payments/limits.h"
#include "store/payments/payments.h"

namespace coffer::property {

/// The registered objects; the model identifies them by index.
struct WorldAsset {
  std::string code;
  int decimals;
  std::int64_t key = 0;
};
struct WorldWallet {
  std::string name;
  bool usable = true;               // Verified
  bool foreign = false;             // of another tenant: not found for the caller
  std::vector<std::size_t> assets;  // its trustlines
  WalletId id;
  std::int64_t key = 0;
  std::string address;
};
struct WorldConnector {
  std::size_t asset;  // by index
  ConnectorTerms terms;
  std::int64_t lane = 0;
};
/// A party outside: for payouts (destinations in the currencies of all connectors), or an address.
struct WorldBeneficiary {
  std::string name;
  std::string symbol;                 // of the asset that the address accepts; empty: for payouts
  std::string network;                // of the address
  std::optional<std::size_t> wallet;  // to which the address belongs
  BeneficiaryId id;
};
/// A reference on the connector for it, which credits a wallet.
struct WorldReference {
  std::size_t wallet;
  std::string text;
};

/// Positions of objects with a special role in the lists.
constexpr std::size_t kOwnWallets = 5;      // the first ones: always verified
constexpr std::size_t kReviewedWallet = 5;  // a third party's: verified, rejected, reviewed again
constexpr std::size_t kFarConnector = 1;    // has a separate lane
constexpr std::size_t kReferenceConnector = 4;
constexpr std::size_t kQuotedConnectors = 4;  // the first ones: two off-ramps, two on-ramps

/// One row of the ledger, as stored.
struct StoredAccount {
  int kind;
  std::int64_t wallet;     // 0: the operator's
  std::int64_t connector;  // 0: not a clearing account
  std::int64_t asset;
  std::int64_t balance;
  std::int64_t held;
};

class World {
 public:
  explicit World(std::uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const flows::Context& context() const { return *context_; }
  const Caller& caller() const { return caller_; }
  /// Closes the file and opens it again.
  void reopen();

  std::vector<StoredAccount> accounts();
  std::vector<store::LimitRow> limits();
  /// Of the sandbox, between two midnights.
  Result<std::vector<store::ReportRow>> report(store::Report report, Timestamp from, Timestamp to,
                                               const store::ReportShare& share);
  /// The exported journal, from the first entry.
  std::vector<store::BookEntry> book_entries();
  std::optional<store::PaymentRecord> payment(const std::string& transaction_id);
  std::int64_t payment_count();
  /// All invariants and the hash chain; `deep` adds SQLite's own check of the file, and the same
  /// invariants once more, in slices.
  std::vector<store::Violation> verify(bool deep);
  /// Closes everything; digest over every byte of the file that is left.
  std::string file_digest();
  /// Runs SQL on the file, bypassing the store and its triggers: for controls.
  void damage(const std::string& sql);
  bool verified(std::size_t wallet);
  void set_paused(std::size_t connector, bool paused);
  /// Details of the third party that differ from the present ones.
  PersonMetadata new_details();

  ManualClock clock;
  DiceProvider provider;
  std::vector<WorldAsset> assets;
  std::vector<WorldWallet> wallets;
  std::vector<WorldConnector> connectors;
  std::vector<WorldBeneficiary> beneficiaries;
  std::vector<WorldReference> references;

 private:
  void open();
  void register_all();
  void register_wallet(WorldWallet& wallet, const Tenant& tenant);
  void register_connectors();
  void register_connector(std::size_t asset, ConnectorTerms terms);
  void register_beneficiaries();

  SeededRandom random_;
  int details_ = 0;
  std::string folder_;
  auth::MasterKey master_;
  auth::Sealer sealer_;
  auth::TokenIssuer tokens_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<store::CommitQueue> queue_;
  std::unique_ptr<const auth::SecretHasher> hasher_;
  std::optional<flows::Context> context_;
  Caller caller_;
};

}  // namespace coffer::property
