// The ledger of one environment as an accountant reads it: accounts, entry sets of a period, and
// the balances at its bounds. Everything is final, so a period that has ended always reads the
// same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ids.h"
#include "domain/ledger/ledger.h"
#include "domain/payments/payment.h"
#include "store/file/connection.h"
#include "store/ledger/journal.h"
#include "store/ledger/statements.h"

namespace coffer::store {

/// The period from `start` to `end`, exclusive; both are midnights UTC.
struct BookPeriod {
  Environment environment = Environment::production;
  Timestamp start;
  Timestamp end;
  EntryRange entries;  // of both environments
};
/// Without a start or an end: the day of the first entry, and the day after the last one.
BookPeriod book_period(Connection& db, Environment environment, std::optional<Timestamp> start,
                       std::optional<Timestamp> end);

struct BookAsset {
  std::int64_t key = 0;
  std::string code;
  std::string name;
};
/// The assets of the accounts that existed before the end of the period.
void each_book_asset(Connection& db, const BookPeriod& period,
                     const std::function<void(const BookAsset&)>& take);

struct BookAccount {
  std::int64_t key = 0;
  AccountKind kind = AccountKind::wallet;
  std::int64_t asset = 0;
  std::string asset_code;
  std::optional<AssociationId> association;  // of a wallet
  std::optional<WalletId> wallet;
  std::optional<ConnectorId> connector;  // of a clearing account
  Timestamp created_at;
  // At the bounds of the period; not of an entry.
  Amount opening;
  Amount closing;
};
/// The accounts that existed before the end of the period, in the order of their creation.
void each_book_account(Connection& db, const BookPeriod& period,
                       const std::function<void(const BookAccount&)>& take);
/// The accounts of this kind, in the order of their creation; not for those of wallets.
std::vector<BookAccount> operator_book_accounts(Connection& db, const BookPeriod& period,
                                                AccountKind kind);

struct BookEntry {
  std::int64_t entry = 0;  // entry set * kLinesPerSet + line
  Timestamp at;
  JournalKind kind = JournalKind::payment;
  std::optional<PaymentType> type;
  std::optional<PaymentId> payment;
  std::string transaction_id;
  std::string description;  // of the payment or funding
  std::string link;         // of the entry set, in the chain of all
  Amount amount;
  BookAccount account;
};
/// The entries of the period in order; those of an entry set are adjacent.
void each_book_entry(Connection& db, const BookPeriod& period,
                     const std::function<void(const BookEntry&)>& take);

}  // namespace coffer::store
