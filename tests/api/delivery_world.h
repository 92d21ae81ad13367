// An app whose events go to a receiver on this machine.
#pragma once

#include "support/receiver.h"
#include "support/test_app.h"

namespace coffer::test {

/// An app with two wallets and one webhook at its own receiver.
struct DeliveryWorld {
  explicit DeliveryWorld(const std::string& type = "*",
                         const std::function<void(Config&)>& change = {})
      : app([&](Config& config) {
          config.token_lifetime_s = 604'800;  // tests wait for days
          if (change) change(config);
        }),
        from(app.wallet("USDC", "1000")),
        to(app.wallet("USDC")) {
    const Json made =
        app.me()
            .post("/v1/webhooks", {{"url", receiver.url()}, {"eventTypes", Json::array({type})}})
            .json();
    id = made.at("id");
    secret = made.at("secret");
  }

  std::string pay() { return app.me().transfer(from, to, "1"); }
  std::string path(const std::string& rest = {}) const { return "/v1/webhooks/" + id + rest; }
  std::vector<Json> deliveries(const std::string& status) const {
    return app.me().all(path("/deliveries?status=" + status));
  }
  Json detail(const std::string& delivery) const {
    return app.me().get(path("/deliveries/" + delivery)).json();
  }
  Json webhook() const { return app.me().get(path()).json(); }

  Receiver receiver;
  TestApp app;
  std::string from;
  std::string to;
  std::string id;
  std::string secret;
};

}  // namespace coffer::test
