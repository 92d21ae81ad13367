#include "flows/payments/make_quote.h"

#include <algorithm>

#include "base/telemetry/log.h"
#include "domain/providers/quote.h"
#include "flows/payments/limits.h"
#include "flows/payments/terms.h"
#include "store/commit_rider.h"
#include "store/identity/tenants.h"

namespace coffer::flows {
namespace {

/// Data that is read before the provider is called.
struct Prepared {
  store::ConnectorRow connector;
  store::QuoteRow quote;       // prices and times are filled in later
  std::optional<FeeRule> fee;  // the association's own fee, if it has one
};

Problem unknown_quote() { return Problem(Slug::not_found, "The quote was not found."); }

PayMethod pay_method(DestinationMethod method) {
  switch (method) {
    case DestinationMethod::bank:
      return PayMethod::bank;
    case DestinationMethod::mobile_money:
      return PayMethod::momo;
    case DestinationMethod::crypto:
      return PayMethod::crypto;
  }
  throw InternalError("unknown destination method");
}

void check_connector(const ConnectorTerms& connector, const QuoteRequest& request,
                     ValidationErrors& errors) {
  if (connector.flow == ConnectorFlow::bespoke) {
    errors.add(Slug::validation_failed, "connectorId",
               "is provider-initiated (flow BESPOKE) and has no quotes");
  } else if (request.direction && connector.direction != *request.direction) {
    errors.add(Slug::validation_failed, "connectorId",
               "has the direction " + std::string(name(connector.direction)) +
                   "; off-ramp and on-ramp payments have separate connectors");
  }
  if (connector.status == ConnectorStatus::paused) {
    errors.add(Slug::conflict, "connectorId", "is paused");
  }
}

/// The requested destination or, without a request, the only suitable one.
void attribute(const std::vector<store::QuoteDestination>& destinations,
               const ConnectorTerms& connector, std::optional<DestinationId> wanted,
               store::QuoteRow& quote, ValidationErrors& errors) {
  const store::QuoteDestination* found = nullptr;
  int fitting = 0;
  for (const store::QuoteDestination& destination : destinations) {
    const bool fit = fits(connector, destination);
    if (wanted ? destination.id == *wanted : fit) found = &destination;
    if (fit) ++fitting;
  }
  if (wanted && found == nullptr) {
    errors.add(Slug::not_found, "destinationId", "is not a destination of this beneficiary");
  } else if (wanted && !fits(connector, *found)) {
    errors.add(Slug::validation_failed, "destinationId",
               "does not match the method, country and currency of the connector");
  } else if (wanted || fitting == 1) {
    quote.destination = found->key;
    quote.destination_id = found->id;
  }
}

void prepare_beneficiary(store::Connection& db, const Tenant& tenant, const QuoteRequest& request,
                         const ConnectorTerms* connector, store::QuoteRow& quote,
                         ValidationErrors& errors) {
  const auto party = store::find_quote_party(db, tenant, *request.beneficiary);
  if (!party) {
    errors.add(Slug::not_found, "beneficiaryId", "is not one of your beneficiaries");
    return;
  }
  quote.beneficiary = party->beneficiary;
  quote.beneficiary_id = *request.beneficiary;
  quote.type = transaction_type(party->sender == EntityType::business,
                                party->receiver == EntityType::business);
  if (connector == nullptr) return;
  attribute(store::quote_destinations(db, party->beneficiary), *connector, request.destination,
            quote, errors);
}

/// The transaction type with which an association pays consumers, for a quote without a
/// beneficiary.
TransactionType default_type(store::Connection& db, const Tenant& tenant) {
  const auto association = store::find_association(db, tenant.association);
  return transaction_type(association->entity_type == EntityType::business, false);
}

void check_type(const ConnectorTerms& connector, const QuoteRequest& request,
                const store::QuoteRow& quote, ValidationErrors& errors) {
  if (!quote.type || contains(connector.types, *quote.type)) return;
  errors.add(Slug::validation_failed, request.beneficiary ? "beneficiaryId" : "transactionType",
             "makes this a " + std::string(name(*quote.type)) +
                 " payment, which the connector does not support");
}

Result<Prepared> prepare(const Context& context, store::Connection& db, const Tenant& tenant,
                         const QuoteRequest& request) {
  ValidationErrors errors;
  Prepared out;
  auto row = store::find_connector(db, tenant.environment, request.connector);
  if (!row)
    errors.add(Slug::not_found, "connectorId",
               "is not a connector; list connectors with GET /v1/connectors");
  const ConnectorTerms* connector = row ? &row->terms : nullptr;
  out.quote.type = request.type;
  if (request.beneficiary) {
    prepare_beneficiary(db, tenant, request, connector, out.quote, errors);
  }
  if (connector != nullptr) {
    check_connector(*connector, request, errors);
    const bool off_ramp = connector->direction == Direction::off_ramp;
    if (off_ramp && !out.quote.type) out.quote.type = default_type(db, tenant);
    check_type(*connector, request, out.quote, errors);
    if (!request.exact_receive) check_quote_amount(*connector, request.amount, errors);
    if (off_ramp && out.quote.destination && !request.exact_receive) {
      check_limits(db, *connector, *out.quote.destination, request.amount, context.queue.now(),
                   errors);
    }
    if (off_ramp) {
      out.fee = store::find_fee(db, tenant.association, connector->key, *out.quote.type);
    }
    out.quote.connector = connector->key;
    const int decimals = connector->receive_decimals();
    if (request.exact_receive && truncate_to(request.amount, decimals) != request.amount) {
      errors.add(Slug::amount_precision, "amount",
                 decimals_rule(connector->receive_code(), decimals));
    }
  }
  COFFER_TRY_VOID(errors.check());
  out.connector = *std::move(row);
  return out;
}

/// `provider-error`, with the reason in the log, if the quote contradicts the request, itself or
/// the connector's terms.
Result<void> check_answer(const ConnectorTerms& terms, const QuoteAsk& ask,
                          const outbound::ProviderQuote& answer, Timestamp now) {
  std::string fault = quote_fault(terms, ask, answer);
  if (fault.empty() && answer.expires_at && *answer.expires_at <= now) {
    fault = "`expiresAt` is in the past";
  }
  if (fault.empty()) return {};
  log_warning("provider", "response rejected",
              {{"connector", terms.id.to_string()}, {"call", "quote"}, {"reason", fault}});
  return unexpected(Slug::provider_error, "The provider's quote is not valid.");
}

Result<Price> price_of(const Prepared& prepared, const outbound::ProviderQuote& answer) {
  Price price{answer.send, answer.receive, answer.fee, answer.send, answer.rate};
  const ConnectorTerms& terms = prepared.connector.terms;
  if (terms.direction == Direction::on_ramp) return price;
  if (prepared.fee) {
    COFFER_TRY(price.fee, fee_on(*prepared.fee, answer.send, terms.send_decimals()));
  }
  COFFER_TRY(price.total, price.send.add(price.fee));
  return price;
}

/// With an exact receive amount, the send amount is known only after the provider has responded.
Result<void> check_send(const Context& context, const Prepared& prepared, const Price& price) {
  ValidationErrors errors;
  const ConnectorTerms& terms = prepared.connector.terms;
  check_received_amount(terms, price, errors);
  if (!prepared.quote.destination) {
    if (errors.empty()) return {};
    return unexpected(errors.problem());
  }
  return context.read([&](store::Connection& db) -> Result<void> {
    check_limits(db, terms, *prepared.quote.destination, price.send, context.queue.now(), errors);
    if (errors.empty()) return {};
    return unexpected(errors.problem());
  });
}

}  // namespace

bool fits(const ConnectorTerms& connector, const store::QuoteDestination& destination) {
  return connector.direction == Direction::off_ramp &&
         pay_method(destination.method) == connector.method &&
         (destination.country.empty() || destination.country == connector.country) &&
         (destination.currency.empty() || destination.currency == connector.currency);
}

Result<Quoted> make_quote(const Context& context, const Tenant& tenant,
                          const QuoteRequest& request) {
  COFFER_TRY(Prepared prepared, context.read([&](store::Connection& db) {
    return prepare(context, db, tenant, request);
  }));
  COFFER_TRY(const ConnectorTerms terms, callable(context, prepared.connector));
  const QuoteAsk ask{request.amount, request.exact_receive, prepared.quote.type};
  COFFER_TRY(const outbound::ProviderQuote answer, context.connectors.quote(terms, ask));
  COFFER_TRY_VOID(check_answer(terms, ask, answer, context.queue.now()));
  store::QuoteRow quote = prepared.quote;
  COFFER_TRY(quote.price, price_of(prepared, answer));
  if (request.exact_receive) COFFER_TRY_VOID(check_send(context, prepared, quote.price));
  quote.provider_reference = answer.reference;
  const store::CommitRider::Aside no_rider;
  COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY_VOID(tx.check_quota(tenant, Quota::open_quotes));
    COFFER_TRY_VOID(check_association_limit(tx, tenant, terms, quote.price.send));
    // The amounts have the decimals from before the provider's response.
    if (store::currency_decimals_of(tx.db(), quote.connector) != terms.currency_decimals) {
      return unexpected(overloaded("The connector has just changed. Retry the request."));
    }
    quote.id = tx.new_id<QuoteId>(context.random);
    quote.created_at = tx.now();
    quote.expires_at = tx.now().plus_ms(kQuoteLifetimeMs);
    if (answer.expires_at) quote.expires_at = std::min(quote.expires_at, *answer.expires_at);
    quote.key = store::insert_quote(tx, tenant, quote);
    return {};
  }));
  return Quoted{std::move(quote), std::move(prepared.connector.terms)};
}

Result<Quoted> find_quote(const Context& context, const Tenant& tenant, QuoteId id) {
  return context.read([&](store::Connection& db) -> Result<Quoted> {
    COFFER_TRY(auto quote, existing(store::find_quote(db, tenant, id), "quote"));
    auto connector = store::find_connector_by_key(db, quote.connector);
    return Quoted{std::move(quote), std::move(connector->terms)};
  });
}

Result<Quoted> expire_quote(const Context& context, const Tenant& tenant, QuoteId id) {
  COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) -> Result<void> {
    const auto quote = store::find_quote(tx.db(), tenant, id);
    if (!quote) return unexpected(unknown_quote());
    switch (quote->status(tx.now())) {
      case QuoteStatus::used:
        return unexpected(Slug::quote_already_used, "The quote was already used.");
      case QuoteStatus::expired:
        return unexpected(Slug::quote_expired, "The quote has already expired.");
      case QuoteStatus::open:
        store::expire_quote(tx, tenant, *quote);
        return {};
    }
    throw InternalError("unknown quote status");
  }));
  return find_quote(context, tenant, id);
}

}  // namespace coffer::flows
