#include "flows/providers/connector_changes.h"

#include "base/digest.h"
#include "base/text/ascii.h"
#include "flows/payments/terms.h"
#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"
#include "store/payments/quotes.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {
namespace {

/// The errors of a check as one Problem.
template <class Check>
Result<void> judged(const Check& check) {
  ValidationErrors errors;
  check(errors);
  return errors.check();
}

Secret new_secret(Random& random) { return Secret("psk_" + to_base64url(random.bytes(32))); }

Result<Asset> find_registered(store::Connection& db, const AssetCode& code) {
  auto asset = store::find_asset(db, code);
  if (asset) return *std::move(asset);
  return unexpected(Problem(Slug::validation_failed, "The asset was not found.",
                            {{"assetCode", "is not a registered asset: " + code.value()}}));
}

using Change = std::function<Result<void>(store::WriteTx&, store::ConnectorRow&)>;

Result<store::ConnectorRow> change_row(const Context& context, ConnectorId id,
                                       const Change& change) {
  return context.write([&](store::WriteTx& tx) -> Result<store::ConnectorRow> {
    COFFER_TRY(auto row, existing(store::find_connector_of_any(tx.db(), id), "connector"));
    COFFER_TRY_VOID(change(tx, row));
    store::update_connector(tx, row);
    row.updated_at = tx.now();
    return row;
  });
}

Result<void> require_endpoint(const store::ConnectorRow& row) {
  if (row.terms.endpoint) return {};
  return unexpected(Slug::conflict, "Only connectors with the " + drivers_that_call_out() +
                                        " driver have a URL and a secret.");
}

/// `conflict` while payments are in progress at `left`, a retired endpoint whose secret is not
/// `secret`: its provider would reject requests about these payments with the new secret.
Result<void> require_same_secret(const Context& context, store::WriteTx& tx,
                                 const store::ConnectorRow& left, const Secret& secret) {
  COFFER_TRY(const ConnectorTerms own, callable(context, left));
  if (own.endpoint->secret.reveal() == secret.reveal()) return {};
  if (store::payments_in_progress_at(tx.db(), own.key, own.endpoint->key) == 0) return {};
  return unexpected(Slug::conflict, "Payments are in progress at " + own.endpoint->base_url +
                                        " with its former secret. Use this URL again when they are "
                                        "complete, or resolve them with coffer payment resolve.");
}

/// Moves `row` to an endpoint at another address, either a retired one or a new one. It keeps the
/// connector's secret, sealed for the ID of the endpoint.
Result<void> move_to(const Context& context, store::WriteTx& tx, store::ConnectorRow& row,
                     const std::string& base_url) {
  COFFER_TRY(const ConnectorTerms before, callable(context, row));
  const Secret secret = before.endpoint->secret;
  row.terms.endpoint->base_url = base_url;
  row.terms.endpoint->key = 0;
  row.endpoint_id = context.random.uuid_v7(tx.now());
  for (const store::ConnectorRow& left : store::find_connector_at_retired(tx.db(), row.terms.key)) {
    if (left.terms.endpoint->base_url != base_url) continue;
    COFFER_TRY_VOID(require_same_secret(context, tx, left, secret));
    row.terms.endpoint->key = left.terms.endpoint->key;
    row.endpoint_id = left.endpoint_id;
  }
  seal_secret(context, row, secret);
  store::move_connector(tx, row);
  return {};
}

std::string counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? " is" : "s are");
}

/// `conflict` while the provider may still report amounts with the present decimals.
Result<void> require_unused(store::WriteTx& tx, const ConnectorTerms& terms) {
  const std::int64_t payments = store::unfinished_payments(tx.db(), terms.key);
  const std::int64_t quotes = store::open_quotes(tx.db(), terms.key, tx.now());
  if (payments == 0 && quotes == 0) return {};
  return unexpected(
      Slug::conflict,
      counted(payments, "payment") + " in progress or open, and " + counted(quotes, "quote") +
          " open, with the present decimal places. Pause the connector and wait until payments are "
          "complete and quotes have expired (2 minutes). Resolve open payments. Then repeat.");
}

/// `conflict` while payments are in progress at the current address.
Result<void> require_idle(store::WriteTx& tx, const ConnectorTerms& terms) {
  const std::int64_t count =
      store::payments_in_progress_at(tx.db(), terms.key, terms.endpoint->key);
  if (count == 0) return {};
  return unexpected(
      Slug::conflict,
      counted(count, "payment") + " in progress at " + terms.endpoint->base_url +
          " and cannot move, because a different provider could execute them a second time. Pause "
          "the connector and wait until they are complete, or change the URL with --confirm: they "
          "then stay at the former URL, which must respond until they are complete.");
}

/// Changes the requirements of a connector, which are read in the same command.
Result<void> change_requirements(const Context& context, ConnectorId id,
                                 const std::function<void(std::vector<Requirement>&)>& change) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const auto row, existing(store::find_connector_of_any(tx.db(), id), "connector"));
    auto requirements = store::requirements_of(tx.db(), row.terms.key);
    change(requirements);
    COFFER_TRY_VOID(
        judged([&](ValidationErrors& errors) { check_requirement_list(requirements, errors); }));
    store::replace_requirements(tx, row.terms.key, requirements);
    return {};
  });
}

/// The row with its keys; `not-found` for a missing association or connector.
Result<store::FeeRow> fee_row(store::Connection& db, AssociationId association, ConnectorId id,
                              TransactionType type) {
  if (!store::find_association(db, association)) {
    return unexpected(Slug::not_found, "The association was not found.");
  }
  COFFER_TRY(const auto connector, existing(store::find_connector_of_any(db, id), "connector"));
  return store::FeeRow{association, id, connector.terms.key, type, {}};
}

}  // namespace

