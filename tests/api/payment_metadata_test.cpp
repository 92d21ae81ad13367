// `metadata` of payments: on every submission of the route table, in records, events, statements
// and exports, as a filter, and never in a log.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "base/digest.h"
#include "cli/run/dispatch.h"
#include "flows/operations/export.h"
#include "route_samples.h"
#include "support/recipients.h"
#include "support/sealed_edits.h"

using namespace coffer;
using namespace coffer::test;

namespace payment_metadata_test {
namespace {

const std::string kTransfer = "/v1/payments/p2p/own";
const std::string kList = "/v1/transactions";
const std::string kFourBytes = "\xf0\x9f\x92\xb6";  // U+1F4B6
using List = std::vector<std::string>;

/// Whether the route accepts a payment from a client.
bool submits(const api::Route& route) {
  const std::string_view schema = route.responses.front().schema;
  const bool acknowledges = schema == "Acknowledgement" || schema == "CashInResult";
  return acknowledges && !route.pattern.starts_with("/v1/sandbox/");
}

struct Submissions {
  Submissions() { app.rate("USDC", "EURC", "0.9"); }

  /// Passes a new valid call and its body of each route that accepts or validates payments.
  template <class Use>
  int each(bool validates, const Use& use) {
    int routes = 0;
    for (const api::Route& route : api::routes()) {
      const bool is_check = route.responses.front().schema == "Validation";
      if (validates ? !is_check : !submits(route)) continue;
      if (route.request_schema == "Reversal") continue;  // gives a payment back
      INFO(route.operation);
      Names names = mine;
      add_fresh_payment_samples(app, app.me(), names, sample_of(route));
      const HttpCall call = sample_of(route).call(names);
      use(call, Json::parse(call.body));
      ++routes;
    }
    return routes;
  }
  Reply send(HttpCall call, const Json& body) const {
    call.body = body.dump();
    return app.me().send(call);
  }

