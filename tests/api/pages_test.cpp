// The API reference at /docs: served whole by the binary, and nothing of it from anywhere else.
#include <catch2/catch.hpp>

#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

TEST_CASE("the API reference is served with everything it needs") {
  TestApp app;
  const Reply page = app.anonymous().get("/docs");
  CHECK(page.status == 200);
  CHECK(page.header("Content-Type") == "text/html; charset=utf-8");
  CHECK(page.header("Content-Security-Policy") ==
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
        "'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  CHECK_THAT(page.body, Catch::Matchers::Contains("src=\"/docs/docs.js\"") &&
                            Catch::Matchers::Contains("href=\"/docs/docs.css\""));
  const Reply script = app.anonymous().get("/docs/docs.js");
  CHECK(script.status == 200);
  CHECK(script.header("Content-Type") == "text/javascript; charset=utf-8");
  CHECK(app.anonymous().get("/docs/docs.css").header("Content-Type") == "text/css; charset=utf-8");
  CHECK(app.anonymous().get("/docs/other.js").status == 404);
  CHECK_THAT(app.anonymous().get("/").body, Catch::Matchers::Contains("href=\"/docs\""));
}

TEST_CASE("no page needs resources that its policy forbids") {
  TestApp app;
  for (const char* path :
       {"/", "/docs", "/docs/docs.js", "/docs/docs.css", "/style.css", "/problems/not-found"}) {
    const Reply reply = app.anonymous().get(path);
    INFO(path);
    CHECK(reply.status == 200);
    CHECK_FALSE(reply.header("Content-Security-Policy").empty());
    // Neither other hosts, nor inline code and style, nor markup that is made from text.
    for (const char* forbidden :
         {"http://", "https://", "<style", " style=", " onclick=", "<script>",
          "javascript:", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
          "new Function", "@import"}) {
      INFO(forbidden);
      CHECK_THAT(reply.body, !Catch::Matchers::Contains(forbidden));
    }
  }
}

TEST_CASE("documents are served from memory, and unchanged ones are not resent") {
  TestApp app;
  for (const char* path : {"/", "/docs", "/docs/docs.js", "/docs/docs.css", "/style.css",
                           "/problems/not-found", "/v1/openapi.json"}) {
    INFO(path);
    const Reply plain = app.anonymous().get(path);
    const Reply packed = app.anonymous().with("Accept-Encoding", "gzip").get(path);
    CHECK(packed.status == 200);
    CHECK(packed.header("Content-Encoding") == (packed.body == plain.body ? "" : "gzip"));
    CHECK(packed.body.size() <= plain.body.size());
    const std::string tag = plain.header("ETag");
    REQUIRE_FALSE(tag.empty());
    const Reply again = app.anonymous().with("If-None-Match", tag).get(path);
    CHECK(again.status == 304);
    CHECK(again.body.empty());
    CHECK(again.header("ETag") == tag);
  }
  const Reply document = app.anonymous().with("Accept-Encoding", "gzip").get("/v1/openapi.json");
  CHECK(document.header("Content-Encoding") == "gzip");
  CHECK(document.body.size() < 60'000);
}
