// Every problem that a route declares by name is produced here, generated from the route table.
// Those that follow from credentials, limits and the server itself are in
// declared_responses_test.cpp and every_route_test.cpp.
#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "flows/identity/quotas.h"
#include "flows/payments/limits.h"
#include "route_samples.h"
#include "support/connectors.h"
#include "support/recipients.h"

using namespace coffer;
using namespace coffer::test;

namespace declared_problems_test {
namespace {

/// The operation whose checks apply: for a `/validate` route, that of the payment.
const api::Route& origin_of(const api::Route& route) {
  constexpr std::string_view kCheck = "/validate";
  for (const api::Route& each : api::routes()) {
    if (each.method == route.method && route.pattern == std::string(each.pattern).append(kCheck)) {
      return each;
    }
  }
  return route;
}

void at_provider(ConnectorTerms& terms, const std::string& url) {
  constexpr int kEnoughMs = 10'000;
  terms.driver = DriverKind::http;
  terms.endpoint = ProviderEndpoint{url, Secret("shared"), kEnoughMs};
}

flows::NewConnector bespoke_connector() {
  flows::NewConnector connector = collection_connector();
  connector.terms.flow = ConnectorFlow::bespoke;
  connector.terms.issues_references = true;
  return connector;
}

/// The slug of a problem, also from the envelope's `CODE: text`.
std::string problem_of(const api::Route& route, const Reply& reply) {
  if (!route.envelope) return reply.slug();
  const std::string message = reply.json().at("message");
  std::string out = message.substr(0, message.find(':'));
  for (char& c : out) c = c == '_' ? '-' : static_cast<char>(c - 'A' + 'a');
  return out;
}

class Producer {
 public:
  using Make = Reply (Producer::*)(const api::Route&);

  Producer() {
    app_.rate("USDC", "EURC", "0.9");
    app_.liquidity("EURC", "1000");
    mine_ = belongings_of(app_, app_.me());
    app_.listen();
  }

  /// The function that produces a problem; nullptr if another test does.
  static Make maker(Slug slug) {
    static const std::map<Slug, Make> all{
        {Slug::invalid_cursor, &Producer::invalid_cursor},
        {Slug::invalid_reference, &Producer::invalid_reference},
        {Slug::transaction_id_conflict, &Producer::transaction_id_conflict},
        {Slug::wallet_not_verified, &Producer::wallet_not_verified},
        {Slug::quote_expired, &Producer::quote_expired},
        {Slug::quote_already_used, &Producer::quote_already_used},
        {Slug::webhook_event_type_taken, &Producer::event_type_taken},
        {Slug::insufficient_funds, &Producer::insufficient_funds},
        {Slug::trustline_missing, &Producer::trustline_missing},
        {Slug::amount_precision, &Producer::amount_precision},
        {Slug::amount_out_of_range, &Producer::amount_out_of_range},
        {Slug::requirement_missing, &Producer::requirement_missing},
        {Slug::quota_exceeded, &Producer::quota_exceeded},
        {Slug::limit_exceeded, &Producer::limit_exceeded},
        {Slug::reversal_exceeds_payment, &Producer::reversal_exceeds_payment},
        {Slug::provider_error, &Producer::provider_error},
        {Slug::provider_unavailable, &Producer::provider_unavailable},
    };
    const auto it = all.find(slug);
    return it == all.end() ? nullptr : it->second;
  }

  Reply paused(const api::Route& route) {
    Names names = fresh(route);
    renew_connectors(names, [](flows::NewConnector&) {});
    for (const char* name : {"payouts", "collections"}) pause_connector(app_, names.at(name));
    return app_.me().send(sample_of(route).call(names));
  }

  /// A collection through a connector that pays out.
  Reply wrong_connector(const api::Route& route) {
    return changed(route, mine_, "/connectorId", mine_.at("payouts"));
  }

  Reply unknown_event_type(const api::Route& route) {
    return changed(route, mine_, "/eventTypes", Json::array({"payment.nonsense"}));
  }

 private:
  Names fresh(const api::Route& route) {
    Names names = mine_;
    names["pending"] = app_.me().third_party_wallet("USDC");
    add_quote(app_.me(), names);
    add_fresh_payment_samples(app_, app_.me(), names, sample_of(route));
    return names;
  }

  Reply send(const api::Route& route, const Names& names) {
    return app_.me().send(sample_of(route).call(names));
  }

  /// The sample with one member set.
  Reply changed(const api::Route& route, const Names& names, const std::string& pointer,
                Json value) {
    HttpCall call = sample_of(route).call(names);
    Json body = Json::parse(call.body);
    body[Json::json_pointer(pointer)] = std::move(value);
    call.body = body.dump();
    return app_.me().send(call);
  }

  static std::string in_first_leg(const api::Route& route, const char* member) {
    const bool multi = route.request_schema == "MultiTransfer";
    return (multi ? "/transfers/0/" : "/") + std::string(member);
  }

