// Numeric addresses and networks (CIDR).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coffer {

/// An IPv4 or IPv6 address in network byte order.
struct NumericAddress {
  std::array<std::uint8_t, 16> bytes{};
  int size = 4;  // bytes in use: 4 or 16

  static std::optional<NumericAddress> parse(std::string_view text);
  /// The IPv4 address of an IPv4-mapped IPv6 address (::ffff:10.0.0.1, ::FFFF:a00:1); others
  /// unchanged.
  NumericAddress unmapped() const;
  /// The one usual form of the address.
  std::string to_string() const;
  std::span<const std::uint8_t> span() const {
    return std::span(bytes).first(static_cast<std::size_t>(size));
  }
  bool operator==(const NumericAddress&) const = default;
};

struct AddressRange {
  NumericAddress base;
  int bits = 32;  // of the prefix

  /// `10.1.2.0/24`, `fd00::/8`, or a single address. nullopt if the text does not begin with a
  /// numeric address; `validation-failed` if its prefix length is invalid.
  static Result<std::optional<AddressRange>> parse(const std::string& text);
  /// False for an address of the other family.
  bool contains(const NumericAddress& address) const;
};

/// A list of networks. Immutable; safe from any thread.
class AddressList {
 public:
  /// `validation-failed` names the entry that is not a network.
  static Result<AddressList> parse(const std::vector<std::string>& entries);

  bool empty() const { return ranges_.empty(); }
  /// False for text that is not a numeric address. IPv4-mapped addresses count as IPv4.
  bool contains(std::string_view address) const;

 private:
  std::vector<AddressRange> ranges_;
};

}  // namespace coffer
