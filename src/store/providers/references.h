// On-ramp references, and the payments that arrived on them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/providers/connector.h"
#include "store/commits/write_tx.h"
#include "store/rows/key_walk.h"

namespace coffer::store {

struct ReferenceRow {
  std::int64_t key = 0;
  std::int64_t tenant = 0;
  std::int64_t application = 0;
  std::int64_t connector = 0;
  ConnectorId connector_id;
  std::int64_t wallet = 0;
  WalletId wallet_id;
  std::string settlement_account;  // the wallet's public key
  std::string customer_id;
  std::string reference;
  std::optional<std::map<std::string, std::string>> metadata;  // empty on a rebind
  std::vector<ReferenceRow> related;  // issued together with this one for the same customer
  Timestamp created_at;
};

struct ReferenceFilter {
  std::optional<ConnectorId> connector;
  std::optional<std::string> customer_id;
};

/// Writes the reference with its related ones and all metadata; returns the key of the first.
std::int64_t insert_reference(WriteTx& tx, const Tenant& tenant, const ReferenceRow& row);
/// Whether the customer has references on the connector.
bool has_references(Connection& db, const Tenant& tenant, std::int64_t connector,
                    std::string_view customer_id);
/// Returns false if any tenant has the reference.
bool is_reference_free(Connection& db, std::int64_t connector, std::string_view reference);
/// Registered references with their related ones, newest first.
RowPage<ReferenceRow> list_references(Connection& db, const Tenant& tenant,
                                      const ReferenceFilter& filter, const PageAt& page);
/// Of any tenant: a provider sends only the reference.
std::optional<ReferenceRow> find_reference(Connection& db, std::int64_t connector,
                                           std::string_view reference);
/// The caller's reference, of any connector; for the sandbox's pay route.
std::optional<ReferenceRow> find_own_reference(Connection& db, const Tenant& tenant,
                                               std::string_view reference);

/// The payment that was created for this ID of the provider, if any.
std::optional<std::int64_t> find_reference_payment(Connection& db, std::int64_t connector,
                                                   std::string_view provider_payment_id);
void insert_reference_payment(WriteTx& tx, const ReferenceRow& reference,
                              std::string_view provider_payment_id, std::int64_t payment);

}  // namespace coffer::store