  Reply invalid_cursor(const api::Route& route) {
    HttpCall call = sample_of(route).call(mine_);
    call.target = with_query(call.target, "cursor=nonsense");
    return app_.me().send(call);
  }

  Reply invalid_reference(const api::Route& route) {
    return changed(route, fresh(route), in_first_leg(route, "fromRef"), "not a reference");
  }

  /// The ID of an existing payment, with another memo.
  Reply transaction_id_conflict(const api::Route& route) {
    HttpCall call = sample_of(origin_of(route)).call(fresh(route));
    CHECK(app_.me().send(call).status == 202);
    Json body = Json::parse(call.body);
    body[reverses(route) ? "reason" : "memo"] = "another";
    call.body = body.dump();
    call.target = sample_of(route).call(mine_).target;
    return app_.me().send(call);
  }

  void use_wallet(Names& names, const std::string& wallet) {
    names["wallet"] = wallet;
    names["settlementAccount"] = app_.me().get("/v1/wallets/" + wallet).json().at("publicKey");
  }

  static bool reverses(const api::Route& route) { return route.request_schema == "Reversal"; }

  /// The reversal of a settled payment to this wallet.
  Reply reverse_from(const api::Route& route, const std::string& wallet,
                     const std::function<void()>& then) {
    Names names = mine_;
    names["reversible"] = app_.me().transfer(mine_.at("wallet"), wallet, "1");
    app_.settle();
    then();
    return send(route, names);
  }

  Reply reversal_exceeds_payment(const api::Route& route) {
    return changed(route, fresh(route), "/amount", "1.01");
  }

  Reply wallet_not_verified(const api::Route& route) {
    Names names = fresh(route);
    if (reverses(route)) {
      const std::string third = names.at("pending"), path = "/v1/sandbox/wallets/" + third;
      app_.me().post(path + "/verify", Json::object());
      return reverse_from(route, third, [&] {
        app_.me().put("/v1/wallets/" + third, {{"metadata", person("Njeri")}});
      });
    }
    use_wallet(names, names.at("pending"));
    return send(route, names);
  }

  Reply quote_expired(const api::Route& route) {
    Names names = fresh(route);
    for (const char* quote : {"quote", "cashQuote", "collectQuote"}) {
      const std::string path = "/v1/sandbox/quotes/" + names.at(quote) + "/expire";
      CHECK(app_.me().post(path, Json::object()).status == 200);
    }
    return send(route, names);
  }

  Reply quote_already_used(const api::Route& route) {
    const bool pays = route.body != api::Body::none;
    const api::Route& payment = pays ? origin_of(route) : api::find_operation("executeOfframp");
    Names names = fresh(payment);
    const HttpCall first = sample_of(payment).call(names);
    CHECK(app_.me().send(first).status == 202);
    names["quote"] = names.at("cashQuote");
    return send(route, names);
  }

  Reply event_type_taken(const api::Route& route) {
    const Json other{{"url", "http://127.0.0.1:9/other"}, {"eventTypes", {"payment.processing"}}};
    app_.me().post("/v1/webhooks", other);  // already exists the second time
    return changed(route, mine_, "/eventTypes", Json::array({"payment.processing"}));
  }

  Reply insufficient_funds(const api::Route& route) {
    Names names = fresh(route);
    if (reverses(route)) {
      const std::string spent = app_.wallet("USDC");
      return reverse_from(route, spent,
                          [&] { app_.me().transfer(spent, names.at("wallet"), "1"); });
    }
    use_wallet(names, app_.wallet("USDC"));
    return send(route, names);
  }

  Reply trustline_missing(const api::Route& route) {
    Names names = fresh(route);
    use_wallet(names, app_.wallet("KES"));
    return send(route, names);
  }

  Reply amount_precision(const api::Route& route) {
    return changed(route, fresh(route), in_first_leg(route, "amount"), "0.00000001");
  }

  Reply amount_out_of_range(const api::Route& route) {
    if (route.operation == "takeProviderCallback") return paid("REF-R", "0");
    if (route.request_schema == "Offramp") return over_the_limit(route);
    return changed(route, fresh(route), in_first_leg(route, "amount"), "0");
  }

  Reply paid(const char* reference, const char* amount) {
    return app_.anonymous().send(payment_on_reference(app_, mine_, reference, amount));
  }

  /// Two quotes fit under the day's limit one by one, but not together.
  Reply over_the_limit(const api::Route& route) {
    Names names = fresh(route);
    renew_connectors(
        names, [](flows::NewConnector& connector) { connector.terms.day_limit = amount("150"); });
    Names second = names;
    second["cashQuote"] =
        quote_for(app_.me(), names.at("payouts"), names.at("recipient")).at("quoteId");
    CHECK(send(origin_of(route), names).status == 202);
    return send(route, second);
  }

