// The history of one payment: the rows related to its record, each found without reading unrelated
// rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/providers/provider_payment.h"
#include "store/ledger/journal.h"
#include "store/webhooks/events.h"

namespace coffer::store {

/// The owner of an account: its kind, and for a wallet or clearing account a name.
struct StoryAccount {
  AccountKind kind = AccountKind::wallet;
  std::string owner;
  std::optional<WalletId> wallet;
};
struct StoryEntry {
  Timestamp at;
  JournalKind kind = JournalKind::payment;
  StoryAccount account;
  StoryAccount counterparty;
  AssetCode asset;
  int decimals = Amount::kScale;
  Amount amount;
  Amount balance_after;
};
/// In the order of posting.
std::vector<StoryEntry> entries_of_payment(Connection& db, std::int64_t payment);

struct StoryAttempt {
  int attempt = 0;
  ProviderCall call = ProviderCall::status;
  Timestamp opened_at;
  std::optional<Timestamp> closed_at;
  std::optional<std::string> outcome;
};
std::vector<StoryAttempt> attempts_of_payment(Connection& db, std::int64_t payment);

/// The payment's events, whose times are exactly those of its status changes.
std::vector<EventRow> events_of_payment(Connection& db, const Tenant& tenant, std::int64_t payment,
                                        std::span<const Timestamp> changes);
/// Row keys of the tenant's endpoints, including disabled ones, newest first.
std::vector<std::int64_t> webhooks_of_tenant(Connection& db, const Tenant& tenant, int limit);

struct StoryJob {
  Timestamp due_at;
  int attempts = 0;
  bool with_provider = false;
};
/// The next step of the payment; empty if it is complete.
std::optional<StoryJob> job_of_payment(Connection& db, std::int64_t payment);

/// The payer or receiver as shown to operators. A multi-transfer has sides only in its legs.
struct StorySide {
  std::optional<std::string> name;
  std::optional<std::string> account;  // account number, IBAN, phone number or address, not masked
};
struct StorySides {
  StorySide source;
  StorySide destination;
};
StorySides sides_of_payment(Connection& db, std::int64_t payment);
/// The sides of each leg of a multi-transfer, in order.
std::vector<StorySides> sides_of_legs(Connection& db, std::int64_t payment);

/// Names for the operator in addition to the record.
struct StoryParties {
  std::string application;
  ApplicationId application_id;
  std::optional<std::string> connector;
  std::optional<std::string> provider_url;  // to which it was first submitted
  std::optional<Rate> rate;                 // of the quote that priced it
};
StoryParties parties_of_payment(Connection& db, std::int64_t payment);

}  // namespace coffer::store
