#include "base/random.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <initializer_list>
#include <set>

using namespace coffer;

TEST_CASE("random: the same seed gives the same bytes, in portions of any size") {
  SeededRandom first(42);
  SeededRandom second(42);
  SeededRandom other(43);
  const std::string bytes = first.bytes(100);
  const std::string head = second.bytes(30);
  CHECK(head + second.bytes(70) == bytes);
  CHECK(other.bytes(100) != bytes);
  CHECK(first.next_u64() == second.next_u64());
  CHECK(first.uuid_v7({1}) == second.uuid_v7({1}));
}

TEST_CASE("random: the seeded generator never changes, so that recorded runs stay valid") {
  // Computed with an independent SplitMix64, the top byte of each step.
  SeededRandom random(1);
  CHECK(random.uuid_v7({1'767'225'600'000}).to_string() == "019b76da-a800-71be-b871-71c3e08549cb");
}

TEST_CASE("random: the kernel's bytes do not repeat, over block borders and beyond a block") {
  OsRandom random;
  std::set<std::string> seen;
  for (int i = 0; i < 2000; ++i) seen.insert(random.bytes(16));
  for (int i = 0; i < 20; ++i) seen.insert(random.bytes(1000));
  for (int i = 0; i < 20; ++i) seen.insert(random.bytes(10'000));
  CHECK(seen.size() == 2040);
  CHECK(random.bytes(0).empty());
}

namespace {

/// Every byte is the same.
class ConstantRandom final : public Random {
 public:
  explicit ConstantRandom(std::uint8_t byte) : byte_(byte) {}
  void fill(std::span<std::uint8_t> out) override { std::fill(out.begin(), out.end(), byte_); }

 private:
  const std::uint8_t byte_;
};

}  // namespace

TEST_CASE("random: ascending IDs ascend within a millisecond and when the clock is set back") {
  SeededRandom seeded(7);
  ConstantRandom ones(0xff);
  ConstantRandom zeros(0);
  for (Random* random : std::initializer_list<Random*>{&seeded, &ones, &zeros}) {
    AscendingIds ids;
    Uuid last;
    for (const std::int64_t ms : {1'767'225'600'000, 1'767'225'600'001, 1'767'225'599'000}) {
      for (int i = 0; i < 5'000; ++i) {
        const Uuid id = ids.next(*random, {ms});
        REQUIRE(id > last);
        REQUIRE(id.to_string()[14] == '7');
        REQUIRE((id.bytes[8] & 0xc0) == 0x80);
        last = id;
      }
      CHECK(last.to_string().substr(0, 13) ==
            (ms == 1'767'225'600'000 ? "019b76da-a800" : "019b76da-a801"));
    }
  }
}

TEST_CASE("random: an ascending ID cannot be guessed from the previous one") {
  SeededRandom random(7);
  AscendingIds ids;
  std::set<std::string> steps;
  for (int i = 0; i < 1'000; ++i) steps.insert(ids.next(random, {1}).to_string().substr(28));
  CHECK(steps.size() > 990);  // the last 32 bits
}

TEST_CASE("random: every byte value occurs") {
  OsRandom random;
  std::set<char> seen;
  for (const char c : random.bytes(20'000)) seen.insert(c);
  CHECK(seen.size() == 256);
}
