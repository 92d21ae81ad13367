// The XDR of challenges: round trips, and malformed envelopes.
#include "auth/xdr.h"

#include <catch2/catch.hpp>

#include "support/challenge_signer.h"

using namespace coffer;
using namespace coffer::auth;
using namespace std::string_view_literals;

namespace {

PublicKey key(std::uint8_t fill) {
  PublicKey out;
  out.bytes.fill(fill);
  return out;
}

Transaction sample() {
  Transaction out;
  out.source = key(1);
  out.fee = 200;
  out.sequence = -2;
  out.min_time_s = 1'700'000'000;
  out.max_time_s = 1ULL << 40;
  out.operations = {{key(2), "example.com auth", "12345"}, {key(1), "web_auth_domain", ""}};
  return out;
}

std::string sample_envelope() {
  return write_envelope(write_transaction(sample()),
                        {{hint_of(key(1)), std::string(64, 's')}, {hint_of(key(2)), "odd"}});
}

/// `text` with the four bytes at `at` replaced by a number.
std::string with_number(std::string text, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i)
    text[at + i] = static_cast<char>(value >> (24 - 8 * i) & 0xff);
  return text;
}

// Offsets in the sample: envelope type, source account, fee, sequence, preconditions, time bounds,
// memo, number of operations, then the first operation.
constexpr std::size_t kSourceType = 4;
constexpr std::size_t kPreconditions = 4 + 36 + 4 + 8;
constexpr std::size_t kMemo = kPreconditions + 4 + 16;
constexpr std::size_t kOperationCount = kMemo + 4;
constexpr std::size_t kHasSource = kOperationCount + 4;
constexpr std::size_t kOperationType = kHasSource + 4 + 36;
constexpr std::size_t kNameSize = kOperationType + 4;
constexpr std::size_t kHasValue = kNameSize + 4 + 16;
constexpr std::size_t kValueSize = kHasValue + 4;

}  // namespace

TEST_CASE("xdr: an envelope is parsed as it was written", "[xdr]") {
  const auto read = read_envelope(sample_envelope());
  REQUIRE(read);
  CHECK(read->transaction == sample());
  CHECK(read->transaction_xdr == write_transaction(sample()));
  REQUIRE(read->signatures.size() == 2);
  CHECK(read->signatures[0].signature == std::string(64, 's'));
  CHECK(read->signatures[1].signature == "odd");
  CHECK(read->signatures[1].hint == std::array<std::uint8_t, 4>{2, 2, 2, 2});
  CHECK(write_envelope(read->transaction_xdr, read->signatures) == sample_envelope());
}

TEST_CASE("xdr: the bytes match the protocol", "[xdr]") {
  Transaction small;
  small.max_time_s = 1;
  const std::string zeros(32, '\0');
  CHECK(write_transaction(small) == std::string("\0\0\0\0"sv) + zeros + std::string("\0\0\0\0"sv) +
                                        std::string(8, '\0') + std::string("\0\0\0\1"sv) +
                                        std::string(15, '\0') + "\1" + std::string("\0\0\0\0"sv) +
                                        std::string("\0\0\0\0"sv) + std::string("\0\0\0\0"sv));
}

TEST_CASE("xdr: a missing end, extra bytes and any changed structural word are rejected", "[xdr]") {
  const std::string whole = sample_envelope();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    CHECK_FALSE(read_envelope(whole.substr(0, size)));
  }
  CHECK_FALSE(read_envelope(whole + std::string(4, '\0')));
  struct Row {
    const char* what;
    std::size_t at;
    std::uint32_t value;
  };
  const Row rows[] = {
      {"a version 0 envelope", 0, 0},
      {"a fee bump", 0, 5},
      {"a muxed source", kSourceType, 0x100},
      {"no preconditions", kPreconditions, 0},
      {"preconditions of version 2", kPreconditions, 2},
      {"a text memo", kMemo, 1},
      {"fewer operations than there are", kOperationCount, 1},
      {"more operations than there are", kOperationCount, 3},
      {"more operations than allowed", kOperationCount, 101},
      {"four billion operations", kOperationCount, 0xffffffff},
      {"an operation without a source", kHasSource, 0},
      {"an invalid boolean", kHasSource, 2},
      {"a payment", kOperationType, 1},
      {"a name over its limit", kNameSize, 65},
      {"a name of four gigabytes", kNameSize, 0xfffffffc},
      {"an entry removed", kHasValue, 0},
      {"a value with bytes in its padding", kValueSize, 4},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK_FALSE(read_envelope(with_number(whole, row.at, row.value)));
  }
}

TEST_CASE("xdr: padding must be zero", "[xdr]") {
  std::string text = sample_envelope();
  const auto value = text.find("12345");
  text[value + 5] = 'x';
  CHECK_FALSE(read_envelope(text));
}

TEST_CASE("xdr: too many signatures are rejected", "[xdr]") {
  const std::string transaction = write_transaction(sample());
  const std::string twenty = write_envelope(
      transaction, std::vector<DecoratedSignature>(20, DecoratedSignature{{}, "sig!"}));
  CHECK(read_envelope(twenty));
  const std::size_t count = 4 + transaction.size();
  std::string more = with_number(twenty, count, 21) + twenty.substr(count + 4, 12);
  CHECK_FALSE(read_envelope(more));
}