  TestApp app;
  Names mine = belongings_of(app, app.me());
};

std::string repeated(const std::string& text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

struct BadMetadata {
  Json value;
  List fields;
  std::string said;
};

std::vector<BadMetadata> bad_metadata() {
  Json many = Json::object();
  for (int i = 0; i < 21; ++i) many["k" + std::to_string(i)] = "x";
  const std::string long_key(41, 'k');
  return {
      {"x", {"metadata"}, "must be an object, not a string"},
      {Json::array({"x"}), {"metadata"}, "must be an object, not an array"},
      {many, {"metadata"}, "must have at most 20 keys"},
      {{{"", "x"}}, {"metadata."}, "is not a permitted key"},
      {{{"a b", "x"}}, {"metadata.a b"}, "is not a permitted key"},
      {{{"\u00e9", "x"}}, {"metadata.\u00e9"}, "each a letter, a digit or one of . _ -"},
      {{{long_key, "x"}}, {"metadata." + long_key}, "is not a permitted key"},
      {{{"a", 1}}, {"metadata.a"}, "must be a string, not a number"},
      {{{"a", true}}, {"metadata.a"}, "must be a string, not a boolean"},
      {{{"a", nullptr}}, {"metadata.a"}, "must be a string, not null"},
      {{{"a", {{"b", "c"}}}}, {"metadata.a"}, "must be a string, not an object"},
      {{{"a", ""}}, {"metadata.a"}, "must not be blank"},
      {{{"a", " "}}, {"metadata.a"}, "must not be blank"},
      {{{"a", repeated(kFourBytes, 501)}}, {"metadata.a"}, "at most 500 characters"},
      {{{"a", "x\ny"}}, {"metadata.a"}, "control"},
      {{{"a", "x\u202ey"}}, {"metadata.a"}, "invisible"},
      {{{"a", 1}, {"b", "x"}, {"c d", "x"}}, {"metadata.a", "metadata.c d"}, "metadata.a must be"}};
}

/// Three payments with metadata and one without, oldest first; and one of another association.
struct World {
  TestApp app;
  const Client& me = app.me();
  std::string a = app.wallet("USDC", "100");
  std::string b = app.wallet("USDC");
  std::string first = pay({{"order", "A-1"}, {"region", "EU"}});
  std::string plain = pay(nullptr);
  std::string second = pay({{"order", "A-2"}, {"region", "EU"}});
  std::string third = pay({{"order", "A-1"}});

  World() {
    const Client other = app.stranger();
    Json body = transfer_body(other.wallet("USDC", "1"), other.wallet("USDC"), "1");
    body["metadata"] = {{"order", "A-1"}};
    other.pay(kTransfer, body);
  }
  std::string pay(const Json& metadata) {
    Json body = transfer_body(a, b, "1");
    if (!metadata.is_null()) body["metadata"] = metadata;
    return me.pay(kTransfer, body);
  }
  List found(const std::string& query) const {
    INFO(query);
    return member_of_each(me.all(kList + query), "id");
  }
};

}  // namespace

TEST_CASE("payment metadata: every submission stores it, and compares it in a replay") {
  const Json metadata{{"order", "A-1"}, {"x.Y_z-9", "\"K\u00e4se\" \\ " + kFourBytes}};
  Submissions all;
  const int routes = all.each(false, [&](const HttpCall& call, Json body) {
    body["metadata"] = metadata;
    const Reply reply = all.send(call, body);
    INFO(reply.text());
    REQUIRE(reply.status == 202);
    const std::string id = reply.json().at("transactionRecordId");
    CHECK(all.app.me().record(id).at("metadata") == metadata);
    // The order of the keys does not matter.
    const auto again = [&](const std::string& text) {
      HttpCall other = call;
      body.erase("metadata");
      other.body = body.dump();
      other.body.insert(other.body.size() - 1, R"(,"metadata":)" + text);
      return all.app.me().send(other);
    };
    const std::string both = R"({"x.Y_z-9":)" + metadata.at("x.Y_z-9").dump() + R"(,"order":)";
    CHECK(again(both + R"("A-1"})").json().at("isIdempotent") == true);
    const std::vector<std::pair<std::string, List>> others = {
        {both + R"("a-1"})", {"metadata.order"}},
        {both + R"("A-1","more":"x"})", {"metadata.more"}},
        {R"({"order":"A-1"})", {"metadata.x.Y_z-9"}},
        {"{}", {"metadata.order", "metadata.x.Y_z-9"}},
        {"null", {"metadata.order", "metadata.x.Y_z-9"}}};
    for (const auto& [text, fields] : others) {
      const Reply conflict = again(text);
      INFO(text << conflict.text());
      CHECK(conflict.slug() == "transaction-id-conflict");
      CHECK(conflict.fields() == fields);
    }
  });
  CHECK(routes == 9);
}

TEST_CASE("payment metadata: every submission and its validation reject what is not valid") {
  Submissions all;
  const auto check = [&](const HttpCall& call, Json body) {
    for (const BadMetadata& bad : bad_metadata()) {
      body["metadata"] = bad.value;
      const Reply reply = all.send(call, body);
      INFO(bad.value.dump() << reply.text());
      CHECK(reply.status == 400);
      CHECK(reply.slug() == "malformed-request");
      CHECK(reply.fields() == bad.fields);
      CHECK_THAT(reply.text(), Catch::Matchers::Contains(bad.said));
    }
  };
  const int submissions = all.each(false, check);
  const int validations = all.each(true, [&](const HttpCall& call, Json body) {
    check(call, body);
    for (const Json& good : {Json(nullptr), Json::object(), Json{{"order", "A-1"}}}) {
      body["metadata"] = good;
      CHECK(all.send(call, body).json() == Json{{"valid", true}});
    }
  });
  CHECK(submissions == 9);
  CHECK(validations == 8);
  for (const Json& record : all.app.me().all(kList)) CHECK_FALSE(record.contains("metadata"));
}

TEST_CASE("payment metadata: none is like an absent member and stores nothing") {
  World world;
  for (const Json& none : {Json(nullptr), Json::object()}) {
    Json body = transfer_body(world.a, world.b, "1");
    body["metadata"] = none;
    const std::string id = world.me.pay(kTransfer, body);
    CHECK_FALSE(world.me.record(id).contains("metadata"));
    body.erase("metadata");
    CHECK(world.me.post(kTransfer, body).json().at("isIdempotent") == true);
  }
  store::Connection db(world.app.config().db, store::OpenMode::read_only);
  const auto number = [&](const char* sql) {
    store::Query query(db, sql);
    return query.step() ? query.integer(0) : -1;
  };
  CHECK(number("SELECT count(*) FROM payments WHERE metadata IS NOT NULL") == 4);
  CHECK(number("SELECT count(*) FROM metadata_terms") == 6);
}

TEST_CASE("payment metadata: 20 keys of 40 characters with texts of 500") {
  World world;
  world.app.listen();
  Json metadata = Json::object();
  for (int i = 0; i < 20; ++i) {
    metadata[std::string(38, '.') + std::to_string(10 + i)] = repeated(kFourBytes, 500);
  }
  Json body = transfer_body(world.a, world.b, "1");
  body["metadata"] = metadata;
  const Reply reply = world.me.over_wire().post_text(kTransfer, body.dump());
  INFO(reply.text().substr(0, 500));
  REQUIRE(reply.status == 202);
  world.app.settle();
  const Json record = world.me.record(reply.json().at("transactionRecordId"));
  CHECK(record.at("metadata") == metadata);
  CHECK(record.at("status") == "succeeded");
}

TEST_CASE("payment metadata: the list finds payments by keys and texts") {
  World world;
  CHECK(world.found("?metadata[order]=A-1") == List{world.third, world.first});
  CHECK(world.found("?metadata%5Border%5D=A%2D1") == List{world.third, world.first});
  CHECK(world.found("?metadata[region]=EU") == List{world.second, world.first});
  CHECK(world.found("?metadata[region]=EU&metadata[order]=A-1") == List{world.first});
  CHECK(world.found("?metadata[order]=A-1&status=succeeded") == List{});
  CHECK(world.found("?metadata[order]=A-1&limit=1&walletId=" + world.b).size() == 2);
  CHECK(world.found("?sort=updatedAt&metadata[order]=A-1") == List{world.third, world.first});
  for (const char* none :
       {"?metadata[order]=a-1", "?metadata[order]=A-1%20", "?metadata[Order]=A-1",
        "?metadata[none]=x", "?metadata[region]=EU&metadata[order]=A-3"}) {
    INFO(none);
    const Json page = world.me.get(kList + none).json();
    CHECK(page.at("data").empty());
    CHECK(page.at("hasMore") == false);
  }
  // An empty filter counts as absent, as in every list.
  CHECK(world.found("?metadata[order]=") == world.found(""));
  world.app.listen();
  CHECK(world.me.over_wire().get(kList + "?metadata[order]=A-2").json().at("data").size() == 1);
  CHECK(world.me.over_wire().get(kList + "?metadata%5border%5D=A-2").json().at("data").size() == 1);
}

TEST_CASE("payment metadata: a cursor belongs to all keys and texts of its filter, in any order") {
  World world;
  const std::string both = "?limit=1&metadata[order]=A-1&metadata[region]=EU";
  world.pay({{"order", "A-1"}, {"region", "EU"}});
  const Json page = world.me.get(kList + both).json();
  CHECK(page.at("hasMore") == true);
  const std::string cursor = "&cursor=" + page.at("nextCursor").get<std::string>();
  const auto ids = [&](const std::string& query) {
    return member_of_each(world.me.get(kList + query).json().at("data").get<std::vector<Json>>(),
                          "id");
  };
  CHECK(ids(both + cursor) == List{world.first});
  CHECK(ids("?limit=1&metadata%5Bregion%5D=EU&metadata[order]=A-1" + cursor) == List{world.first});
  for (const char* other : {"?metadata[order]=A-1", "?metadata[order]=A-2&metadata[region]=EU", "?",
                            "?metadata[order]=EU&metadata[region]=A-1"}) {
    INFO(other);
    CHECK(world.me.get(kList + other + cursor).slug() == "invalid-cursor");
  }
}

TEST_CASE("payment metadata: filters that are not valid") {
  TestApp app;
  const auto many_keys = [](int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += "&metadata[k" + std::to_string(i) + "]=x";
    return out.substr(1);
  };
  CHECK(app.me().get(kList + ("?" + many_keys(20))).status == 200);
  const auto row = [](const std::string& query, const std::string& field, const char* said) {
    return Scenario{query, kList + query, "", 400, "malformed-request", {field}, {said}, "GET"};
  };
  run_scenarios(
      app.me(),
      {row("?metadata=A-1", "metadata", "metadata[order]=A-1"),
       row("?metadata[]=A-1", "metadata[]", "is not a permitted key"),
       row("?metadata[a%20b]=A-1", "metadata[a b]", "is not a permitted key"),
       row("?metadata[a][b]=A-1", "metadata[a][b]", "is not a permitted key"),
       row("?metadata[" + std::string(41, 'k') + "]=x", "metadata[" + std::string(41, 'k') + "]",
           "is not a permitted key"),
       row("?metadata[a]=" + std::string(501, 'x'), "metadata[a]", "at most 500 characters"),
       row("?metadata[a]=x%0Ay", "metadata[a]", "metadata[a]"),
       row("?metadata[a]=%20", "metadata[a]", "metadata[a]"),
       row("?" + many_keys(21), "metadata", "at most 20 keys"),
       row("?metadata[a=A-1", "metadata[a", "is not a query parameter"),
       row("?metadata[a]=1&metadata%5Ba%5D=2", "metadata[a]", "must not be repeated")});
  CHECK(app.me().get("/v1/wallets?metadata[a]=1").status == 400);
}

TEST_CASE("payment metadata: a long filter has a second page, or is refused on the first") {
  World world;
  world.app.listen();
  const std::string longest = repeated(kFourBytes, 500);
  for (int i = 0; i < 2; ++i) world.pay({{"long", longest}});
  const auto page = [&](const std::string& query) {
    return world.me.over_wire().get(kList + query);
  };
  const auto encoded = [](int count) {
    return repeated("%F0%9F%92%B6", static_cast<std::size_t>(count));
  };
  const std::string query = "?limit=1&metadata[long]=" + encoded(500);
  const Reply first = page(query);
  REQUIRE(first.status == 200);
  const std::string cursor = first.json().at("nextCursor");
  CHECK(page(query + "&cursor=" + cursor).json().at("data").size() == 1);
  // A request target has at most 8192 bytes, also with a cursor.
  const Reply refused = page(query + "&metadata[two]=" + encoded(178));
  CHECK(refused.status == 400);
  CHECK_THAT(refused.text(), Catch::Matchers::Contains("filters are too long"));
}

TEST_CASE("payment metadata: events, statements and exports have it, other associations do not") {
  TestApp app;
  const Client& me = app.me();
  const Client other = app.stranger();
  const std::string from = app.wallet("USDC", "100"), to = other.wallet("USDC");
  const std::string address = other.get("/v1/wallets/" + to).json().at("publicKey");
  const Json metadata{{"formula", "=1+1"}, {"order", "A \"1\""}};
  const std::string id =
      me.pay("/v1/payments/p2p/beneficiary", {{"transactionId", "paid"},
                                              {"sourceWalletId", from},
                                              {"sendingAssetCode", "USDC"},
                                              {"beneficiaryId", add_ledger_recipient(me, address)},
                                              {"amount", "1"},
                                              {"metadata", metadata}});
  app.settle();
  int events = 0;
  for (const Json& event : me.all("/v1/events")) {
    if (!event.at("type").get<std::string>().starts_with("payment.")) continue;
    CHECK(event.at("data").at("metadata") == metadata);
    ++events;
  }
  CHECK(events == 3);
  const auto statement = [](const Client& client, const std::string& wallet,
                            const std::string& format) {
    return client.get("/v1/statements/transactions" + format + "?walletId=" + wallet +
                      "&assetCode=USDC&startDate=2026-01-01&endDate=2026-02-01");
  };
  const Json lines = statement(me, from, "").json().at("data");
  REQUIRE(lines.size() == 2);
  CHECK_FALSE(lines[0].contains("metadata"));
  CHECK(lines[1].at("metadata") == metadata);
  const std::string ndjson = statement(me, from, "/ndjson").body;
  CHECK(Json::parse(ndjson.substr(ndjson.find('\n'))) == lines[1]);
  const std::string csv = statement(me, from, "/csv").body;
  CHECK(
      csv.starts_with("rowId,at,description,reference,counterparty,direction,amount,runningBalance,"
                      "transactionRecordId,metadata\r\n"));
  CHECK(csv.ends_with("," + id +
                      R"(,"{""formula"":""=1+1"",""order"":""A \""1\""""}")"
                      "\r\n"));
  const Json theirs = statement(other, to, "").json().at("data");
  REQUIRE(theirs.size() == 1);
  CHECK_FALSE(theirs[0].contains("metadata"));
  for (const char* format : {"/csv", "/ndjson"}) {
    CHECK(statement(other, to, format).body.find("A \\") == std::string::npos);
  }
  Json exported;
  flows::export_everything(app.config().db, {.line =
                                                 [&](const std::string& line) {
                                                   const Json json = Json::parse(line);
                                                   if (json.at("type") == "payment")
                                                     exported = json;
                                                 },
                                             .progress = [](const auto&) {}});
  CHECK(exported.at("metadata") == metadata);
}

TEST_CASE("payment metadata: commands filter by it, find it and show it") {
  World world;
  const auto run = [&](const std::string& command,
                       const std::map<std::string, std::string>& arguments) {
    std::ostringstream out, err;
    cli::Interruption interruption;
    const int code = cli::run_request(world.app.core(),
                                      {.command = command, .arguments = arguments, .json = true},
                                      out, err, interruption);
    return std::pair{code, out.str() + err.str()};
  };
  const auto ids = [&](const std::string& command, const std::string& name,
                       const std::string& text) {
    const Json rows = Json::parse(run(command, {{name, text}}).second).at("data");
    return member_of_each(rows.get<std::vector<Json>>(), "id");
  };
  // An operator sees the payments of all associations.
  CHECK(ids("payment list", "metadata", "order=A-1").size() == 3);
  CHECK(ids("payment list", "metadata", "order=A-2") == List{world.second});
  CHECK(ids("payment list", "metadata", "order=A") == List{});
  CHECK(Json::parse(run("payment count", {{"metadata", "region=EU"}}).second).at("payments") == 2);
  CHECK(ids("payment find", "TEXT", "order=A-2") == List{world.second});
  CHECK(ids("payment find", "TEXT", "order=A-3") == List{});
  CHECK(Json::parse(run("payment show", {{"ID", world.second}}).second).at("metadata") ==
        Json{{{"name", "order"}, {"value", "A-2"}}, {{"name", "region"}, {"value", "EU"}}});
  for (const char* wrong : {"order", "order=", "=A-1", "a b=c"}) {
    INFO(wrong);
    const auto [code, said] = run("payment list", {{"metadata", wrong}});
    CHECK(code != 0);
    CHECK_THAT(said, Catch::Matchers::Contains("KEY=TEXT"));
  }
}

TEST_CASE("payment metadata: no log line has a text of it") {
  World world;
  const std::string secret = "Zimtstern-4711";
  Json body = transfer_body(world.a, world.b, "1");
  body["metadata"] = {{"order", secret}};
  world.me.pay(kTransfer, body);
  body["metadata"]["order"] = secret + "-other";
  CHECK(world.me.post(kTransfer, body).status == 409);
  body["metadata"] = {{"bad key", secret}, {"long", secret + std::string(500, 'x')}};
  CHECK(world.me.post(kTransfer, body).status == 400);
  CHECK(world.me.get(kList + "?metadata[order]=" + secret).json().at("data").size() == 1);
  CHECK(world.me.get(kList + "?metadata[bad%20key]=" + secret).status == 400);
  world.app.settle();
  CHECK(world.app.log().find(secret) == std::string::npos);
}

TEST_CASE("payment metadata: what another program wrote does not break lists") {
  World world;
  {
    SealedEdits edits(world.app);
    edits.run("UPDATE payments SET metadata = '{' WHERE metadata IS NOT NULL AND payment = 1");
    CHECK(world.found("?metadata[order]=A-1") == List{world.third});
    CHECK(world.found("").size() == 4);
    edits.run(R"(UPDATE payments SET metadata = '{"order":"A-1","region":"EU"}')"
              " WHERE payment = 1");
  }
  CHECK(world.found("?metadata[order]=A-1") == List{world.third, world.first});
}

}  // namespace payment_metadata_test
