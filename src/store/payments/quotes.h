// Quotes: priced once, used once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/parties/beneficiary.h"
#include "domain/providers/quote.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

struct QuoteRow {
  std::int64_t key = 0;
  QuoteId id;
  std::int64_t connector = 0;               // row key
  std::optional<std::int64_t> beneficiary;  // row keys; both only on off-ramps to a beneficiary
  std::optional<std::int64_t> destination;
  std::optional<BeneficiaryId> beneficiary_id;  // their public IDs; read, not written
  std::optional<DestinationId> destination_id;
  std::optional<TransactionType> type;
  Price price;
  std::optional<std::string> provider_reference;
  Timestamp created_at;
  Timestamp expires_at;
  std::optional<std::int64_t> payment;  // the payment that used the quote

  QuoteStatus status(Timestamp now) const {
    return quote_status(payment.has_value(), expires_at, now);
  }
};

std::optional<QuoteRow> find_quote(Connection& db, const Tenant& tenant, QuoteId id);
/// For the operator. Does not check the tenant, so never call it for an integrator's route.
std::optional<QuoteRow> find_quote_by_key(Connection& db, std::int64_t quote);
/// Quotes of this connector that can still be used, in all associations.
std::int64_t open_quotes(Connection& db, std::int64_t connector, Timestamp now);
/// Returns the row key.
std::int64_t insert_quote(WriteTx& tx, const Tenant& tenant, const QuoteRow& row);
/// A quote can be used once; a second use is a bug and throws.
void use_quote(WriteTx& tx, const Tenant& tenant, std::int64_t quote, std::int64_t payment);
/// Expires an unused quote at `tx.now()`.
void expire_quote(WriteTx& tx, const Tenant& tenant, const QuoteRow& quote);

/// The data of a beneficiary that a quote needs. The beneficiary is not archived.
struct QuoteParty {
  std::int64_t beneficiary = 0;              // row key
  EntityType sender = EntityType::business;  // the association
  EntityType receiver = EntityType::person;
};
std::optional<QuoteParty> find_quote_party(Connection& db, const Tenant& tenant, BeneficiaryId id);

/// The destinations that are not archived, in the order in which they were added.
struct QuoteDestination {
  std::int64_t key = 0;
  DestinationId id;
  DestinationMethod method = DestinationMethod::bank;
  std::string country;  // may be empty for crypto
  std::string currency;
};
std::vector<QuoteDestination> quote_destinations(Connection& db, std::int64_t beneficiary);

}  // namespace coffer::store
