#include "auth/passkeys/cbor.h"

#include "base/digest.h"

namespace coffer::auth {
namespace {

/// Bytes of the argument that follow the first byte, by its low five bits.
constexpr std::uint8_t kOneByte = 24;
constexpr std::uint8_t kEightBytes = 27;

}  // namespace

std::optional<std::uint8_t> CborReader::next_type() const {
  if (rest_.empty()) return std::nullopt;
  return static_cast<std::uint8_t>(rest_.front()) >> 5;
}

std::optional<std::uint64_t> CborReader::head(std::uint8_t type) {
  if (next_type() != type) return std::nullopt;
  const std::uint8_t low = static_cast<std::uint8_t>(rest_.front()) & 0x1f;
  rest_.remove_prefix(1);
  if (low < kOneByte) return low;
  if (low > kEightBytes) return std::nullopt;
  const std::size_t size = std::size_t{1} << (low - kOneByte);
  if (rest_.size() < size) return std::nullopt;
  const std::uint64_t value = from_big_endian(rest_.substr(0, size));
  // The value must need this size: the next smaller encoding cannot hold it.
  const bool short_enough = size == 1 ? value >= kOneByte : value >> (size * 4) != 0;
  // Floats keep their length; other simple values have no longer form.
  if (type != kSimple && !short_enough) return std::nullopt;
  rest_.remove_prefix(size);
  return value;
}

std::optional<std::int64_t> CborReader::integer() {
  const bool negative = next_type() == kNegative;
  const auto value = head(negative ? kNegative : kUnsigned);
  if (!value || *value > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(*value);
  return negative ? -1 - magnitude : magnitude;
}

std::optional<std::string_view> CborReader::run_of(std::uint8_t type) {
  const auto size = head(type);
  if (!size || *size > rest_.size()) return std::nullopt;
  const std::string_view out = rest_.substr(0, *size);
  rest_.remove_prefix(*size);
  return out;
}

bool CborReader::skip(int depth) {
  const auto type = next_type();
  if (!type || depth == 0) return false;
  if (*type == kBytes || *type == kText) return run_of(*type).has_value();
  const auto count = head(*type);
  if (!count) return false;
  if (*type == kUnsigned || *type == kNegative || *type == kSimple) return true;
  if (*type != kArray && *type != kMap) return false;
  const int of_each = *type == kMap ? 2 : 1;
  // Each item takes at least one byte.
  if (*count > rest_.size()) return false;
  for (std::uint64_t i = 0; i < *count * of_each; ++i) {
    if (!skip(depth - 1)) return false;
  }
  return true;
}

}  // namespace coffer::auth
