#include "provider_sim/provider.h"

#include <algorithm>

#include "base/digest.h"
#include "base/uuid.h"
#include "domain/ledger/money.h"
#include "outbound/providers/provider_signature.h"
#include "outbound/providers/sandbox_connector.h"

namespace coffer::provider_sim {
namespace {

constexpr int kTimesOut = 1401;
constexpr int kBreaks = 1402;
constexpr std::size_t kPage = 100;

// Texts that a body must contain, and members that are parties.
using Names = std::vector<std::string_view>;

/// The error in the body, or empty.
std::string fault_of(const Json& body, const Names& texts, std::string_view party) {
  if (!body.is_object()) return "the body is not a JSON object";
  const auto is_text = [](const Json& from, std::string_view name) {
    const auto member = from.find(name);
    return member != from.end() && member->is_string() &&
           !member->get_ref<const std::string&>().empty();
  };
  for (const std::string_view name : texts) {
    if (!is_text(body, name)) return std::string(name) + " is missing or not a string";
  }
  for (const std::string_view name : {"sendAmount", "receiveAmount", "amount"}) {
    if (std::ranges::find(texts, name) == texts.end()) continue;
    const std::string& amount = body.at(std::string(name)).get_ref<const std::string&>();
    if (parse_amount(amount, Amount::kScale).fault == AmountFault::none) continue;
    return std::string(name) + " is not an amount";
  }
  if (party.empty()) return {};
  const auto found = body.find(party);
  const bool good = found != body.end() && found->is_object() && is_text(*found, "accountNumber");
  return good ? std::string() : std::string(party) + " is missing or has no accountNumber";
}

http::Response cut_off() {
  http::Response out;
  out.stream = [](const http::Sink&) { return false; };
  return out;
}

Json parse_body(const std::string& text) {
  return text.empty() ? Json::object() : Json::parse(text, nullptr, false);
}

http::Response broken() {
  return rejection(502, "upstream_failed", "The bank of this provider failed.");
}

}  // namespace

http::Response json_response(int status, const Json& body) {
  http::Response out;
  out.status = status;
  out.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return out;
}

http::Response rejection(int status, std::string_view code, std::string_view message) {
  return json_response(status, {{"code", code}, {"message", message}});
}

const std::vector<Provider::Route>& Provider::routes() {
  static const std::vector<Route> all = {
      {"POST", "/quotes", &Provider::quote},
      {"POST", "/payouts", &Provider::place_payout},
      {"GET", "/payouts", &Provider::list_payouts},
      {"GET", "/payouts/{id}", &Provider::read},
      {"POST", "/payouts/{id}/cancel", &Provider::close},
      {"POST", "/collections", &Provider::place_collection, false, Kind::collection},
      {"GET", "/collections/{id}", &Provider::read, false, Kind::collection},
      {"POST", "/collections/{id}/expire", &Provider::close, false, Kind::collection},
      {"POST", "/refunds", &Provider::place_refund, false, Kind::refund},
      {"GET", "/refunds/{id}", &Provider::read, false, Kind::refund},
      {"POST", "/references", &Provider::issue_reference},
      {"GET", "/control/faults", &Provider::show_faults, true},
      {"PUT", "/control/faults", &Provider::change_faults, true},
      {"GET", "/control/payouts", &Provider::show, true},
      {"GET", "/control/refunds", &Provider::show, true, Kind::refund},
      {"POST", "/control/payouts/{id}/settle", &Provider::settle, true},
      {"POST", "/control/refunds/{id}/settle", &Provider::settle, true, Kind::refund},
      {"POST", "/control/payouts/{id}/return", &Provider::return_payout, true},
      {"POST", "/control/collections/{id}/pay", &Provider::pay_collection, true, Kind::collection},
      {"POST", "/control/references/{id}/pay", &Provider::pay_reference, true},
  };
  return all;
}

Provider::Provider(const ProviderParts& parts)
    : parts_(parts), router_([] {
        std::vector<http::RoutePattern> table;
        for (const Route& route : routes()) table.push_back({route.method, route.pattern});
        return table;
      }()) {}

http::Response Provider::handle(http::Request& request) {
  const http::RouteMatch match = router_.match(request.method, request.path);
  if (match.kind != http::RouteMatch::Kind::found) {
    const bool known = match.kind == http::RouteMatch::Kind::method_not_allowed;
    return rejection(known ? 405 : 404, known ? "method_not_allowed" : "no_such_route",
                     "The protocol does not have this call.");
  }
  const Route& route = routes()[match.index];
  const Call call{request, match.params.empty() ? std::string() : match.params.front().second,
                  parse_body(request.body), route.kind};
  if (route.control) return run(route, call);
  const auto signed_well = outbound::verify(
      parts_.secret, parts_.clock.now(), request.header(outbound::kTimestampHeader),
      request.header(outbound::kSignatureHeader), {request.method, request.path, request.body});
  if (!signed_well) return rejection(401, "bad_signature", signed_well.error().detail);
  return run_with_faults(route, call);
}

http::Response Provider::run(const Route& route, const Call& call) {
  http::Response out = (this->*route.run)(call);
  if (call.request.method != "GET") parts_.changed();
  return out;
}

http::Response Provider::run_with_faults(const Route& route, const Call& call) {
  FaultDice& dice = parts_.dice;
  if (dice.strikes(Fault::reject)) return rejection(503, "rejected", "Rejected on purpose.");
  if (dice.strikes(Fault::hang)) return silent(dice.ms_of(Fault::hang));
  http::Response out = run(route, call);
  if (dice.strikes(Fault::late)) pause(dice.ms_of(Fault::late));
  if (dice.strikes(Fault::lose_response)) return cut_off();
  if (dice.strikes(Fault::garbage)) {
    out = http::Response();
    out.content_type = "text/html";
    out.body = "<html><body>It works!</body></html>";
  }
  return out;
}

http::Response Provider::silent(int ms) {
  pause(ms);
  return cut_off();
}

void Provider::pause(int ms) {
  // Waits in real time, independent of the clock of the records.
  const SystemClock clock;
  const std::int64_t end = clock.monotonic_ms() + ms;
  const Lock lock(mutex_);
  for (std::int64_t left; !stopped_ && (left = end - clock.monotonic_ms()) > 0;) {
    stopped_changed_.wait_for_ms(mutex_, left);
  }
}

void Provider::stop() {
  const Lock lock(mutex_);
  stopped_ = true;
  stopped_changed_.notify_all();
}

// --- The protocol -------------------------------------------------------------------------------

http::Response Provider::quote(const Call& call) {
  const std::string fault = fault_of(
      call.body, {"connectorId", "direction", "assetCode", "currencyIsoCode3", "amount"}, {});
  if (!fault.empty()) return rejection(400, "malformed", fault);
  const Timestamp now = parts_.clock.now();
  const auto quote = parts_.tariff.quote(call.body, now, parts_.ids.uuid_v7(now).to_string());
  if (!quote) return rejection(422, "cannot_quote", quote.error().detail);
  return json_response(200, *quote);
}

/// `fault`: an error in the body, or empty.
http::Response Provider::place(const Call& call, std::string fault) {
  if (fault.empty() && !Uuid::parse(std::string(call.body.at("id")))) fault = "id is not a UUID";
  if (!fault.empty()) return rejection(400, "malformed", fault);
  const int digits = digits_of(call.kind, call.body);
  // Handled before anything is stored, because these requests must appear to be lost.
  if (digits == kTimesOut) return silent(parts_.hang_ms);
  if (digits == kBreaks) return broken();
  const SimulatorState::Placing placing = parts_.state.place(call.kind, call.body);
  if (placing.placed == SimulatorState::Placed::conflict) {
    return rejection(409, "id_conflict", "This ID exists with different content.");
  }
  if (const auto rejected = outbound::sandbox_rejection(digits)) {
    return rejection(422, info(*rejected).name, info(*rejected).message);
  }
  return json_response(placing.placed == SimulatorState::Placed::created ? 202 : 200,
                       placing.object);
}

http::Response Provider::place_payout(const Call& call) {
  return place(call, fault_of(call.body,
                              {"id", "connectorId", "assetCode", "sendAmount", "currencyIsoCode3",
                               "receiveAmount"},
                              "recipient"));
}

http::Response Provider::list_payouts(const Call& call) {
  const std::string* cursor = call.request.query_value("cursor");
  const std::vector<Json> page = parts_.state.list(call.kind, cursor ? *cursor : "", kPage);
  Json out = {{"data", page}, {"nextCursor", nullptr}};
  if (page.size() == kPage) out["nextCursor"] = page.back().at("id");
  return json_response(200, out);
}

http::Response Provider::read(const Call& call) {
  const auto found = parts_.state.find(call.kind, call.id);
  if (found) return json_response(200, *found);
  const std::string word(word_of(call.kind));
  return rejection(404, word + "_not_found", "This " + word + " was never accepted.");
}

http::Response Provider::close(const Call& call) {
  if (!Uuid::parse(call.id)) return rejection(400, "malformed", "id is not a UUID");
  return json_response(200, parts_.state.close(call.kind, call.id));
}

http::Response Provider::place_collection(const Call& call) {
  std::string fault = fault_of(call.body,
                               {"id", "connectorId", "currencyIsoCode3", "sendAmount", "assetCode",
                                "receiveAmount", "expiresAt"},
                               "payer");
  if (fault.empty() && !Timestamp::parse(std::string(call.body.at("expiresAt")))) {
    fault = "expiresAt is not a time";
  }
  return place(call, fault);
}

http::Response Provider::place_refund(const Call& call) {
  const bool collected = call.body.is_object() && call.body.contains("collectionId");
  return place(call, fault_of(call.body,
                              {"id", "connectorId", "amount", "currencyIsoCode3",
                               collected ? "collectionId" : "providerPaymentId"},
                              {}));
}

http::Response Provider::issue_reference(const Call& call) {
  constexpr int kRebind = 2001;
  constexpr int kNotRegistered = 2002;
  constexpr int kCannotAssign = 2003;
  constexpr int kRelated = 2004;
  constexpr int kRelatedCount = 2;
  const Json& body = call.body;
  const std::string fault = fault_of(
      body,
      {"id", "connectorId", "customerId", "settlementAccount", "assetCode", "currencyIsoCode3"},
      {});
  if (!fault.empty()) return rejection(400, "malformed", fault);
  const int digits = outbound::sandbox_digits(body.at("customerId").get_ref<const std::string&>());
  if (digits == kTimesOut) return silent(parts_.hang_ms);
  if (digits == kBreaks) return broken();
  if (digits == kNotRegistered) {
    return rejection(404, "customer_not_registered",
                     "The customer must register with this provider first.");
  }
  if (digits == kCannotAssign) return rejection(409, "cannot_assign", "No reference is available.");
  const auto issue = [&](int number) {
    std::string text;
    for (const char* name : {"connectorId", "settlementAccount", "customerId"}) {
      text += body.at(name).get<std::string>() + "\n";
    }
    const std::string reference =
        "SIMREF" + to_hex(sha256(text + std::to_string(number))).substr(0, 12);
    parts_.state.note_reference(reference, body);
    return Json{{"reference", reference},
                {"metadata",
                 {{"bankName", "Simulated Bank"},
                  {"accountNumber", "0000000001"},
                  {"paymentReference", reference}}}};
  };
  Json out = issue(0);
  if (digits == kRebind) out["metadata"] = nullptr;
  out["relatedReferences"] = Json::array();
  for (int i = 1; digits == kRelated && i <= kRelatedCount; ++i) {
    out["relatedReferences"].push_back(issue(i));
  }
  return json_response(200, out);
}

}  // namespace coffer::provider_sim
