// Requests to a bucket, and a store that misbehaves.
#include "outbound/archive/s3_bucket.h"

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "support/listener.h"
#include "support/receiver.h"

using namespace coffer;
using namespace coffer::outbound;

namespace s3_bucket_test {
namespace {

using coffer::test::Behaviour;
using coffer::test::Received;
using Kind = coffer::test::Behaviour::Kind;

constexpr const char* kSecret = "a secret key";

std::string error_of(const std::string& code) {
  return "<Error><Code>" + code + "</Code><Message>about " + kSecret + "</Message></Error>";
}
Behaviour failure(int status, const std::string& code) {
  return {.status = status, .body = error_of(code)};
}
Behaviour list_of(const std::vector<std::string>& keys, const std::string& next = {}) {
  std::string body = "<ListBucketResult>";
  for (const std::string& key : keys) {
    body += "<Contents><Key>" + key + "</Key><Size>7</Size></Contents>";
  }
  return {.body = body + "<IsTruncated>" + (next.empty() ? "false" : "true") +
                  "</IsTruncated><NextContinuationToken>" + next +
                  "</NextContinuationToken></ListBucketResult>"};
}

struct World {
  explicit World(const std::string& prefix = "")
      : bucket({.endpoint = "http://127.0.0.1:" + std::to_string(receiver.port()), .keys = keys},
               {.bucket = "archive", .prefix = prefix}, wire()) {}

  ArchiveWire wire() {
    return {.client = client,
            .resolver = resolver,
            .clock = clock,
            .timeout_ms = 400,
            .wait = [this](int ms) { waits.push_back(ms); }};
  }
  /// Method and target of each request.
  std::vector<std::string> asked() const {
    std::vector<std::string> out;
    for (const Received& one : receiver.received()) out.push_back(one.method + ' ' + one.target);
    return out;
  }
  std::vector<std::string> listed(const std::string& prefix, const std::string& after = {}) {
    const auto found = bucket.list(prefix, after);
    REQUIRE(found);
    std::vector<std::string> out;
    for (const StoredObject& object : *found) {
      CHECK(object.bytes == 7);
      out.push_back(object.name);
    }
    return out;
  }

