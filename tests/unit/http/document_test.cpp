// Documents that are served from memory, by RFC 9110.
#include "http/document.h"

#include <zlib.h>

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::http;

namespace {

Request request(std::vector<std::pair<std::string, std::string>> headers = {}) {
  Request out;
  out.method = "GET";
  out.path = "/";
  out.headers = std::move(headers);
  return out;
}

std::string header(const Response& response, std::string_view name) {
  for (const auto& [known, value] : response.headers) {
    if (same_name(known, name)) return value;
  }
  return "";
}

std::string unpacked(std::string bytes) {
  std::string out(100'000, '\0');
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  REQUIRE(result == Z_STREAM_END);
  return out;
}

const std::string kText = [] {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "a line of the document " + std::to_string(i) + '\n';
  return text;
}();

}  // namespace

TEST_CASE("a document is sent uncompressed to a client without Accept-Encoding") {
  const Document document("text/plain", kText);
  for (const Response& response :
       {document.respond(request()), document.respond(request({{"Accept-Encoding", "br"}})),
        document.respond(request({{"Accept-Encoding", "gzip;q=0"}}))}) {
    CHECK(response.status == 200);
    CHECK(response.body == kText);
    CHECK(response.content_type == "text/plain");
    CHECK(header(response, "Content-Encoding").empty());
    CHECK(header(response, "Vary") == "Accept-Encoding");
  }
}

TEST_CASE("a document is compressed for clients that accept gzip, with a separate tag") {
  const Document document("text/plain", kText);
  const Response plain = document.respond(request());
  const Response packed = document.respond(request({{"accept-encoding", "br, gzip;q=0.5"}}));
  CHECK(header(packed, "Content-Encoding") == "gzip");
  CHECK(header(packed, "Vary") == "Accept-Encoding");
  CHECK(packed.body.size() < kText.size() / 2);
  CHECK(unpacked(packed.body) == kText);
  CHECK(header(packed, "ETag") != header(plain, "ETag"));
}

TEST_CASE("a client that has a document gets 304 without a body") {
  const Document document("text/plain", kText);
  const std::string plain = header(document.respond(request()), "ETag");
  const std::string packed =
      header(document.respond(request({{"Accept-Encoding", "gzip"}})), "ETag");
  const auto status = [&](const std::string& accept, const std::string& known) {
    const Response response =
        document.respond(request({{"Accept-Encoding", accept}, {"If-None-Match", known}}));
    if (response.status == 304) {
      CHECK(response.body.empty());
      CHECK(response.content_type.empty());
      CHECK(header(response, "Vary") == "Accept-Encoding");
      CHECK_FALSE(header(response, "ETag").empty());
    }
    return response.status;
  };
  CHECK(status("", plain) == 304);
  CHECK(status("gzip", packed) == 304);
  CHECK(status("gzip", "\"other\", W/" + packed) == 304);
  CHECK(status("gzip", "*") == 304);
  CHECK(status("gzip", plain) == 200);
  CHECK(status("", packed) == 200);
  CHECK(status("", "\"other\"") == 200);
}

TEST_CASE("a document that compression does not make smaller has one form") {
  const Document document("text/plain", "short");
  const Response response = document.respond(request({{"Accept-Encoding", "gzip"}}));
  CHECK(response.body == "short");
  CHECK(header(response, "Content-Encoding").empty());
  CHECK(header(response, "Vary").empty());
}

TEST_CASE("Accept-Encoding is evaluated by names and weights") {
  for (const char* accepted : {"gzip", "GZIP", "x-gzip", "*", "br;q=1.0, gzip;q=0.001",
                               "gzip ; q=1", "*;q=0, gzip", "deflate,gzip"}) {
    INFO(accepted);
    CHECK(accepts_gzip(accepted));
  }
  for (const char* rejected :
       {"", "identity", "gzip;q=0", "gzip; Q=0.000", "*, gzip;q=0", "*;q=0", "gzipped", ", ,"}) {
    INFO(rejected);
    CHECK_FALSE(accepts_gzip(rejected));
  }
}

TEST_CASE("lists of media types name whole types, with a weight") {
  constexpr std::string_view kJson = "application/json";
  for (const char* accepted : {"application/json", "text/html, Application/JSON;q=0.5",
                               "application/json;charset=utf-8", " application/json ; q=1"}) {
    INFO(accepted);
    CHECK(permits(accepted, kJson) == true);
  }
  for (const char* rejected : {"application/json;q=0", "application/json; charset=utf-8; q=0.0"}) {
    CHECK(permits(rejected, kJson) == false);
  }
  for (const char* other : {"", "application/jsonx", "xapplication/json", "application/*", "*/*"}) {
    CHECK_FALSE(permits(other, kJson).has_value());
  }
}
