// Quotes: priced once, used once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/parties/beneficiary.h"
#include "domain/payments/quote.h"
#include "store/write_tx.h"

namespace coffer::store {

struct QuoteRow {
  std::int64_t key = 0;
  QuoteId id;
  std::int64_t connector = 0;               // key
  std::optional<std::int64_t> beneficiary;  // keys; both only on off-ramps for a beneficiary
  std::optional<std::int64_t> destination;
  std::optional<BeneficiaryId> beneficiary_id;  // of the same; read, not written
  std::optional<DestinationId> destination_id;
  std::optional<TransactionType> type;
  Price price;
  std::optional<std::string> provider_reference;
  Timestamp created_at;
  Timestamp expires_at;
  std::optional<std::int64_t> payment;  // that used it

  QuoteStatus status(Timestamp now) const {
    return quote_status(payment.has_value(), expires_at, now);
  }
};

std::optional<QuoteRow> find_quote(Connection& db, const Tenant& tenant, QuoteId id);
/// For the operator: no tenant is asked, so never on an integrator's route.
std::optional<QuoteRow> find_quote_by_key(Connection& db, std::int64_t quote);
/// Returns the key.
std::int64_t insert_quote(WriteTx& tx, const Tenant& tenant, const QuoteRow& row);
/// Exactly once per quote; a second use is a bug and throws.
void use_quote(WriteTx& tx, const Tenant& tenant, std::int64_t quote, std::int64_t payment);
/// Ends a quote that is not used, at `tx.now()`.
void expire_quote(WriteTx& tx, const Tenant& tenant, const QuoteRow& quote);

/// What a quote needs to know of a beneficiary that is not archived.
struct QuoteParty {
  std::int64_t beneficiary = 0;              // key
  EntityType sender = EntityType::business;  // the association
  EntityType receiver = EntityType::person;
};
std::optional<QuoteParty> find_quote_party(Connection& db, const Tenant& tenant, BeneficiaryId id);

/// And of its live destinations, in the order they were added.
struct QuoteDestination {
  std::int64_t key = 0;
  DestinationId id;
  DestinationMethod method = DestinationMethod::bank;
  std::string country;  // may be empty for crypto
  std::string currency;
};
std::vector<QuoteDestination> quote_destinations(Connection& db, std::int64_t beneficiary);

}  // namespace coffer::store
