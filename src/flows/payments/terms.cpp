#include "flows/payments/terms.h"

#include "store/payments/destination_sums.h"

namespace coffer::flows {

std::string connector_secret_context(const Uuid& endpoint) {
  return "connector-secret:" + endpoint.to_string();
}

void seal_secret(const Context& context, store::ConnectorRow& row, const Secret& secret) {
  row.sealed_secret =
      context.sealer.seal(secret.reveal(), connector_secret_context(row.endpoint_id));
}

Result<ConnectorTerms> callable(const Context& context, const store::ConnectorRow& row) {
  ConnectorTerms terms = row.terms;
  if (terms.endpoint) {
    COFFER_TRY(terms.endpoint->secret,
               context.sealer.open(row.sealed_secret, connector_secret_context(row.endpoint_id)));
  }
  return terms;
}

void check_limits(store::Connection& db, const ConnectorTerms& connector, std::int64_t destination,
                  Amount amount, Timestamp now, ValidationErrors& errors) {
  for (const ConnectorTerms::Window& window : connector.windows()) {
    if (!window.limit) continue;
    const Amount sent =
        store::sent_to_destination(db, connector.key, destination, now.plus_ms(-window.ms));
    const auto together = sent.add(amount);
    if (together && *together <= *window.limit) continue;
    const int decimals = connector.send_decimals();
    errors.add(Slug::amount_out_of_range, "amount",
               "exceeds the limit of " + window.limit->to_string(decimals) + " " +
                   std::string(connector.send_code()) + " to this destination in " +
                   std::string(window.name) + "; " + sent.to_string(decimals) + " is used");
    return;
  }
}

}  // namespace coffer::flows
