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
#include "domain/payment.h"
#include "flows/context.h"
#include "outbound/sandbox_connector.h"
#include "store/invariants.h"
#include "store/payments.h"
#include "store/wallets.h"

namespace coffer::property {

/// What is registered in it; the model knows these by their index.
struct WorldAsset {
  std::string code;
  int decimals;
  std::int64_t key = 0;
};
struct WorldWallet {
  std::string name;
  bool usable = true;   // Verified, and of the tenant that pays
  bool foreign = false; // of another tenant: for the caller it does not exist
  std::vector<std::size_t> assets;  // its trustlines
  WalletId id;
  std::int64_t key = 0;
};

/// One row of the ledger, as stored.
struct StoredAccount {
  int kind;
  std::int64_t wallet;  // 0: the operator's
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
  std::vector<store::Violation> verify();
  /// Digest over all links and event ids: equal when two runs wrote the same.
  std::string fingerprint();

  ManualClock clock;
  std::vector<WorldAsset> assets;
  std::vector<WorldWallet> wallets;

 private:
  void open();
  void register_all();
  void register_wallet(WorldWallet& wallet, const Tenant& tenant);

  SeededRandom random_;
  std::string folder_;
  auth::MasterKey master_;
  auth::Sealer sealer_;
  auth::TokenIssuer tokens_;
  outbound::SandboxConnector connectors_{clock};
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<store::CommitQueue> queue_;
  std::optional<flows::Context> context_;
  Caller caller_;
};

}  // namespace coffer::property
