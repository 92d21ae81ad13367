// A response of every status that every route declares, made from its sample (route_samples.h).
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <optional>

#include "base/digest.h"
#include "domain/parties/beneficiary.h"
#include "flows/identity/quotas.h"
#include "route_samples.h"
#include "support/armed_fault.h"
#include "support/connectors.h"
#include "support/listener.h"
#include "support/wire.h"
#include "unit/http/running_server.h"

namespace coffer::test {

/// Produces every status that a route declares, each with a separate request. The same calls on a
/// new producer give the same exchanges.
class ResponseProducer {
 public:
  ResponseProducer() {
    app_.rate("USDC", "EURC", "0.9");
    app_.liquidity("EURC", "1000");
    mine_ = belongings_of(app_, app_.me());
    nobodys_ = nobodys_belongings(app_);
    app_.listen();
  }

  /// The request of the last success.
  const HttpCall& accepted() const { return accepted_; }
  Reply send(const HttpCall& call) const { return app_.me().send(call); }

  Reply rejected(const api::Route& route, const Problem& problem) {
    return app_.me().rejected(sample_of(route).call(mine_), problem);
  }

  /// `accept`: the Accept header of the request, or empty.
  Reply produce(const api::Route& route, int status, const std::string& accept = {}) {
    Sample sample = sample_of(route);
    if (!accept.empty()) sample.headers.emplace_back("Accept", accept);
    if (route.operation == "takeProviderCallback") {
      if (const auto reply = callback(sample, status)) return *reply;
    }
    switch (status) {
      case 200:
      case 201:
      case 202:
      case 204:
      case 402:
        return success(route, sample, status);
      case 304:
        return unchanged(sample);
      case 400:
        return malformed(route, sample);
      case 401:
        return unauthorized(route, sample);
      case 403:
        return app_.me().scoped(other_scope(route)).send(sample.call(mine_));
      case 404:
        return not_found(sample);
      case 409:
        return conflict(sample);
      case 413:
        return too_large(route, sample);
      case 415:
        return other_type(sample);
      case 422:
        return invalid(route, sample);
      case 429:
        return rejected_repeatedly(sample.call(nobodys_));
      case 502:
        return with_fault("pipeline.handler=throw", sample);
      case 503:
        return unavailable(route, sample);
      case 504:
        return route.access == api::Access::business ? late(sample) : late_provider(sample);
      default:
        throw InternalError("no way to make a " + std::to_string(status));
    }
  }

