// The vocabularies of payments.
#include <catch2/catch.hpp>
#include <set>

#include "domain/payments/payment.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {
const std::string kEnums = "/v1/payments/enums";
}

TEST_CASE("every vocabulary is a list of codes and labels") {
  TestApp app;
  const Json all = app.me().get(kEnums).json();
  const std::set<std::string> wanted = {"purposeOfPayment", "sourceOfFunds", "relationship",
                                        "idType",           "entityType",    "transactionType",
                                        "method",           "failureCode",   "status",
                                        "transitions",      "eventType"};
  std::set<std::string> found;
  for (const auto& [name, list] : all.items()) {
    INFO(name);
    found.insert(name);
    CHECK_FALSE(list.empty());
    if (name == "transitions") continue;
    std::set<std::string> codes;
    for (const Json& term : list) {
      CHECK(codes.insert(term.at("code")).second);
      CHECK_FALSE(term.at("label").get<std::string>().empty());
    }
  }
  CHECK(found == wanted);
  const auto codes = [&](const char* name) {
    const Json& list = all.at(name);
    return member_of_each({list.begin(), list.end()}, "code");
  };
  using List = std::vector<std::string>;
  CHECK(codes("transactionType") == List{"C2C", "C2B", "B2C", "B2B"});
  CHECK(codes("method") ==
        List{"BANK", "MOMO", "CRYPTO", "CARD", "CASH", "QR", "VOUCHER", "WALLET"});
  CHECK(codes("entityType") == List{"Person", "Business"});
  CHECK(codes("status") == List{"initiated", "processing", "succeeded", "failed", "refund_pending",
                                "refunded", "refund_failed", "expired"});
  const List events = codes("eventType");
  for (const char* type :
       {"payment.initiated", "payment.processing", "payment.succeeded", "payment.failed",
        "payment.refund_pending", "payment.refunded", "payment.refund_failed"}) {
    CHECK(std::find(events.begin(), events.end(), type) != events.end());
  }
}

TEST_CASE("the published transitions equal the transition table") {
  TestApp app;
  const Json shown = app.me().get(kEnums).json().at("transitions");
  CHECK(shown.size() == payment_transitions().size());
  for (const Json& transition : shown) {
    CHECK(may_change(*parse_term<PaymentStatus>(transition.at("from").get<std::string>()),
                     *parse_term<PaymentStatus>(transition.at("to").get<std::string>())));
  }
}

TEST_CASE("a client with the current vocabularies gets 304") {
  TestApp app;
  const Reply first = app.me().get(kEnums);
  const std::string etag = first.header("ETag");
  REQUIRE(etag.size() > 2);
  CHECK(etag.front() == '"');
  for (const std::string& known : {etag, "W/" + etag, "\"other\", " + etag, std::string("*")}) {
    INFO(known);
    const Reply again = app.me().with("If-None-Match", known).get(kEnums);
    CHECK(again.status == 304);
    CHECK(again.body.empty());
    CHECK(again.header("Content-Type").empty());
    CHECK(again.header("ETag") == etag);
  }
  const Reply other = app.me().with("If-None-Match", "\"other\", , x").get(kEnums);
  CHECK(other.status == 200);
  CHECK(other.body == first.body);
  app.listen();
  const Reply wire = app.me().over_wire().with("If-None-Match", etag).get(kEnums);
  CHECK(wire.status == 304);
  CHECK(wire.body.empty());
}

TEST_CASE("lists that are always complete accept limit and cursor") {
  TestApp app;
  for (const std::string& list : {kEnums, std::string("/v1/business/association/all")}) {
    INFO(list);
    const std::string whole = app.me().get(list).body;
    for (const char* query : {"?limit=1", "?limit=", "?limit=100&cursor="}) {
      const Reply reply = app.me().get(list + query);
      CHECK(reply.status == 200);
      CHECK(reply.body == whole);
    }
    for (const char* wrong : {"?limit=0", "?limit=101", "?cursor=nonsense"}) {
      CHECK(app.me().get(list + wrong).status == 400);
    }
  }
}
