// UUIDs (RFC 9562). New IDs have version 7: they are ordered by time and therefore appended to
// indexes.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace coffer {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  /// Canonical lower-case text, 8-4-4-4-12.
  std::string to_string() const;
  /// Accepts the canonical form in either case; returns nullopt for anything else.
  static std::optional<Uuid> parse(std::string_view text);
  /// The time of a UUID of version 7, in its first 48 bits. Meaningless for other versions.
  Timestamp time() const {
    Timestamp out;
    for (std::size_t i = 0; i < 6; ++i) out.ms = out.ms << 8 | bytes[i];
    return out;
  }
  // Not auto, because arrays of older libc++ have only < and ==.
  std::strong_ordering operator<=>(const Uuid&) const = default;
};

/// The ID of a resource. `Tag` is the noun, so a WalletId is not a PaymentId.
template <class Tag>
struct Id {
  Uuid uuid;
  std::string to_string() const { return uuid.to_string(); }
  static std::optional<Id> parse(std::string_view text) {
    const auto uuid = Uuid::parse(text);
    if (!uuid) return std::nullopt;
    return Id{*uuid};
  }
  auto operator<=>(const Id&) const = default;
};

}  // namespace coffer

template <>
struct std::hash<coffer::Uuid> {
  std::size_t operator()(const coffer::Uuid& id) const noexcept {
    // The tail of version 7 is random, so eight bytes of it are a sufficient hash.
    std::size_t h = 0;
    for (std::size_t i = 8; i < 16; ++i) h = h << 8 | id.bytes[i];
    return h;
  }
};
