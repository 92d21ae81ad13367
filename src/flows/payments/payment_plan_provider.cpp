// Off-ramps and on-ramps. A payment against a quote goes to the connector that priced it.
#include "domain/payments/compliance.h"
#include "domain/providers/quote.h"
#include "flows/payments/make_quote.h"
#include "flows/payments/payment_plan.h"
#include "flows/payments/terms.h"
#include "store/payments/quotes.h"
#include "store/providers/connectors.h"

namespace coffer::flows {
namespace {

/// An executable quote and its connector.
struct Priced {
  store::QuoteRow quote;
  store::ConnectorRow connector;
};

std::optional<Priced> priced(PlanChecks& checks, QuoteId id, Direction direction) {
  const auto quote = store::find_quote(checks.db(), checks.caller().tenant, id);
  if (!quote) {
    checks.errors().add(Slug::not_found, "quoteId", "is not one of your quotes");
    return std::nullopt;
  }
  const auto connector = store::find_connector_by_key(checks.db(), quote->connector);
  COFFER_CHECK(connector.has_value());
  if (connector->terms.direction != direction) {
    checks.errors().add(
        Slug::validation_failed, "quoteId",
        direction == Direction::off_ramp ? "is an on-ramp quote" : "is an off-ramp quote");
    return std::nullopt;
  }
  switch (quote->status(checks.tx().now())) {
    case QuoteStatus::used:
      checks.errors().add(Slug::quote_already_used, "quoteId",
                          "was already used; request a new quote");
      return std::nullopt;
    case QuoteStatus::expired:
      checks.errors().add(Slug::quote_expired, "quoteId", "has expired; request a new quote");
      return std::nullopt;
    case QuoteStatus::open:
      break;
  }
  if (connector->terms.status == ConnectorStatus::paused) {
    checks.errors().add(Slug::conflict, "quoteId", "belongs to a connector that is paused");
  }
  return Priced{*quote, *connector};
}

void check_vocabulary(PlanChecks& checks, const Compliance& compliance) {
  const auto wrong = [&](const char* field) {
    checks.errors().add(Slug::validation_failed, field,
                        "must be one of the codes of GET /v1/payments/enums");
  };
  if (!is_purpose_of_payment(compliance.purpose_of_payment)) wrong("purposeOfPayment");
  if (!is_source_of_funds(compliance.source_of_funds)) wrong("sourceOfFunds");
  if (!is_relationship(compliance.relationship)) wrong("relationship");
}

/// A payment against an exploratory quote must have the type that the quote was priced for.
void check_type(PlanChecks& checks, const Priced& found, BeneficiaryId beneficiary) {
  const auto party = store::find_quote_party(checks.db(), checks.caller().tenant, beneficiary);
  if (!party || !found.quote.type) return;
  const TransactionType type = transaction_type(party->sender == EntityType::business,
                                                party->receiver == EntityType::business);
  if (type == *found.quote.type) return;
  checks.errors().add(Slug::validation_failed, "quoteId",
                      "is priced for " + std::string(name(*found.quote.type)) +
                          " but this payment is " + std::string(name(type)) +
                          "; request a new quote");
}

/// The payment must match the request for which the quote was priced.
void check_same(PlanChecks& checks, const char* field, const std::optional<std::int64_t>& quoted,
                std::int64_t submitted) {
  if (quoted && *quoted != submitted) {
    checks.errors().add(Slug::validation_failed, field,
                        "must be the one for which the quote was requested, unchanged since then; "
                        "request a new quote");
  }
}

/// Asset codes in a submission are optional; if present, they must equal those of the quote.
void check_assets(PlanChecks& checks, const PaymentRequest& request, const ConnectorTerms& terms) {
  const auto check = [&](const char* field, const AssetCode& stated, std::string_view quoted) {
    if (stated == AssetCode() || stated.value() == quoted) return;
    checks.errors().add(Slug::validation_failed, field,
                        "must be " + std::string(quoted) + " as in the quote, or be omitted");
  };
  check("sendingAssetCode", request.only().sending_asset, terms.send_code());
  check("receivingAssetCode", request.receiving_asset.value_or(AssetCode()), terms.receive_code());
}

void fill_from_quote(PaymentPlan& plan, const Priced& found) {
  const ConnectorTerms& terms = found.connector.terms;
  TransferLeg& leg = plan.request.legs.front();
  leg.sending_asset = AssetCode::parse(terms.send_code()).value_or(AssetCode());
  leg.amount = found.quote.price.send;
  plan.request.receiving_asset.reset();  // records derive it from the connector
  plan.total = found.quote.price.send;
  plan.keys.connector = found.quote.connector;
  plan.keys.quote = found.quote.key;
  plan.provider = store::ProviderTerms{found.quote.price.fee, found.quote.price.total,
                                       found.quote.price.receive, found.quote.type};
  plan.lane = terms.lane();
}

void check_destination(PlanChecks& checks, const PaymentRequest& request, const Priced& found,
                       const store::BeneficiaryRow& beneficiary, PaymentPlan& plan) {
  const ConnectorTerms& terms = found.connector.terms;
  const auto destination = checks.destination(
      beneficiary, request.destination,
      "a " + std::string(name(terms.method)) + " destination in " + terms.country + " and " +
          terms.currency,
      [&](const Destination& candidate) {
        return fits(terms, {0, {}, candidate.method, candidate.country, candidate.currency});
      });
  if (!destination) return;
  check_same(checks, "destinationId", found.quote.destination, destination->key);
  check_limits(checks.db(), terms, destination->key, found.quote.price.send, checks.tx().now(),
               checks.errors());
  plan.request.destination = destination->id;
  plan.keys.destination = destination->key;
}

}  // namespace

CheckedFields check_fields(store::Connection& db, const Tenant& tenant,
                           const PaymentRequest& request) {
  CheckedFields out;
  const auto quote = request.quote ? store::find_quote(db, tenant, *request.quote) : std::nullopt;
  if (!quote) return out;
  const auto connector = store::find_connector_by_key(db, quote->connector);
  COFFER_CHECK(connector.has_value());
  const bool off_ramp = connector->terms.direction == Direction::off_ramp;
  const auto type = quote->type.value_or(off_ramp ? TransactionType::b2c : TransactionType::c2b);
  out.connector = connector->terms.key;
  out.version = connector->terms.requirements_version;
  check_requirements(store::requirements_of(db, out.connector), type, request.additional_fields,
                     out.errors);
  return out;
}

void PlanChecks::additional_fields(const store::ConnectorRow& connector) {
  checked_.outdated = checked_.connector != connector.terms.key ||
                      checked_.version != connector.terms.requirements_version;
  if (checked_.outdated) {
    errors_.add(Slug::conflict, "quoteId",
                "belongs to a connector that is being changed; retry the request");
  } else {
    errors_.add(checked_.errors);
  }
}

Result<PaymentPlan> plan_offramp(PlanChecks& checks, const PaymentRequest& request) {
  PaymentPlan plan;
  plan.request = request;
  const auto found = priced(checks, *request.quote, Direction::off_ramp);
  const auto source = checks.wallet(*request.only().source_wallet, "sourceWalletId");
  const auto beneficiary = checks.beneficiary(*request.beneficiary);
  check_vocabulary(checks, *request.compliance);
  std::optional<AccountKey> debit;
  if (found) {
    const ConnectorTerms& terms = found->connector.terms;
    debit = checks.trustline(source, &terms.asset, "sourceWalletId");
    check_assets(checks, request, terms);
    fill_from_quote(plan, *found);
    if (source) plan.keys.legs.push_back({source->key, std::nullopt, terms.asset.key});
  }
  if (beneficiary) {
    plan.keys.beneficiary = beneficiary->key;
    checks.notification(request, email(beneficiary->detail).has_value(),
                        phone(beneficiary->detail).has_value());
    if (found) {
      check_same(checks, "beneficiaryId", found->quote.beneficiary, beneficiary->key);
      check_type(checks, *found, *request.beneficiary);
      check_destination(checks, request, *found, *beneficiary, plan);
      checks.additional_fields(found->connector);
    }
  }
  COFFER_TRY_VOID(checks.errors().check());
  plan.movements.push_back({*debit, 0, plan.provider->total});
  COFFER_TRY_VOID(checks.funds(plan.movements, {"quoteId"}));
  return plan;
}

Result<PaymentPlan> plan_collection(PlanChecks& checks, const PaymentRequest& request) {
  PaymentPlan plan;
  plan.request = request;
  const auto found = priced(checks, *request.quote, Direction::on_ramp);
  const auto wallet = checks.wallet(*request.only().destination_wallet, "destinationWalletId");
  if (found) {
    const ConnectorTerms& terms = found->connector.terms;
    checks.trustline(wallet, &terms.asset, "destinationWalletId");
    checks.additional_fields(found->connector);
    check_assets(checks, request, terms);
    fill_from_quote(plan, *found);
    plan.keys.receiving_asset = terms.asset.key;
    if (wallet) plan.keys.legs.push_back({std::nullopt, wallet->key, std::nullopt});
  }
  COFFER_TRY_VOID(checks.errors().check());
  return plan;
}

}  // namespace coffer::flows
