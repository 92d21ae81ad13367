#include "store/operations/seals.h"

#include <array>
#include <utility>
#include <vector>

#include "base/uuid.h"

namespace coffer::store {
namespace {

constexpr std::array<SealedColumn, 7> kSealColumns{{
    {"approvals", "sealed_arguments", "approval:"},
    {"operators", "sealed_otp", "operator-otp:"},
    {"users", "sealed_otp", "user-otp:"},
    {"wallets", "sealed_seed", "wallet-seed:"},
    {"connector_endpoints", "sealed_secret", "connector-secret:"},
    {"webhooks", "sealed_secret", "webhook-secret:"},
    {"webhooks", "old_secret", "webhook-secret:"},
}};

constexpr const char* kMeta =
    "SELECT name, value FROM meta WHERE name IN ('challenge_key', 'chain_key', 'checkpoint_key')"
    " OR name GLOB 'listener_secret:*'";
constexpr std::string_view kChallengeKey = "challenge_key";
constexpr std::string_view kChallengeContext = "challenge-key";

Result<std::int64_t> reseal_column(WriteTx& tx, const SealedColumn& column, const Reseal& reseal) {
  struct Row {
    std::int64_t key;
    Uuid id;
    std::string sealed;
  };
  const std::string table(column.table);
  const std::string value(column.column);
  std::vector<Row> rows;
  {
    Query query(tx.db(), tx.db().interned("SELECT rowid, id, " + value + " FROM " + table +
                                          " WHERE " + value + " IS NOT NULL"));
    while (query.step()) rows.push_back({query.integer(0), query.uuid(1), query.blob(2)});
  }
  const char* update =
      tx.db().interned("UPDATE " + table + " SET " + value + " = ? WHERE rowid = ?");
  for (const Row& row : rows) {
    COFFER_TRY(const std::string fresh,
               reseal(row.sealed, std::string(column.context) + row.id.to_string()));
    tx.db().run(update, Blob{fresh}, row.key);
  }
  return static_cast<std::int64_t>(rows.size());
}

Result<std::int64_t> reseal_meta(WriteTx& tx, const Reseal& reseal) {
  std::vector<std::pair<std::string, std::string>> rows;
  {
    Query query(tx.db(), kMeta);
    while (query.step()) rows.emplace_back(query.text(0), query.blob(1));
  }
  for (const auto& [name, sealed] : rows) {
    COFFER_TRY(const std::string fresh,
               reseal(sealed, name == kChallengeKey ? std::string(kChallengeContext) : name));
    tx.db().run("UPDATE meta SET value = ? WHERE name = ?", Blob{fresh}, name);
  }
  return static_cast<std::int64_t>(rows.size());
}

}  // namespace

std::span<const SealedColumn> sealed_columns() { return kSealColumns; }

Result<std::int64_t> reseal_all(WriteTx& tx, const Reseal& reseal) {
  COFFER_TRY(std::int64_t count, reseal_meta(tx, reseal));
  for (const SealedColumn& column : kSealColumns) {
    COFFER_TRY(const std::int64_t more, reseal_column(tx, column, reseal));
    count += more;
  }
  return count;
}

}  // namespace coffer::store
