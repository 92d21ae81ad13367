// UUIDs (RFC 9562). New ids are version 7: ordered by time, so they append to their indexes.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace coffer {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  /// Canonical lower-case 8-4-4-4-12 text.
  std::string to_string() const;
  /// Accepts the canonical form in either case; nullopt for anything else.
  static std::optional<Uuid> parse(std::string_view text);
  // Not auto: arrays of older libc++ have only < and ==.
  std::strong_ordering operator<=>(const Uuid&) const = default;
};

/// A resource id. `Tag` is the noun: a WalletId is not a PaymentId.
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
    // The tail is random in version 7, so eight bytes of it are hash enough.
    std::size_t h = 0;
    for (std::size_t i = 8; i < 16; ++i) h = h << 8 | id.bytes[i];
    return h;
  }
};
