// Random bytes: every parser of outside text returns a result, and none crashes or hangs.
#include <catch2/catch.hpp>
#include <string>

#include "api/json/cursor.h"
#include "auth/strkey.h"
#include "auth/token.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/uuid.h"
#include "domain/ledger/money.h"
#include "domain/payments/payment.h"
#include "http/json_body.h"
#include "property/seeds.h"

using namespace coffer;
using namespace coffer::property;

namespace garbage_test {
namespace {

constexpr std::int64_t kBudgetMs = 2'000;
constexpr int kTextsPerSeed = 200;

std::string some_bytes(Dice& dice) {
  std::string out;
  for (std::int64_t n = dice.roll(60); n > 0; --n) out += static_cast<char>(dice.roll(256));
  return out;
}

/// A valid text with a few bytes changed, removed, doubled or inserted.
std::string damaged(Dice& dice, std::string text) {
  for (std::int64_t n = 1 + dice.roll(4); n > 0; --n) {
    const auto at =
        text.empty() ? 0
                     : static_cast<std::size_t>(dice.roll(static_cast<std::int64_t>(text.size())));
    switch (dice.roll(4)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(dice.roll(256));
        break;
      case 1:
        if (!text.empty()) text.erase(at, 1);
        break;
      case 2:
        text.insert(at, text.substr(at, static_cast<std::size_t>(dice.roll(8))));
        break;
      default:
        text.insert(at, 1, "{}[]\",:\\u0e-+.\0tfn"[dice.roll(18)]);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("property: damaged JSON is parsed or rejected, never a crash") {
  const std::string good =
      R"({"transactionId":"a-1","transfers":[{"amount":0.10,"x":"\u00e9\ud83d\ude00"},[1e2,-0,null,true]],"n":{}})";
  for_each_seed("json", kBudgetMs, [&](std::uint64_t seed) {
    Dice dice(seed);
    for (int i = 0; i < kTextsPerSeed; ++i) {
      const std::string text = dice.one_in(4) ? some_bytes(dice) : damaged(dice, good);
      const auto parsed = http::parse_json(text, {});
      if (!parsed && parsed.error().status() != 400) FAIL("status " << parsed.error().status());
    }
  });
}

TEST_CASE("property: a modified cursor is rejected") {
  const api::CursorCodec codec(Secret(std::string(32, 'k')));
  for_each_seed("cursors", kBudgetMs, [&](std::uint64_t seed) {
    Dice dice(seed);
    for (int i = 0; i < kTextsPerSeed; ++i) {
      const api::Cursor cursor{static_cast<std::int64_t>(dice.next()), dice.one_in(2)};
      const std::string good = codec.encode(cursor, "list|1");
      const auto back = codec.decode(good, "list|1");
      if (!back || back->position != cursor.position || back->backward != cursor.backward)
        FAIL("lost");
      if (codec.decode(good, "list|2")) FAIL("good for another list");
      const std::string touched = dice.one_in(4) ? some_bytes(dice) : damaged(dice, good);
      const auto read = codec.decode(touched, "list|1");
      if (read && touched != good) FAIL("a forged cursor was read: " << touched);
    }
  });
}

TEST_CASE("property: parsers of short texts handle any input") {
  const auth::TokenIssuer tokens(Secret(std::string(32, 'k')));
  const std::string token = tokens.issue({});
  for_each_seed("short texts", kBudgetMs, [&](std::uint64_t seed) {
    Dice dice(seed);
    for (int i = 0; i < kTextsPerSeed; ++i) {
      const std::string text = some_bytes(dice);
      static_cast<void>(parse_amount(text, 7));
      static_cast<void>(Rate::parse(text));
      static_cast<void>(AssetCode::parse(text));
      static_cast<void>(Uuid::parse(text));
      static_cast<void>(Timestamp::parse(text));
      static_cast<void>(auth::PublicKey::parse(text));
      static_cast<void>(from_base64(text));
      static_cast<void>(from_base64url(text));
      static_cast<void>(from_base32(text));
      static_cast<void>(from_hex(text));
      static_cast<void>(is_reference(text));
      static_cast<void>(Timestamp::parse(damaged(dice, "2026-01-31T09:00:00.000+02:00")));
      static_cast<void>(parse_amount(damaged(dice, "1234.5678e-3"), 7, Exponent::accepted));
      const std::string forged = damaged(dice, token);
      if (forged != token && tokens.verify(forged, {}))
        FAIL("a forged token was taken: " << forged);
    }
  });
}

}  // namespace garbage_test
