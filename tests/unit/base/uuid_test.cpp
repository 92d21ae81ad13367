#include "base/uuid.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/random.h"

using namespace coffer;

TEST_CASE("uuid: canonical text is accepted in either case, and written in lower case") {
  const auto id = Uuid::parse("01890A5D-AC96-774B-BCCE-B302099A8057");
  REQUIRE(id);
  CHECK(id->to_string() == "01890a5d-ac96-774b-bcce-b302099a8057");
  CHECK(id->bytes[0] == 0x01);
  CHECK(id->bytes[15] == 0x57);
  CHECK(Uuid{}.to_string() == "00000000-0000-0000-0000-000000000000");
}

TEST_CASE("uuid: only the canonical form is accepted") {
  for (const char* text :
       {"", "01890a5d", "01890a5dac96774bbcceb302099a8057",
        "{01890a5d-ac96-774b-bcce-b302099a8057}", "01890a5d-ac96-774b-bcce-b302099a805",
        "01890a5d-ac96-774b-bcce-b302099a80570", "01890a5d-ac96-774b-bcce-b302099a805g",
        "01890a5d-ac96-774b-bcceb-302099a8057", "01890a5d_ac96_774b_bcce_b302099a8057",
        " 1890a5d-ac96-774b-bcce-b302099a8057", "-1890a5d-ac96-774b-bcce-b302099a8057"}) {
    INFO(text);
    CHECK_FALSE(Uuid::parse(text));
  }
}

TEST_CASE("uuid: version 7 carries the time, the version and the variant (RFC 9562 section 5.7)") {
  SeededRandom random(1);
  // The time of RFC 9562, appendix A.6.
  const Uuid id = random.uuid_v7({0x017f22e279b0});
  CHECK(id.to_string().substr(0, 15) == "017f22e2-79b0-7");
  CHECK((id.bytes[8] & 0xc0) == 0x80);
}

TEST_CASE("uuid: later IDs sort after earlier ones, and none is repeated") {
  OsRandom random;
  std::set<Uuid> seen;
  for (int i = 0; i < 10'000; ++i) seen.insert(random.uuid_v7({1'767'225'600'000}));
  CHECK(seen.size() == 10'000);
  CHECK(*seen.rbegin() < random.uuid_v7({1'767'225'600'001}));
  CHECK(seen.rbegin()->to_string() < random.uuid_v7({1'767'225'600'001}).to_string());
}

TEST_CASE("uuid: typed ids parse and compare") {
  using AppleId = Id<struct AppleTag>;
  SeededRandom random(1);
  const auto id = random.id<AppleId>({1'767'225'600'000});
  CHECK(AppleId::parse(id.to_string()) == id);
  CHECK_FALSE(AppleId::parse("apple"));
}
