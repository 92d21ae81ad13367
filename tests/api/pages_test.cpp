// The API reference at /docs, which the binary serves completely, without any other host.

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
  for (const char* none : {"other.js", "index.html", "guide.html", "..%2Fstyle.css"}) {
    INFO(none);
    CHECK(app.anonymous().get("/docs/" + std::string(none)).status == 404);
  }
  CHECK_THAT(app.anonymous().get("/").body, Catch::Matchers::Contains("href=\"/docs\""));
}

TEST_CASE("only the API reference of a demo can call operations") {
  constexpr const char* kScript = "src=\"/docs/try.js\"";
  TestApp app;
  const Reply plain = app.anonymous().get("/docs");
  CHECK_THAT(plain.body, !Catch::Matchers::Contains("try.js"));
  app.core().offer_trial();
  const Reply demo = app.anonymous().get("/docs");
  CHECK_THAT(demo.body, Catch::Matchers::Contains(kScript));
  CHECK(demo.header("Content-Security-Policy") == plain.header("Content-Security-Policy"));
  for (const Reply& page : {plain, demo}) {
    CHECK_THAT(page.body, !Catch::Matchers::Contains("{{"));
  }
}

TEST_CASE("the guides and the list of problems are served by the binary") {
  TestApp app;
  const Client& reader = app.anonymous();
  const std::string guides = "/docs/guides/";
  const Reply text = reader.get(guides + "webhooks.md");
  CHECK(text.status == 200);
  CHECK(text.header("Content-Type") == "text/markdown; charset=utf-8");
  CHECK_THAT(text.body, Catch::Matchers::Contains("webhook-signature"));
  const Reply page = reader.get("/docs/guides/webhooks");
  CHECK(page.header("Content-Type") == "text/html; charset=utf-8");
  CHECK_THAT(page.body, Catch::Matchers::Contains("src=\"/docs/guide.js\""));
  for (const char* none : {"other", "other.md", "..%2Findex", ".md"}) {
    INFO(none);
    CHECK(reader.get(guides + none).status == 404);
  }
  const Reply problems = reader.get("/problems");
  CHECK(problems.status == 200);
  for (const SlugInfo& slug : slug_table()) {
    CHECK_THAT(problems.body,
               Catch::Matchers::Contains("href=\"/problems/" + std::string(slug.name) + "\""));
  }
  CHECK(problems.body.find("{{") == std::string::npos);
}

TEST_CASE("each page of the reference is under 300 KB with all it needs") {
  TestApp app;
  const Client reader = app.anonymous().with("Accept-Encoding", "gzip");
  const auto size = [&](const std::vector<std::string>& paths) {
    std::size_t bytes = 0;
    for (const std::string& path : paths) bytes += reader.get(path).body.size();
    return bytes;
  };
  constexpr std::size_t kMax = 300'000;
  CHECK(size({"/docs", "/docs/docs.js", "/docs/samples.js", "/docs/texts.js", "/docs/search.js",
              "/docs/try.js", "/docs/markdown.js", "/docs/events.js", "/docs/docs.css",
              "/v1/openapi.json"}) < kMax);
  for (const char* guide : {"contract", "webhooks", "operating"}) {
    const std::string path = "/docs/guides/" + std::string(guide);
    CHECK(size({path, path + ".md", "/docs/guide.js", "/docs/markdown.js", "/docs/docs.css"}) <
          kMax);
  }
  CHECK(size({"/problems", "/style.css"}) < kMax);
}

TEST_CASE("no page needs resources that its policy forbids") {
  TestApp app;
  for (const char* path :
       {"/", "/docs", "/docs/docs.js", "/docs/docs.css", "/style.css", "/problems/not-found",
        "/problems", "/docs/guides/contract", "/docs/search.js", "/docs/texts.js", "/docs/try.js",
        "/docs/markdown.js", "/docs/events.js"}) {
    const Reply reply = app.anonymous().get(path);
    INFO(path);
    CHECK(reply.status == 200);
    CHECK_FALSE(reply.header("Content-Security-Policy").empty());
    // No other hosts, no inline code or style, and no markup created from text.
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
  CHECK(document.body.size() < 64'000);
}
