#include "auth/seal.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "base/digest.h"

using namespace coffer;
using namespace coffer::auth;

namespace seal_test {
namespace {

MasterKey counting_key() {
  std::array<std::uint8_t, MasterKey::kBytes> bytes{};
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return MasterKey(bytes);
}

}  // namespace

TEST_CASE("seal: opens what Python's cryptography sealed in the documented format") {
  SeededRandom random(1);
  const Sealer sealer(counting_key(), random);
  const std::string sealed = *from_hex(
      "01a0a1a2a3a4a5a6a7a8a9aaabcb18a4618c2030b0b2909065765e0a32a8cb7ed83f7c26c69f32257903");
  const auto opened = sealer.open(sealed, "wallet-seed:42");
  REQUIRE(opened);
  CHECK(opened->reveal() == "a ledger seed");
}

TEST_CASE("seal: round trip of any length, never the same bytes twice") {
  OsRandom random;
  const Sealer sealer(counting_key(), random);
  for (const std::size_t size : {0, 1, 15, 16, 17, 64, 1000, 100'000}) {
    INFO(size);
    const std::string plaintext = random.bytes(size);
    const std::string first = sealer.seal(plaintext, "webhook-secret:1");
    CHECK(first.size() == 1 + 12 + size + 16);
    CHECK(first != sealer.seal(plaintext, "webhook-secret:1"));
    const auto opened = sealer.open(first, "webhook-secret:1");
    REQUIRE(opened);
    CHECK(opened->reveal() == plaintext);
  }
}

TEST_CASE(
    "seal: a value does not open with another context or key, or with a changed or missing byte") {
  SeededRandom random(1);
  const Sealer sealer(counting_key(), random);
  const std::string sealed = sealer.seal("a ledger seed", "wallet-seed:42");
  CHECK(sealer.open(sealed, "wallet-seed:42"));
  CHECK_FALSE(sealer.open(sealed, "wallet-seed:43"));
  CHECK_FALSE(sealer.open(sealed, ""));
  CHECK_FALSE(Sealer(MasterKey::generate(random), random).open(sealed, "wallet-seed:42"));
  CHECK_FALSE(sealer.open(sealed + "x", "wallet-seed:42"));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    INFO(i);
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    CHECK_FALSE(sealer.open(changed, "wallet-seed:42"));
    CHECK_FALSE(sealer.open(sealed.substr(0, i), "wallet-seed:42"));
  }
}

TEST_CASE("seal: the problem names the kind of value and shows neither value nor id") {
  SeededRandom random(1);
  const Sealer sealer(counting_key(), random);
  const auto opened = sealer.open("damaged", "wallet-seed:42");
  REQUIRE_FALSE(opened);
  CHECK(opened.error().slug == Slug::unexpected_error);
  CHECK(opened.error().detail.find("wallet-seed") != std::string::npos);
  CHECK(opened.error().detail.find("42") == std::string::npos);
}

}  // namespace seal_test