  coffer::test::Receiver receiver;
  http::Client client{"", http::Client::Connections::keep};
  CaresResolver resolver;
  ManualClock clock;
  AwsKeys keys{.access_key = "AKEY", .secret_key = Secret(kSecret), .region = "eu-west-3"};
  std::vector<int> waits;
  S3Bucket bucket;
};

template <class T>
const Problem& problem_of(const Result<T>& result) {
  REQUIRE_FALSE(result);
  const std::string& detail = result.error().detail;
  INFO(detail);
  CHECK(detail.find("s3://archive") != std::string::npos);
  CHECK(detail.find(kSecret) == std::string::npos);
  CHECK(detail.find("Signature=") == std::string::npos);
  return result.error();
}
bool has(const Problem& problem, const std::string& part) {
  UNSCOPED_INFO(problem.detail);
  return problem.detail.find(part) != std::string::npos;
}

const std::vector<int> kAllWaits{200, 600, 1'800};

}  // namespace

TEST_CASE("s3 bucket: an object is put under a condition, and the request is signed") {
  World world("ledger/");
  CHECK(world.bucket.put("segments/1", "bytes").value() == PutResult::stored);
  REQUIRE(world.asked() == std::vector<std::string>{"PUT /archive/ledger/segments/1"});
  const Received request = world.receiver.received()[0];
  CHECK(request.body == "bytes");
  CHECK(request.header("If-None-Match") == "*");
  CHECK(request.header("x-amz-content-sha256") == to_hex(sha256("bytes")));
  CHECK(request.header("x-amz-date") == "20260101T000000Z");
  http::ClientRequest same;
  same.method = "PUT";
  same.tls = false;
  same.host = "127.0.0.1";
  same.port = world.receiver.port();
  same.target = request.target;
  CHECK(request.header("x-amz-checksum-sha256") == to_base64(as_text(sha256("bytes"))));
  for (const char* name :
       {"if-none-match", "x-amz-checksum-sha256", "x-amz-content-sha256", "x-amz-date"}) {
    same.headers.emplace_back(name, request.header(name));
  }
  CHECK(request.header("Authorization") ==
        aws_authorization(same, world.keys, "20260101T000000Z", to_hex(sha256("bytes"))));
}

TEST_CASE("s3 bucket: requests to read, to list and to remove") {
  World world("l/");
  world.receiver.script(
      {{.body = "content"}, list_of({"l/a/b", "l/a/c"}), {.status = 204, .body = ""}});
  CHECK(world.bucket.get("a/b", 7).value() == "content");
  CHECK(world.listed("a/", "a/a") == std::vector<std::string>{"a/b", "a/c"});
  CHECK(world.bucket.remove("a/b"));
  CHECK(world.asked() ==
        std::vector<std::string>{
            "GET /archive/l/a/b",
            "GET /archive/?list-type=2&max-keys=1000&prefix=l%2Fa%2F&start-after=l%2Fa%2Fa",
            "DELETE /archive/l/a/b"});
  for (const Received& one : world.receiver.received()) {
    CHECK(one.header("If-None-Match").empty());
    CHECK(one.header("x-amz-content-sha256") == to_hex(sha256("")));
  }
  CHECK(world.receiver.connections() == 1);
}

TEST_CASE("s3 bucket: what may pass is tried four times, with pauses and new signatures") {
  const std::vector<Behaviour> passing{failure(503, "SlowDown"),
                                       failure(500, "InternalError"),
                                       {.status = 429, .body = ""},
                                       failure(409, "ConditionalRequestConflict"),
                                       failure(409, "OperationAborted"),
                                       failure(400, "RequestTimeout"),
                                       {.status = 502, .body = "<html>"},
                                       {.kind = Kind::reset},
                                       {.kind = Kind::garbage},
                                       {.kind = Kind::hang_up},
                                       {.kind = Kind::silent}};
  for (const Behaviour& one : passing) {
    INFO(one.status << one.body << static_cast<int>(one.kind));
    World world;
    world.receiver.script({one});
    CHECK(world.bucket.put("a", "bytes").value() == PutResult::stored);
    CHECK(world.waits == std::vector<int>{200});
    CHECK(world.receiver.count() == 2);
    world.receiver.otherwise(one);
    CHECK(problem_of(world.bucket.put("b", "bytes")).slug == Slug::provider_unavailable);
    CHECK(world.receiver.count() == 6);
    CHECK(problem_of(world.bucket.list("", "")).slug == Slug::provider_unavailable);
    CHECK(problem_of(world.bucket.remove("b")).slug == Slug::provider_unavailable);
    CHECK(problem_of(world.bucket.get("b", 10)).slug == Slug::provider_unavailable);
  }
  World world;
  world.receiver.otherwise(failure(503, "SlowDown"));
  const auto refused = world.bucket.put("a", "bytes");
  CHECK(has(problem_of(refused), "PUT a: status 503 SlowDown."));
  CHECK(world.waits == kAllWaits);
}

TEST_CASE("s3 bucket: other failures are final, and say what to do") {
  struct Final {
    Behaviour behaviour;
    const char* said;
  };
  for (const Final& one :
       {Final{failure(403, "AccessDenied"), "status 403 AccessDenied. The key needs s3:PutObject"},
        Final{failure(403, "RequestTimeTooSkewed"), "clock"},
        Final{failure(403, "SignatureDoesNotMatch"), "archive_secret_key"},
        Final{failure(404, "NoSuchBucket"), "Create the bucket"},
        Final{failure(400, "AuthorizationHeaderMalformed"), "archive_region"},
        Final{failure(409, "SomethingElse"), "status 409 SomethingElse."},
        Final{failure(501, "NotImplemented"), "choose another one"},
        Final{{.status = 307,
        .headers = {{"Location", "http://127.0.0.1:1/"}},
        .body = error_of("TemporaryRedirect")},
              "archive_region"},
        Final{{.status = 304, .body = ""}, "status 304."},
        Final{{.status = 400, .body = "\x1b[2J<Error>"}, "status 400."}}) {
    INFO(one.said);
    World world;
    world.receiver.otherwise(one.behaviour);
    CHECK(has(problem_of(world.bucket.put("a", "bytes")), one.said));
    CHECK(has(problem_of(world.bucket.get("a", 10)), one.said));
    CHECK(has(problem_of(world.bucket.list("", "")), one.said));
    CHECK(has(problem_of(world.bucket.remove("a")), one.said));
    const bool is_refused = one.behaviour.status == 403;
    CHECK(world.bucket.list("", "").error().slug ==
          (is_refused ? Slug::forbidden : Slug::provider_error));
    CHECK(world.receiver.count() == 5);
    CHECK(world.waits.empty());
  }
}

TEST_CASE("s3 bucket: a link that is cut ends the call, and the pauses between its requests") {
  coffer::test::Receiver receiver;
  receiver.otherwise({.kind = Kind::silent});
  ManualClock clock;
  ArchiveLink link("", clock);
  S3Bucket bucket({.endpoint = "http://127.0.0.1:" + std::to_string(receiver.port())},
                  {.bucket = "archive"}, link.wire());
  const SystemClock real;
  const std::int64_t began_ms = real.monotonic_ms();
  link.cut_after(300);
  CHECK(problem_of(bucket.put("a", "b")).slug == Slug::provider_unavailable);
  CHECK(problem_of(bucket.list("", "")).slug == Slug::provider_unavailable);
  CHECK(real.monotonic_ms() - began_ms < 1'000);
}

TEST_CASE("s3 bucket: the requests of one link share a connection") {
  World world;
  ArchiveLink link("", world.clock);
  S3Bucket bucket({.endpoint = "http://127.0.0.1:" + std::to_string(world.receiver.port())},
                  {.bucket = "archive"}, link.wire());
  for (const char* name : {"a", "b", "c"}) CHECK(bucket.put(name, "x"));
  CHECK(world.receiver.connections() == 1);
}

TEST_CASE("s3 bucket: without a connection") {
  int port = 0;
  { port = coffer::test::Listener().port(); }
  World world;
  S3Bucket bucket({.endpoint = "http://127.0.0.1:" + std::to_string(port)}, {.bucket = "archive"},
                  world.wire());
  CHECK(has(problem_of(bucket.put("a", "b")), "Connection refused"));
  CHECK(world.waits == kAllWaits);
}

TEST_CASE("s3 bucket: a name that is taken, and an answer that was lost") {
  struct Taken {
    Behaviour first;  // to the first PUT
    std::string stored;
    bool is_stored;
  };
  const Behaviour taken = failure(412, "PreconditionFailed");
  for (const Taken& one :
       {Taken{taken, "other", false}, Taken{taken, "bytes and more", false},
        Taken{taken, "", false}, Taken{taken, "bytes", true},
        Taken{{.kind = Kind::hang_up}, "bytes", true}, Taken{{.kind = Kind::reset}, "bytes", true},
        Taken{{.kind = Kind::silent}, "bytes", true},
        Taken{failure(500, "InternalError"), "bytes", true},
        Taken{{.kind = Kind::hang_up}, "other", false}}) {
    INFO(one.stored);
    World world;
    std::vector<Behaviour> script{one.first};
    if (one.first.status != 412) script.push_back(taken);
    script.push_back({.body = one.stored});
    world.receiver.script(script);
    const auto put = world.bucket.put("a", "bytes");
    REQUIRE(put);
    CHECK((*put == PutResult::stored) == one.is_stored);
    CHECK(world.asked().back() == "GET /archive/a");
  }
  World world;
  world.receiver.script({taken, failure(404, "NoSuchKey")});
  CHECK(problem_of(world.bucket.put("a", "bytes")).slug == Slug::not_found);
}

TEST_CASE("s3 bucket: an object that is missing, long or incomplete") {
  World world;
  world.receiver.script({failure(404, "NoSuchKey"),
                         {.status = 404, .body = ""},
                         {.body = std::string(100'001, 'x')},
                         {.body = std::string(2'000'000, 'x')},
                         {.body = std::string(100'000, 'x')}});
  CHECK(problem_of(world.bucket.get("a", 10)).slug == Slug::not_found);
  CHECK(problem_of(world.bucket.get("a", 10)).slug == Slug::not_found);
  CHECK(problem_of(world.bucket.get("a", 100'000)).slug == Slug::validation_failed);
  CHECK(problem_of(world.bucket.get("a", 100'000)).slug == Slug::validation_failed);
  CHECK(world.bucket.get("a", 100'000).value().size() == 100'000);
  CHECK(world.waits.empty());
  world.receiver.script({{.kind = Kind::close_early, .body = std::string(10'000, 'x')},
                         {.body = std::string(10'000, 'x')}});
  CHECK(world.bucket.get("a", 100'000).value().size() == 10'000);
  CHECK(world.waits == std::vector<int>{200});
  world.receiver.otherwise({.kind = Kind::close_early, .body = std::string(10'000, 'x')});
  CHECK(has(problem_of(world.bucket.get("a", 100'000)), "incomplete"));
}

TEST_CASE("s3 bucket: a body that is slower than the deadline ends") {
  World world;
  world.receiver.otherwise({.kind = Kind::dribble, .body = std::string(10'000, 'x')});
  CHECK(problem_of(world.bucket.get("a", 10'000)).slug == Slug::provider_unavailable);
  CHECK(world.waits == kAllWaits);
}

TEST_CASE("s3 bucket: a list follows the store's answers to the first that has an object") {
  World world("l/");
  world.receiver.script({list_of({"l/.hidden", "l/a b"}, "t/1"), list_of({}, "t+2"),
                         list_of({"l/b", "l/c d", "l/e"}, "t3"), list_of({"l/f"})});
  CHECK(world.listed("") == std::vector<std::string>{"b", "e"});
  CHECK(world.listed("", "e") == std::vector<std::string>{"f"});
  const std::string begin = "GET /archive/?list-type=2&max-keys=1000&prefix=l%2F";
  CHECK(world.asked() == std::vector<std::string>{begin, begin + "&continuation-token=t%2F1",
                                                  begin + "&continuation-token=t%2B2",
                                                  begin + "&start-after=l%2Fe"});
}

TEST_CASE("s3 bucket: a list that does not answer the question is refused") {
  struct Wrong {
    Behaviour answer;
    const char* said;
  };
  const std::string endless = "<ListBucketResult>" + std::string(5'000'000, ' ');
  for (const Wrong& wrong :
       {Wrong{list_of({"l/b", "l/a"}), "byte order"}, Wrong{list_of({"l/b", "l/b"}), "byte order"},
        Wrong{list_of({"l/a"}), "byte order"}, Wrong{list_of({"m/b"}), "byte order"},
        Wrong{list_of({"b"}), "byte order"}, Wrong{{.body = "<html/>"}, "not a list"},
        Wrong{{.body = ""}, "not a list"}, Wrong{{.body = endless}, "not a list"},
        Wrong{{.body = error_of("AccessDenied")}, "not a list"},
        Wrong{list_of({}, "again"), "too many objects"}}) {
    INFO(wrong.said);
    World world("l/");
    world.receiver.otherwise(wrong.answer);
    CHECK(has(problem_of(world.bucket.list("", "a")), wrong.said));
  }
}

TEST_CASE("s3 bucket: removing what is not there has no effect") {
  World world;
  world.receiver.script({failure(404, "NoSuchKey"), {.status = 200, .body = ""}});
  CHECK(world.bucket.remove("a"));
  CHECK(world.bucket.remove("a"));
}

TEST_CASE("s3 bucket: a cut client ends the calls") {
  World world;
  world.receiver.otherwise({.kind = Kind::silent});
  world.client.cut();
  CHECK(has(problem_of(world.bucket.put("a", "b")), "timed out"));
}

}  // namespace s3_bucket_test
