#include "outbound/providers/provider_signature.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "source_dir.h"

using namespace coffer;
using namespace coffer::outbound;

namespace {

const Secret kSecret("whole-secret-of-32-characters-xx");
const Secret kOther("another-secret-of-32-characters-");
const SignedMessage kMessage{"POST", "/payouts", R"({"id":"1"})"};
constexpr Timestamp kNow{1'767'225'600'000};

Result<void> judge(const ProviderHeaders& headers, Timestamp now, const SignedMessage& message,
                   const Secret& secret = kSecret) {
  return verify(secret, now, &headers[0].second, &headers[1].second, message);
}

std::string read_document() {
  std::ifstream file(std::string(COFFER_SOURCE_DIR) + "/docs/provider-protocol.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a signed message verifies, and no other") {
  const ProviderHeaders headers = sign(kSecret, kNow, kMessage);
  CHECK(headers[0] == std::pair<std::string, std::string>("Coffer-Timestamp", "1767225600"));
  CHECK(headers[1].first == "Coffer-Signature");
  CHECK(judge(headers, kNow, kMessage));
  CHECK_FALSE(judge(headers, kNow, {"PUT", "/payouts", kMessage.body}));
  CHECK_FALSE(judge(headers, kNow, {"POST", "/payouts/", kMessage.body}));
  CHECK_FALSE(judge(headers, kNow, {"POST", "/payouts", R"({"id":"2"})"}));
  CHECK_FALSE(judge(headers, kNow, kMessage, kOther));
  const std::string later = "1767225601";
  CHECK_FALSE(verify(kSecret, kNow, &later, &headers[1].second, kMessage));
}

TEST_CASE("a timestamp is valid for 300 seconds in either direction") {
  const ProviderHeaders headers = sign(kSecret, kNow, kMessage);
  CHECK(judge(headers, kNow.plus_ms(300'000), kMessage));
  CHECK(judge(headers, kNow.plus_ms(-300'000), kMessage));
  CHECK_FALSE(judge(headers, kNow.plus_ms(300'001), kMessage));
  CHECK_FALSE(judge(headers, kNow.plus_ms(-300'001), kMessage));
}

TEST_CASE("during a rotation either secret may be the new one") {
  const std::vector<Secret> both = {kOther, kSecret};
  const ProviderHeaders headers = sign(both, kNow, kMessage);
  CHECK(judge(headers, kNow, kMessage, kSecret));
  CHECK(judge(headers, kNow, kMessage, kOther));
  const ProviderHeaders one = sign(kSecret, kNow, kMessage);
  CHECK(verify(both, kNow, &one[0].second, &one[1].second, kMessage));
}

TEST_CASE("missing or invalid headers are rejected") {
  const ProviderHeaders headers = sign(kSecret, kNow, kMessage);
  const std::string& time = headers[0].second;
  const std::string& good = headers[1].second;
  CHECK_FALSE(verify(kSecret, kNow, nullptr, &good, kMessage));
  CHECK_FALSE(verify(kSecret, kNow, &time, nullptr, kMessage));
  CHECK_FALSE(verify(Secret(), kNow, &time, &good, kMessage));
  for (const std::string& text :
       {std::string(), std::string("v1="), good.substr(3), "v2=" + good, good + "0",
        good.substr(0, good.size() - 1), ",,,," + good + "x", std::string(",,,,,,,,,") + good}) {
    INFO(text);
    const auto judged = verify(kSecret, kNow, &time, &text, kMessage);
    REQUIRE_FALSE(judged);
    CHECK(judged.error().slug == Slug::unauthorized);
  }
  CHECK(verify(kSecret, kNow, &time, &good, kMessage));
  const std::string among = "v0=x, " + good + " ,v2=y";
  CHECK(verify(kSecret, kNow, &time, &among, kMessage));
  for (const std::string& text :
       {std::string(), std::string("-1767225600"), std::string("1767225600.0"),
        std::string("99999999999999999999"), std::string("0x1"), std::string(" 1767225600")}) {
    INFO(text);
    CHECK_FALSE(verify(kSecret, kNow, &text, &good, kMessage));
  }
}

TEST_CASE("the signed examples of the document are right") {
  // Each example is a block: secret, timestamp, request line, body (perhaps empty), signature.
  const std::string document = read_document();
  REQUIRE_FALSE(document.empty());
  int examples = 0;
  std::size_t at = 0;
  const auto line_after = [&](std::string_view label) {
    const auto begin = document.find(label, at);
    if (begin == std::string::npos) return std::string();
    const auto end = document.find('\n', begin);
    at = end;
    const auto from = begin + label.size();
    return document.substr(from, end - from);
  };
  for (;;) {
    const std::string secret = line_after("secret:    ");
    if (secret.empty()) break;
    const std::string timestamp = line_after("timestamp: ");
    const std::string method = line_after("method:    ");
    const std::string path = line_after("path:      ");
    const std::string body = line_after("body:      ");
    const std::string signature = line_after("signature: ");
    INFO(path);
    const Timestamp now{std::stoll(timestamp) * 1000};
    CHECK(sign(Secret(secret), now, {method, path, body == "(empty)" ? "" : body})[1].second ==
          signature);
    ++examples;
  }
  CHECK(examples == 3);
}