  Reply requirement_missing(const api::Route& route) {
    Names names = fresh(route);
    renew_connectors(names, [](flows::NewConnector& connector) {
      connector.requirements = {{.name = "nationalId", .label = "National id"}};
    });
    return send(route, names);
  }

  /// New connectors for payouts and collections, with the data for their quotes.
  void renew_connectors(Names& names, const std::function<void(flows::NewConnector&)>& change) {
    flows::NewConnector payouts = payout_connector(), collections = collection_connector();
    change(payouts);
    change(collections);
    names["payouts"] = add_connector(app_, payouts);
    names["collections"] = add_connector(app_, collections);
    names["cashQuote"] =
        quote_for(app_.me(), names.at("payouts"), names.at("recipient")).at("quoteId");
    names["collectQuote"] = collection_quote(app_.me(), names.at("collections")).at("quoteId");
  }

  /// Everything that the request refers to exists, and the quota is used up.
  Reply quota_exceeded(const api::Route& route) {
    Names names = fresh(route);
    add_webhook(app_.me(), names, sample_of(route));
    limit_quotas(0);
    // The same content stores nothing new.
    const bool replaces = route.operation == "replaceDestination";
    const Reply reply = replaces
                            ? changed(route, names, "/mobileMoney/phoneNumber", "+254712345670")
                            : send(route, names);
    limit_quotas(std::nullopt);
    return reply;
  }

  /// A limit of the association that is below every payment.
  Reply limit_exceeded(const api::Route& route) {
    const Names names = fresh(route);
    const flows::LimitOwner owner{.association = app_.association()};
    const AssetCode usdc = AssetCode::parse("USDC").value();
    PaymentLimitsChange limits;
    limits.set<&PaymentLimits::payments_per_day>(0);
    flows::set_limit(app_.flows(), owner, usdc, limits).value();
    const Reply reply = send(route, names);
    flows::remove_limit(app_.flows(), owner, usdc).value();
    return reply;
  }

  void limit_quotas(std::optional<std::int64_t> maximum) {
    for (const QuotaInfo& each : quota_table()) {
      flows::set_quota(app_.flows(), app_.association(), Environment::sandbox, each.quota, maximum)
          .value();
    }
  }

  Reply provider_error(const api::Route& route) {
    // The sandbox's provider fails for this customer.
    if (route.request_schema == "NewReference") {
      return changed(route, fresh(route), "/customerId", "customer-1402");
    }
    // This server is not a provider.
    return at(route, "http://127.0.0.1:" + std::to_string(app_.core().listeners().port()));
  }

  Reply provider_unavailable(const api::Route& route) { return at(route, "http://127.0.0.1:1"); }

  Reply at(const api::Route& route, const std::string& url) {
    const auto move = [&](ConnectorTerms& terms) { at_provider(terms, url); };
    Names names = fresh(route);
    names["connector"] = add_connector(app_, move, payout_connector());
    names["collections"] = add_connector(app_, move, collection_connector());
    names["bespoke"] = add_connector(app_, move, bespoke_connector());
    return send(route, names);
  }

  TestApp app_;
  Names mine_;
};

}  // namespace

TEST_CASE("every problem that a route declares by name can be produced") {
  Producer producer;
  int produced = 0;
  for (const api::Route& route : api::routes()) {
    for (const Slug slug : api::problems_of(route)) {
      const auto make = Producer::maker(slug);
      if (make == nullptr) continue;
      INFO(route.operation << " should respond with " << info(slug).name);
      const Reply reply = (producer.*make)(route);
      INFO(reply.text().substr(0, 1000));
      CHECK(problem_of(route, reply) == info(slug).name);
      ++produced;
    }
  }
  CHECK(produced > 120);
}

TEST_CASE("a paused connector is a conflict on every route that pays through it") {
  Producer producer;
  for (const char* operation : {"executeOfframp", "executeOnramp", "executeConnectOnramp",
                                "executeConnectCashIn", "validateOfframp"}) {
    const Reply reply = producer.paused(api::find_operation(operation));
    INFO(operation << " " << reply.text().substr(0, 1000));
    CHECK(reply.slug() == "conflict");
  }
}

TEST_CASE("a collection needs a connector for collections") {
  Producer producer;
  const Reply reply = producer.wrong_connector(api::find_operation("executeConnectCashIn"));
  INFO(reply.text().substr(0, 1000));
  CHECK(reply.slug() == "validation-failed");
}

TEST_CASE("an unknown event type is rejected on every route") {
  Producer producer;
  for (const char* operation :
       {"createWebhook", "updateWebhook", "addApplicationWebhook", "updateApplicationWebhook"}) {
    const Reply reply = producer.unknown_event_type(api::find_operation(operation));
    INFO(operation << " " << reply.text().substr(0, 1000));
    CHECK(reply.slug() == "validation-failed");
  }
}

}  // namespace declared_problems_test
