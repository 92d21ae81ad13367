#include "base/random.h"

#if defined(__linux__)
#include <sys/random.h>
#else
#endif

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace coffer {
namespace {

void fill_from_kernel(std::uint8_t* out, std::size_t count) {
#if defined(__linux__)
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = getrandom(out + done, count - done, 0);
    if (got < 0 && errno == EINTR) continue;
    COFFER_CHECK(got > 0);
    done += static_cast<std::size_t>(got);
  }
#else
  arc4random_buf(out, count);  // cannot fail
#endif
}

}  // namespace

std::uint64_t Random::next_u64() {
  std::uint8_t raw[8];
  fill(raw);
  std::uint64_t value = 0;
  std::memcpy(&value, raw, sizeof value);
  return value;
}

std::string Random::bytes(std::size_t count) {
  std::string out(count, '\0');
  fill({reinterpret_cast<std::uint8_t*>(out.data()), out.size()});
  return out;
}

Uuid Random::uuid_v7(Timestamp now) {
  Uuid id;
  fill(std::span(id.bytes).subspan(6));
  const auto ms = static_cast<std::uint64_t>(now.ms);
  for (std::size_t i = 0; i < 6; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  }
  id.bytes[6] = static_cast<std::uint8_t>(0x70 | (id.bytes[6] & 0x0f));
  id.bytes[8] = static_cast<std::uint8_t>(0x80 | (id.bytes[8] & 0x3f));
  return id;
}

Uuid AscendingIds::next(Random& random, Timestamp now) {
  Uuid fresh = random.uuid_v7(now);
  fresh.bytes[6] &= 0x77;  // prevents an overflow of the sums below
  const bool is_later = std::memcmp(fresh.bytes.data(), last_.bytes.data(), 6) > 0;
  if (is_later) return last_ = fresh;
  // The last 74 bits without version and variant are a number, to which 32 random bits are added.
  constexpr std::array<std::uint8_t, 16> kRandomBits{
      0, 0, 0, 0, 0, 0, 0x0f, 0xff, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  unsigned carry = 1;
  for (std::size_t i = 15; i >= 6; --i) {
    const unsigned mask = kRandomBits[i];
    const unsigned sum = (last_.bytes[i] & mask) + (i >= 12 ? fresh.bytes[i] : 0U) + carry;
    last_.bytes[i] = static_cast<std::uint8_t>((last_.bytes[i] & ~mask) | (sum & mask));
    carry = sum > mask ? 1 : 0;
  }
  return last_;
}

void OsRandom::fill(std::span<std::uint8_t> out) {
  if (out.size() > kBlock / 4) return fill_from_kernel(out.data(), out.size());
  const Lock lock(mutex_);
  if (kBlock - used_ < out.size()) {
    fill_from_kernel(block_, kBlock);
    used_ = 0;
  }
  std::memcpy(out.data(), block_ + used_, out.size());
  std::memset(block_ + used_, 0, out.size());  // removes the returned bytes from memory
  used_ += out.size();
}

void SeededRandom::fill(std::span<std::uint8_t> out) {
  const Lock lock(mutex_);
  for (std::uint8_t& byte : out) {
    // SplitMix64 (Steele, Lea, Flood 2014): small, and every seed is suitable.
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    byte = static_cast<std::uint8_t>(z >> 56);
  }
}

}  // namespace coffer