Result<RegisteredConnector> register_connector(const Context& context,
                                               const NewConnector& connector) {
  RegisteredConnector out{{.terms = connector.terms}, {}};
  ConnectorTerms& terms = out.connector.terms;
  terms.country = ascii::to_upper(terms.country);
  terms.currency = ascii::to_upper(terms.currency);
  if (terms.endpoint) {
    out.connector.endpoint_id = context.random.uuid_v7(context.clock.now());
    out.secret = std::exchange(terms.endpoint->secret, Secret());
    if (out.secret.empty()) out.secret = new_secret(context.random);
    seal_secret(context, out.connector, out.secret);
  }
  COFFER_TRY_VOID(judged(
      [&](ValidationErrors& errors) { check_requirement_list(connector.requirements, errors); }));
  const auto insert = [&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(terms.asset, find_registered(tx.db(), connector.terms.asset.code));
    COFFER_TRY_VOID(judged([&](ValidationErrors& errors) {
      change_terms(terms, connector.change, errors);
      check_terms(terms, errors);
    }));
    terms.id = tx.new_id<ConnectorId>(context.random);
    terms.created_at = out.connector.updated_at = tx.now();
    terms.key = store::insert_connector(tx, out.connector, connector.requirements);
    return {};
  };
  COFFER_TRY_VOID(context.write(insert, commit_unless(connector.validate_only)));
  return out;
}

Result<store::ConnectorRow> change_connector(const Context& context, ConnectorId id,
                                             const ConnectorChange& change) {
  return change_row(context, id, [&](store::WriteTx& tx, store::ConnectorRow& row) -> Result<void> {
    ConnectorTerms wanted = row.terms;
    change.apply_to(wanted);
    if (wanted.currency_decimals != row.terms.currency_decimals) {
      COFFER_TRY_VOID(require_unused(tx, row.terms));
    }
    return judged([&](ValidationErrors& errors) { change_terms(row.terms, change, errors); });
  });
}

Result<store::ConnectorRow> set_connector_endpoint(const Context& context, ConnectorId id,
                                                   const EndpointChange& change) {
  return change_row(context, id, [&](store::WriteTx& tx, store::ConnectorRow& row) -> Result<void> {
    COFFER_TRY_VOID(require_endpoint(row));
    ConnectorTerms wanted = row.terms;
    ProviderEndpoint& endpoint = *wanted.endpoint;
    endpoint.base_url = change.base_url.value_or(endpoint.base_url);
    endpoint.timeout_ms = change.timeout_ms.value_or(endpoint.timeout_ms);
    COFFER_TRY_VOID(judged([&](ValidationErrors& errors) { check_endpoint(wanted, errors); }));
    if (row.terms.endpoint->base_url != endpoint.base_url) {
      if (!change.confirmed) COFFER_TRY_VOID(require_idle(tx, row.terms));
      COFFER_TRY_VOID(move_to(context, tx, row, endpoint.base_url));
    }
    row.terms.endpoint->timeout_ms = endpoint.timeout_ms;
    return {};
  });
}

Result<RegisteredConnector> rotate_connector_secret(const Context& context, ConnectorId id) {
  const Secret secret = new_secret(context.random);
  COFFER_TRY(auto row, change_row(context, id,
                                  [&](store::WriteTx&, store::ConnectorRow& row) -> Result<void> {
                                    COFFER_TRY_VOID(require_endpoint(row));
                                    seal_secret(context, row, secret);
                                    return {};
                                  }));
  return RegisteredConnector{std::move(row), secret};
}

Result<void> require_field(const Context& context, ConnectorId id,
                           const RequirementChange& change) {
  return change_requirements(context, id, [&](std::vector<Requirement>& requirements) {
    change_requirement(requirements, change);
  });
}

Result<void> unrequire_field(const Context& context, ConnectorId id, const std::string& name) {
  return change_requirements(context, id, [&](std::vector<Requirement>& requirements) {
    std::erase_if(requirements, [&](const Requirement& one) { return one.name == name; });
  });
}

Result<store::FeeRow> set_fee(const Context& context, AssociationId association, ConnectorId id,
                              TransactionType type, const FeeChange& change) {
  return context.write([&](store::WriteTx& tx) -> Result<store::FeeRow> {
    COFFER_TRY(store::FeeRow row, fee_row(tx.db(), association, id, type));
    const auto connector = store::find_connector_of_any(tx.db(), id);
    if (connector->terms.direction != Direction::off_ramp) {
      return unexpected(Problem(
          Slug::validation_failed, "Fees of associations apply to off-ramp connectors only.",
          {{"connectorId", "is an on-ramp connector, which has one fee for all"}}));
    }
    const auto present = store::find_fee(tx.db(), association, row.connector_key, type);
    row.fee = present.value_or(FeeRule());
    change.apply_to(row.fee);
    COFFER_TRY_VOID(
        judged([&](ValidationErrors& errors) { check_fee(connector->terms, row.fee, errors); }));
    store::put_fee(tx, row);
    return row;
  });
}

Result<void> remove_fee(const Context& context, AssociationId association, ConnectorId id,
                        TransactionType type) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const store::FeeRow row, fee_row(tx.db(), association, id, type));
    if (store::delete_fee(tx, row)) return {};
    return unexpected(Slug::not_found, "The fee was not found.");
  });
}

}  // namespace coffer::flows
