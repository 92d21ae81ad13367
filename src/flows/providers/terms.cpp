#include "flows/providers/terms.h"

#include "store/providers/destination_sums.h"

namespace coffer::flows {
namespace {

constexpr std::int64_t kMonthMs = 30 * kDayMs;

struct Ceiling {
  std::optional<Amount> limit;
  std::int64_t window_ms;
  const char* window;
};

}  // namespace

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
  for (const Ceiling& ceiling : {Ceiling{connector.day_limit, kDayMs, "24 hours"},
                                 Ceiling{connector.month_limit, kMonthMs, "30 days"}}) {
    if (!ceiling.limit) continue;
    const Amount sent =
        store::sent_to_destination(db, connector.key, destination, now.plus_ms(-ceiling.window_ms));
    const auto together = sent.add(amount);
    if (together && *together <= *ceiling.limit) continue;
    const int decimals = connector.send_decimals();
    errors.add(Slug::amount_out_of_range, "amount",
               "exceeds the limit of " + ceiling.limit->to_string(decimals) + " " +
                   std::string(connector.send_code()) + " to this destination in " +
                   ceiling.window + "; " + sent.to_string(decimals) + " is used");
    return;
  }
}

}  // namespace coffer::flows
