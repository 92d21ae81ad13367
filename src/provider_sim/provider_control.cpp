// The routes below /control, with which tests and users control the simulated provider.
#include <algorithm>

#include "domain/ledger/money.h"
#include "domain/payments/payment.h"
#include "provider_sim/provider.h"

namespace coffer::provider_sim {
namespace {

std::string text_of(const Json& body, const char* name) {
  const bool there = body.is_object() && body.contains(name) && body.at(name).is_string();
  return there ? body.at(name).get<std::string>() : std::string();
}

http::Response not_there() { return rejection(404, "not_found", "Not found, or already final."); }

}  // namespace

http::Response Provider::show_faults(const Call&) {
  return json_response(200, {{"faults", parts_.dice.plan().to_string()}});
}

http::Response Provider::change_faults(const Call& call) {
  const bool is_one_text = call.body.is_object() && call.body.size() == 1 &&
                           call.body.contains("faults") && call.body.at("faults").is_string();
  if (!is_one_text) {
    return rejection(400, "malformed",
                     R"(Send {"faults": "late=0.1:3000,garbage=0.05"}; an empty text removes all )"
                     "faults. The faults are unchanged.");
  }
  const auto plan = FaultPlan::parse(text_of(call.body, "faults"));
  if (!plan) return rejection(400, "malformed", plan.error().detail);
  parts_.dice.replace(*plan);
  return show_faults(call);
}

http::Response Provider::show(const Call& call) {
  constexpr std::size_t kAll = 1'000'000;
  Json data = Json::array();
  for (Json& one : parts_.state.list(call.kind, {}, kAll)) {
    one["submissions"] = parts_.state.submissions(one.at("id"));
    data.push_back(std::move(one));
  }
  return json_response(200, {{"data", data}});
}

http::Response Provider::settle(const Call& call) {
  const std::string status = text_of(call.body, "status");
  std::string code = text_of(call.body, "code");
  const auto failures = failure_table();
  const bool known = std::ranges::any_of(
      failures, [&](const FailureInfo& failure) { return failure.name == code; });
  if (status != "succeeded" && (status != "failed" || !known)) {
    return rejection(400, "malformed",
                     "send status: succeeded, or status: failed and a failure code");
  }
  if (status == "succeeded") code.clear();
  if (!parts_.state.decide(call.kind, call.id, {status, code})) return not_there();
  return read(call);
}

http::Response Provider::return_payout(const Call& call) {
  const bool whole = call.body.is_object() && !call.body.contains("amount");
  if (!whole &&
      parse_amount(text_of(call.body, "amount"), Amount::kScale).fault != AmountFault::none) {
    return rejection(400, "malformed", "amount is not a positive decimal string");
  }
  const auto returned = parts_.state.send_back(call.id, call.body);
  return returned ? json_response(200, *returned) : not_there();
}

http::Response Provider::pay_collection(const Call& call) {
  const std::string amount = text_of(call.body, "amount");
  if (!amount.empty() && parse_amount(amount, Amount::kScale).fault != AmountFault::none) {
    return rejection(400, "malformed", "amount is not a positive decimal string");
  }
  const SimulatorState::Decision decision{.status = "collected", .collected = amount};
  if (!parts_.state.decide(Kind::collection, call.id, decision)) return not_there();
  return read(call);
}

http::Response Provider::pay_reference(const Call& call) {
  const std::string amount = text_of(call.body, "amount");
  if (parse_amount(amount, Amount::kScale).fault != AmountFault::none) {
    return rejection(400, "malformed", "amount is not valid");
  }
  const auto paid = parts_.state.pay(call.id, amount, call.body.value("payer", Json::object()));
  return paid ? json_response(200, *paid) : not_there();
}

}  // namespace coffer::provider_sim
