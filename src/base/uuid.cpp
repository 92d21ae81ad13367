#include "base/uuid.h"

namespace coffer {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_dash_position(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

}  // namespace

std::string Uuid::to_string() const {
  std::string text(36, '-');
  std::size_t at = 0;
  for (const std::uint8_t byte : bytes) {
    if (is_dash_position(at)) ++at;
    text[at++] = kHex[byte >> 4];
    text[at++] = kHex[byte & 15];
  }
  return text;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid id;
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_position(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int value = hex_value(text[i]);
    if (value < 0) return std::nullopt;
    auto& byte = id.bytes[nibble / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
    ++nibble;
  }
  return id;
}

}  // namespace coffer
