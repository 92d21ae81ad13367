// The examples of the OpenAPI document are recorded: web/openapi/examples.ndjson has a line for
// each operation, with its request, its successes and one problem, and a line for each event. This
// test records them again and compares.
// `COFFER_RECORD_EXAMPLES=1 build/dev/tests/api_tests "examples*"` replaces the lines that differ.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "api/pipeline/routes.h"
#include "base/environment.h"
#include "base/text/ascii.h"
#include "domain/webhooks/event_type.h"
#include "response_producer.h"
#include "source_dir.h"

using namespace coffer;
using namespace coffer::test;

namespace {

constexpr const char* kExamples = COFFER_SOURCE_DIR "/web/openapi/examples.ndjson";

// Recording ---------------------------------------------------------------------------------------

/// The problem that says most about the operation.
int problem_status(const api::Route& route) {
  const auto declared = api::responses_of(route);
  for (const int status : {422, 409, 404, 403, 401, 400}) {
    const auto is_it = [&](const api::DeclaredResponse& each) { return each.status == status; };
    if (std::any_of(declared.begin(), declared.end(), is_it)) return status;
  }
  throw InternalError(std::string(route.operation) + " declares no problem");
}

/// The first response of a list with `limit=2`, which is shorter and shows the cursor.
Reply short_page(ResponseProducer& producer, const api::Route& route, const Reply& whole) {
  const auto is_limit = [](const api::QueryParam& param) { return param.name == "limit"; };
  if (std::none_of(route.query.begin(), route.query.end(), is_limit)) return whole;
  HttpCall call = producer.accepted();
  call.target = with_query(call.target, "limit=2");
  return producer.send(call);
}

Json content_of(const api::DeclaredResponse& success, const std::string& body) {
  return success.media_type == "application/json" ? Json::parse(body) : Json(body);
}

/// The exchanges of an operation, each on a new file.
Json recorded(const api::Route& route) {
  ResponseProducer producer;
  Json out{{"operation", route.operation}};
  for (const api::DeclaredResponse& success : route.responses) {
    // The document does not contain itself.
    if (success.schema.empty() || success.schema == "OpenApi") continue;
    const Reply reply = short_page(producer, route, producer.produce(route, success.status));
    INFO(reply.text().substr(0, 1000));
    REQUIRE(reply.status == success.status);
    const bool has_json = route.body != api::Body::none && route.body != api::Body::form;
    if (!out.contains("request") && has_json) {
      out["request"] = Json::parse(producer.accepted().body);
    }
    out["responses"][std::to_string(success.status)] = content_of(success, reply.body);
  }
  const Reply problem = producer.produce(route, problem_status(route));
  REQUIRE(problem.status == problem_status(route));
  out["problem"] = {{"status", problem.status}, {"body", problem.json()}};
  return out;
}

/// A sample of the event, as the server sends and shows it.
Json recorded(const EventTypeRow& row) {
  TestApp app;
  const std::string type(row.term.code);
  std::string target = "/v1/sandbox/events/" + type + "/trigger";
  if (row.subscription == Subscription::never) {
    const Json webhook{{"url", "http://127.0.0.1:9/hooks"}, {"eventTypes", {"*"}}};
    const std::string id = app.me().post("/v1/webhooks", webhook).json().at("id");
    target = "/v1/webhooks/" + id + "/test";
  }
  const std::string id = app.me().send({"POST", target, {}, {}}).json().at("eventId");
  return {{"operation", "event." + type}, {"body", app.me().get("/v1/events/" + id).json()}};
}

// Comparison --------------------------------------------------------------------------------------

/// Replaces IDs, secrets and times by their order of appearance, so that two recordings of the same
/// behaviour are equal.
class Normalised {
 public:
  Json of(const Json& value) {
    if (value.is_string()) return text(value.get<std::string>());
    Json out = value;
    if (value.is_structured()) {
      for (Json& member : out) member = of(member);
    }
    if (is_size_of_file(value)) out["used"] = "<bytes>";
    if (value.is_object() && value.contains("durationMs")) out["durationMs"] = "<duration>";
    return out;
  }

 private:
  /// The quota of bytes, which depends on the length of transaction IDs.
  static bool is_size_of_file(const Json& value) {
    return value.is_object() && value.contains("name") && value.at("name") == "file_bytes";
  }