  /// A valid request while nothing can be stored.
  Reply full_disk(const api::Route& route) {
    const Sample sample = sample_of(route);
    Names names = mine_;
    names["pending"] = app_.me().third_party_wallet("USDC");
    add_beneficiary(app_.me(), names);
    add_quote(app_.me(), names);
    add_fresh_payment_samples(app_, app_.me(), names, sample);
    HttpCall call = route.operation == "takeProviderCallback"
                        ? payment_on_reference(app_, names, "REF-F", "1000")
                        : sample.call(names);
    if (route.operation == "replaceDestination") {  // the same content stores nothing
      Json body = Json::parse(call.body);
      body["label"] = "Changed";
      call.body = body.dump();
    }
    Reply reply;
    {
      const ArmedFault fault("disk.full:0=fail");
      app_.clock.advance_ms(1'000);  // not before, or a background command could look at the disk
      reply = app_.me().send(call);
    }
    app_.clock.advance_ms(1'000);
    CHECK(app_.core().queue().probe());
    return reply;
  }

 private:
  static void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }

  static void tiny_limits(Config& config) {
    config.rate_limit_sandbox_per_s = 1;
    config.rate_limit_sandbox_burst = 1;
    config.rate_limit_login_per_min = 1;
  }

  /// The issuer of external tokens accepts connections and never responds.
  static std::function<void(Config&)> late_issuer(const std::string& url) {
    return [url](Config& config) {
      config.oauth_issuer = "https://issuer.example";
      config.oauth_audience = "coffer";
      config.oauth_jwks = url;
      config.oauth_timeout_ms = 500;
    };
  }

  Reply success(const api::Route& route, const Sample& sample, int status) {
    Names names = mine_;
    names["pending"] = app_.me().third_party_wallet("USDC");
    add_beneficiary(app_.me(), names);
    add_quote(app_.me(), names);
    add_webhook(app_.me(), names, sample);
    add_fresh_payment_samples(app_, app_.me(), names, sample);
    HttpCall call = sample.call(names);
    const bool first = status == route.responses.front().status;
    // The second success is for an existing object.
    if (!first) app_.me().send(call);
    if (first && sample.target.ends_with("/trustlines")) {
      names["wallet"] = app_.wallet("USDC");
      call = sample.call(names);
    }
    return accept(app_.me(), std::move(call));
  }

  Reply accept(const Client& client, HttpCall call) {
    accepted_ = std::move(call);
    return client.send(accepted_);
  }

  /// Statuses that require a valid signature.
  std::optional<Reply> callback(const Sample& sample, int status) {
    const auto send = [&](const std::string& body) {
      return accept(app_.anonymous(), signed_callback(app_, mine_, body));
    };
    switch (status) {
      case 200:
        return send(sample.call(mine_).body);
      case 401: {
        HttpCall call = sample.call(mine_);
        call.target = signed_callback(app_, mine_, {}).target;
        return app_.anonymous().send(call);
      }
      case 404:
        return app_.anonymous().send(sample.call(nobodys_));
      case 422:
        return send(paid_on("REF-9", "0"));
      case 429:
        return without_room(sample.call(mine_));
      default:
        return std::nullopt;
    }
  }

  /// The first wrong secrets cause no delay.
  Reply rejected_repeatedly(const HttpCall& call) {
    constexpr int kAttemptsMax = 32;
    if (!limited_) {
      limited_.emplace(tiny_limits);
      limited_->me().get("/v1/assets");  // uses the only token
    }
    Reply reply = limited_->me().send(call);
    for (int i = 1; i < kAttemptsMax && reply.status != 429; ++i) reply = limited_->me().send(call);
    return reply;
  }

  /// Through a listener whose lanes accept no requests.
  Reply without_room(const HttpCall& call) {
    http::test::RunningServer full([&](http::ServerOptions& options) {
      for (LaneLimits& lane : options.lanes) lane = {lane.name, 0, 1, 0, 0};
      options.admit = [&](const http::Request& head, std::uint64_t body_bytes) {
        return app_.core().pipeline().admit(head, body_bytes);
      };
    });
    return send_over_wire(full.port(), call);
  }

  static std::string paid_on(const char* reference, const char* amount) {
    const Json data{{"providerPaymentId", "p9"},
                    {"reference", reference},
                    {"amount", amount},
                    {"currencyIsoCode3", "KES"}};
    return Json{{"id", "c"}, {"type", "reference.paid"}, {"data", data}}.dump();
  }

  Reply malformed(const api::Route& route, const Sample& sample) {
    HttpCall call = sample.call(mine_);
    if (route.body == api::Body::none) {
      call.target = with_query(call.target, "x=%zz");
    } else {
      call.body = "{";
    }
    return app_.me().send(call);
  }

  Reply unauthorized(const api::Route& route, const Sample& sample) {
    if (route.operation == "getChallenge") return from_other_network(sample);
    return app_.anonymous().send(sample.call(api::is_guarded(route.access) ? mine_ : nobodys_));
  }

  /// For an application that is restricted to another network.
  Reply from_other_network(const Sample& sample) {
    const ApplicationId id = app_.me().credentials().application;
    flows::change_networks(app_.flows(), id, {"192.0.2.0/24"}).value();
    const Reply reply = app_.anonymous().send(sample.call(mine_));
    flows::change_networks(app_.flows(), id, {}).value();
    return reply;
  }

  std::string other_scope(const api::Route& route) const {
    return route.scope == Scope::connect_read ? "wallets:read" : "connect:read";
  }

  Reply not_found(Sample sample) {
    replace_all(sample.target, "/USDC", "/NOPE");
    replace_all(sample.target, "/problems/not-found", "/problems/nonsense");
    replace_all(sample.target, "/guides/contract", "/guides/nonsense");
    replace_all(sample.target, "/docs/docs.js", "/docs/nonsense.js");
    return app_.me().send(sample.call(nobodys_));
  }

  /// A wallet under review where a verified one is needed, and vice versa.
  Reply conflict(const Sample& sample) {
    Names names = mine_;
    names["wallet"] = app_.me().third_party_wallet("USDC");
    names["pending"] = mine_.at("wallet");
    if (sample.refers_to("beneficiary")) fill_up(names);
    if (sample.refers_to("connector")) {
      names["connector"] = add_connector(app_);
      pause_connector(app_, names["connector"]);
    }
    if (sample.target.ends_with("/expire")) app_.me().send(sample.call(names));
    names["webhook"] = mine_.at("goneWebhook");
    names["delivery"] = mine_.at("goneDelivery");
    if (sample.refers_to("stuck")) names["stuck"] = mine_.at("record");
    if (sample.refers_to("reversible")) return used_id(sample);
    if (sample.refers_to("arrival")) return told_twice(sample);
    if (sample.refers_to("customer")) app_.me().send(sample.call(names));
    // Its event types are taken the second time.
    if (sample.body.find("eventTypes") != std::string::npos) app_.me().send(sample.call(names));
    return app_.me().send(sample.call(names));
  }

  /// The transactionId of a payment.
  Reply used_id(const Sample& sample) {
    HttpCall call = sample.call(mine_);
    Json body = Json::parse(call.body);
    body["transactionId"] = app_.me().record(mine_.at("record")).at("transactionId");
    call.body = body.dump();
    return app_.me().send(call);
  }

  /// One provider payment with two amounts.
  Reply told_twice(Sample sample) {
    Names names = mine_;
    names["arrival"] = "told-twice";
    app_.me().send(sample.call(names));
    replace_all(sample.body, R"("amount":"1000")", R"("amount":"2000")");
    return app_.me().send(sample.call(names));
  }

  /// A beneficiary with the maximum number of destinations.
  void fill_up(Names& names) {
    add_beneficiary(app_.me(), names);
    const std::string path = "/v1/beneficiaries/" + names.at("beneficiary");
    const Json one =
        app_.me().get(path + "/payment-destinations/" + names.at("destination")).json();
    for (std::size_t i = 1; i < kDestinationsMax; ++i) {
      CHECK(app_.me().post(path + "/payment-destinations", one).status == 201);
    }
  }

  Reply too_large(const api::Route& route, const Sample& sample) {
    HttpCall call = sample.call(mine_);
    call.body.append(route.body_bytes_max, ' ');
    return app_.me().over_wire().send(call);
  }

  Reply other_type(const Sample& sample) {
    HttpCall call = sample.call(mine_);
    std::erase_if(call.headers, [](const auto& one) { return one.first == "Content-Type"; });
    call.headers.emplace_back("Content-Type", "text/plain");
    return app_.me().send(call);
  }

  Reply invalid(const api::Route& route, Sample sample) {
    const auto says = [&](Slug slug) { return std::ranges::count(route.problems, slug) > 0; };
    if (says(Slug::quota_exceeded) && !says(Slug::validation_failed)) return beyond_quota(sample);
    if (route.operation == "updateWallet") {
      sample.body = R"({"networkName":"fixed"})";
    }
    if (route.operation == "listConnectors") {
      sample.target = with_query(sample.target, "countryIsoCode2=XX");
    }
    // Well formed, so that it is not 400; asset codes may have any length.
    replace_all(sample.body, R"("currencyIsoCode3":"KES")", R"("currencyIsoCode3":"XXX")");
    replace_all(sample.target, "transactionType=B2C", "transactionType=C2C");
    replace_all(sample.body, R"("amount":"10")", R"("amount":"0")");
    replace_all(sample.body, R"("amount":"0.5")", R"("amount":"0")");
    replace_all(sample.body, R"("amount":"1000")", R"("amount":"0")");
    replace_all(sample.body, "$purpose", "NOPE");
    replace_all(sample.body, "$collectQuote", "$cashQuote");
    replace_all(sample.body, "$bespoke", "$collections");
    replace_all(sample.body, "http://127.0.0.1", "http://10.0.0.1");
    replace_all(sample.body, R"("from":"2025)", R"("from":"2027)");
    replace_all(sample.body, R"("gracePeriodSeconds":60)", R"("gracePeriodSeconds":604801)");
    for (const char* code : {"USDC", "KES"}) {
      replace_all(sample.target, code, "NOPE");
      replace_all(sample.body, code, "NOPE");
    }
    return app_.me().send(sample.call(mine_));
  }

  /// The issuer of an external token does not return its keys.
  Reply late(const Sample& sample) {
    const std::string token = to_base64url(R"({"alg":"RS256"})") + ".e30.AA";
    if (!late_) late_.emplace(late_issuer(silence_.url()));
    return late_->me().with("Authorization", "Bearer " + token).send(sample.call(nobodys_));
  }

  Reply late_provider(const Sample& sample) {
    Names names = mine_;
    names["connector"] = add_http_connector(app_, silence_.url(), 500);
    add_late_providers(app_, silence_.url(), names);
    return app_.me().send(sample.call(names));
  }

  Reply beyond_quota(const Sample& sample) {
    const auto limit = [&](std::optional<std::int64_t> bytes) {
      flows::set_quota(app_.flows(), app_.association(), Environment::sandbox, Quota::file_bytes,
                       bytes)
          .value();
    };
    limit(0);
    const Reply reply = app_.me().send(sample.call(mine_));
    limit(std::nullopt);
    return reply;
  }

  Reply unchanged(const Sample& sample) {
    HttpCall call = sample.call(mine_);
    const std::string etag = app_.me().send(call).header("ETag");
    call.headers = {{"If-None-Match", etag}};
    return app_.me().send(call);
  }

  Reply with_fault(const char* fault_point, const Sample& sample) {
    const HttpCall call = sample.call(mine_);
    const ArmedFault fault(fault_point);
    return app_.me().send(call);
  }

  Reply unavailable(const api::Route& route, const Sample& sample) {
    if (route.pattern.starts_with("/v1/")) return with_fault("pipeline.overloaded=fail", sample);
    // The health routes check the store directly.
    Reply reply;
    {
      const ArmedFault fault("disk.full:0=fail");
      app_.clock.advance_ms(1'000);
      CHECK_FALSE(app_.core().queue().probe());
      reply = app_.me().send(sample.call(mine_));
    }
    app_.clock.advance_ms(1'000);
    CHECK(app_.core().queue().probe());
    return reply;
  }

  TestApp app_;
  std::optional<TestApp> limited_;
  Listener silence_;
  std::optional<TestApp> late_;
  Names mine_;
  Names nobodys_;
  HttpCall accepted_;
};

}  // namespace coffer::test
