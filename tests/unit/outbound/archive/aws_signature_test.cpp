// AWS Signature Version 4: the examples of the S3 reference ("Authenticating Requests: Using the
// Authorization Header"), and those of aws-sig-v4-test-suite whose paths S3 signs in the same way.
#include "outbound/archive/aws_signature.h"

#include <array>
#include <catch2/catch.hpp>

#include "base/digest.h"

using namespace coffer;
using namespace coffer::outbound;

namespace aws_signature_test {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Example {
  const char* name;
  const char* method;
  std::string target;
  Headers headers;  // without Host and x-amz-date
  const char* body;
  const char* signed_names;
  const char* signature;
};

const std::string kUnreserved =
    "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const std::string kToken =
    "AQoDYXdzEPT//////////"
    "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIe"
    "oIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0w"
    "q5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDryp"
    "NC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
constexpr const char* kPlain = "host;x-amz-date";

const std::array<Example, 11> kSuite{{
    {"get-vanilla",
     "GET",
     "/",
     {},
     "",
     kPlain,
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"post-vanilla",
     "POST",
     "/",
     {},
     "",
     kPlain,
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"get-unreserved",
     "GET",
     "/" + kUnreserved,
     {},
     "",
     kPlain,
     "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
    {"get-utf8",
     "GET",
     "/%E1%88%B4",
     {},
     "",
     kPlain,
     "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "/?Param2=value2&Param1=value1",
     {},
     "",
     kPlain,
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-vanilla-query-order-value",
     "GET",
     "/?Param1=value2&Param1=value1",
     {},
     "",
     kPlain,
     "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"},
    {"get-vanilla-query-unreserved",
     "GET",
     "/?" + kUnreserved + "=" + kUnreserved,
     {},
     "",
     kPlain,
     "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
    {"get-header-value-trim",
     "GET",
     "/",
     {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
     "",
     "host;my-header1;my-header2;x-amz-date",
     "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
    {"post-header-value-case",
     "POST",
     "/",
     {{"My-Header1", "VALUE1"}},
     "",
     "host;my-header1;x-amz-date",
     "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
    {"post-x-www-form-urlencoded",
     "POST",
     "/",
     {{"Content-Type", "application/x-www-form-urlencoded"}},
     "Param1=value1",
     "content-type;host;x-amz-date",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
    {"post-sts-header-before",
     "POST",
     "/",
     {{"X-Amz-Security-Token", kToken}},
     "",
     "host;x-amz-date;x-amz-security-token",
     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
}};

const std::array<Example, 4> kS3{{
    {"GET Object",
     "GET",
     "/test.txt",
     {{"Range", "bytes=0-9"}},
     "",
     "host;range;x-amz-content-sha256;x-amz-date",
     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
    {"PUT Object",
     "PUT",
     "/test%24file.text",
     {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
     "Welcome to Amazon S3.",
     "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
     "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
    {"GET Bucket Lifecycle",
     "GET",
     "/?lifecycle",
     {},
     "",
     "host;x-amz-content-sha256;x-amz-date",
     "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
    {"GET Bucket (List Objects)",
     "GET",
     "/?max-keys=2&prefix=J",
     {},
     "",
     "host;x-amz-content-sha256;x-amz-date",
     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
}};

http::ClientRequest request_of(const Example& example, const char* host) {
  http::ClientRequest out;
  out.method = example.method;
  out.host = host;
  out.target = example.target;
  out.headers = example.headers;
  out.body = example.body;
  return out;
}

std::string credential(const std::string& key, const std::string& scope, const Example& example) {
  return "AWS4-HMAC-SHA256 Credential=" + key + "/" + scope +
         "/aws4_request, SignedHeaders=" + example.signed_names +
         ", Signature=" + example.signature;
}

}  // namespace

TEST_CASE("aws signature: the test suite") {
  const AwsKeys keys{.access_key = "AKIDEXAMPLE",
                     .secret_key = Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
                     .service = "service"};
  for (const Example& example : kSuite) {
    INFO(example.name);
    http::ClientRequest request = request_of(example, "example.amazonaws.com");
    request.headers.emplace_back("X-Amz-Date", "20150830T123600Z");
    CHECK(aws_authorization(request, keys, "20150830T123600Z", to_hex(sha256(example.body))) ==
          credential("AKIDEXAMPLE", "20150830/us-east-1/service", example));
  }
}

TEST_CASE("aws signature: the examples of S3") {
  const AwsKeys keys{.access_key = "AKIAIOSFODNN7EXAMPLE",
                     .secret_key = Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")};
  const Timestamp when = *Timestamp::parse("2013-05-24T00:00:00Z");
  for (const Example& example : kS3) {
    INFO(example.name);
    http::ClientRequest request = request_of(example, "examplebucket.s3.amazonaws.com");
    sign_for_s3(request, keys, when, to_hex(sha256(example.body)));
    CHECK(
        request.headers.back() ==
        std::pair<std::string, std::string>(
            "Authorization", credential("AKIAIOSFODNN7EXAMPLE", "20130524/us-east-1/s3", example)));
  }
}

TEST_CASE("aws signature: temporary keys send their token, and the port is part of the host") {
  AwsKeys keys{.access_key = "A", .secret_key = Secret("s"), .region = "eu-west-3"};
  const auto signed_at = [&](int port) {
    http::ClientRequest request;
    request.host = "store.example";
    request.port = port;
    sign_for_s3(request, keys, {1'767'225'600'999}, to_hex(sha256("")));
    return request.headers;
  };
  const Headers plain = signed_at(443);
  REQUIRE(plain.size() == 3);
  CHECK(plain[1] == std::pair<std::string, std::string>("x-amz-date", "20260101T000000Z"));
  CHECK(plain[2].second.find("/20260101/eu-west-3/s3/aws4_request") != std::string::npos);
  CHECK(signed_at(9000).back() != plain.back());
  keys.session_token = Secret("token");
  const Headers temporary = signed_at(443);
  REQUIRE(temporary.size() == 4);
  CHECK(temporary[2] == std::pair<std::string, std::string>("x-amz-security-token", "token"));
  CHECK(temporary[3].second.find("x-amz-date;x-amz-security-token,") != std::string::npos);
}

}  // namespace aws_signature_test
