// The real thing for the property tests: flows over a real file, with a clock and randomness that
// replay. The file lies in memory where there is such a place, so that a commit costs little.
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
#include "store/payments/payments.h"

namespace coffer::property {

/// What is registered in it; the model knows these by their index.
struct WorldAsset {
  std::string code;
  int decimals;
  std::int64_t key = 0;
};
struct WorldWallet {
  std::string name;
  bool usable = true;               // Verified
  bool foreign = false;             // of another tenant: for the caller it does not exist
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
/// Somebody outside: for payouts (destinations in the currencies of all connectors), or an address.
struct WorldBeneficiary {
  std::string name;
  std::string symbol;                 // of the asset that the address takes; empty: for payouts
  std::string network;                // of the address
  std::optional<std::size_t> wallet;  // that the address belongs to
  BeneficiaryId id;
};
/// What customers pay against: on the connector for it, into a wallet.
struct WorldReference {
  std::size_t wallet;
  std::string text;
};

/// Where the wallet and the connectors with a part of their own are in the lists.
constexpr std::size_t kOwnWallets = 5;      // the first ones: verified for ever
constexpr std::size_t kReviewedWallet = 5;  // a third party's: verified, rejected, sent back
constexpr std::size_t kFarConnector = 1;    // has a lane of its own
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
  std::optional<store::PaymentRecord> payment(const std::string& transaction_id);
  std::int64_t payment_count();
  /// All invariants and the hash chain; `deep` adds SQLite's own check of the file.
  std::vector<store::Violation> verify(bool deep);
  /// Closes everything; digest over every byte of the file that is left.
  std::string file_digest();
  /// Runs SQL on the file behind the back of the store, without its triggers: for controls.
  void damage(const std::string& sql);
  bool verified(std::size_t wallet);
  void set_paused(std::size_t connector, bool paused);
  /// Details of the third party that are not those it has.
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
  std::optional<flows::Context> context_;
  Caller caller_;
};

}  // namespace coffer::property