  static bool is_chance(const std::string& word) {
    const auto digits = std::count_if(word.begin(), word.end(), ascii::is_digit);
    const bool mixed = digits > 0 && digits < static_cast<std::ptrdiff_t>(word.size());
    // Account numbers, and sizes in bytes.
    const bool number = digits >= 5 && digits == static_cast<std::ptrdiff_t>(word.size());
    return number || word.starts_with("tx-") ||
           (word.size() >= 12 && mixed && std::any_of(word.begin(), word.end(), ascii::is_letter));
  }

  std::string mark(const std::string& word) {
    if (!is_chance(word)) return word;
    const auto [it, is_new] = marks_.try_emplace(word, marks_.size() + 1);
    return "<" + std::to_string(it->second) + ">";
  }

  std::string text(const std::string& whole) {
    // The slash belongs to Base64; in a path, it separates words.
    const bool path = whole.starts_with("/") || whole.find("://") != std::string::npos;
    const std::string inner = path ? "+=_-.:" : "+=_-.:/";
    std::string out, word;
    for (const char c : whole) {
      if (ascii::is_letter(c) || ascii::is_digit(c) || inner.find(c) != std::string::npos) {
        word += c;
        continue;
      }
      out += mark(word) + c;
      word.clear();
    }
    return out + mark(word);
  }

  std::map<std::string, std::size_t> marks_;
};

Json normalised(Json value) {
  // A worker may record the result of the provider before the response shows the payment.
  const std::string operation = value.is_object() ? value.value("operation", "") : "";
  if (operation == "sandboxFailTransaction" || operation == "sandboxSucceedTransaction") {
    value.erase("responses");
  }
  return Normalised().of(value);
}

std::map<std::string, Json> stored_examples() {
  std::map<std::string, Json> out;
  std::ifstream file(kExamples);
  for (std::string line; std::getline(file, line);) {
    Json example = Json::parse(line);
    out.emplace(example.at("operation"), std::move(example));
  }
  return out;
}

}  // namespace

TEST_CASE("examples: the stored examples equal the server's responses") {
  const bool record = environment_variable("COFFER_RECORD_EXAMPLES").has_value();
  const auto stored = stored_examples();
  std::string lines;
  std::size_t count = 0;
  const auto judge = [&](const Json& fresh) {
    INFO("If the change is intended, record the examples again (CONTRIBUTING.md).");
    const auto found = stored.find(fresh.at("operation"));
    const Json known = found == stored.end() ? Json() : found->second;
    const bool same = normalised(fresh) == normalised(known);
    if (!record) CHECK(normalised(fresh).dump() == normalised(known).dump());
    lines += (same ? known : fresh).dump() + "\n";
    ++count;
  };
  for (const api::Route& route : api::routes()) {
    if (route.pattern.starts_with("/v1/")) judge(recorded(route));
  }
  for (const EventTypeRow& row : event_types()) judge(recorded(row));
  if (!record) CHECK(count == stored.size());
  if (record) CHECK(std::ofstream(kExamples, std::ios::trunc) << lines << std::flush);
}

TEST_CASE("examples: only IDs, secrets and times may differ") {
  const auto exchange = [](const char* id, const char* other, const char* amount) {
    return Json{
        {"id", id}, {"source", other}, {"amount", amount}, {"at", {"2026-01-01T00:00:00Z"}}};
  };
  constexpr const char* kOne = "019b76da-a800-74a4-b9a7-f2ca1ac76137";
  constexpr const char* kTwo = "019b76da-a800-7a2c-8c21-aa8766a43166";
  const Json first = normalised(exchange(kOne, kTwo, "12.50"));
  CHECK(first == normalised(exchange(kTwo, kOne, "12.50")));
  CHECK(first != normalised(exchange(kOne, kOne, "12.50")));
  CHECK(first != normalised(exchange(kOne, kTwo, "12.5")));
  CHECK(first != normalised(exchange(kOne, "none", "12.50")));
  Json longer = exchange(kOne, kTwo, "12.50");
  longer["memo"] = nullptr;
  CHECK(first != normalised(longer));
  CHECK(normalised("Paid at 2026-01-01T00:00:00.000Z.") ==
        normalised("Paid at 2026-02-03T04:05:06.789Z."));
  CHECK(normalised("/v1/wallets/019b76da-a800-74a4-b9a7-f2ca1ac76137") !=
        normalised("/v1/wallets/all"));
}
