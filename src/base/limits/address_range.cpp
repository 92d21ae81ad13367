#include "base/limits/address_range.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/text/whole_number.h"

namespace coffer {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int kMappedBits = 96;

}  // namespace

std::optional<NumericAddress> NumericAddress::parse(std::string_view text) {
  const std::string copy(text);
  NumericAddress out;
  if (inet_pton(AF_INET, copy.c_str(), out.bytes.data()) == 1) return out;
  out.size = 16;
  if (inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) == 1) return out;
  return std::nullopt;
}

NumericAddress NumericAddress::unmapped() const {
  if (size != 16 || !std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) return *this;
  NumericAddress out;
  std::copy(bytes.begin() + kMapped.size(), bytes.end(), out.bytes.begin());
  return out;
}

std::string NumericAddress::to_string() const {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

Result<std::optional<AddressRange>> AddressRange::parse(const std::string& text) {
  const auto slash = text.find('/');
  const auto address = NumericAddress::parse(std::string_view(text).substr(0, slash));
  if (!address) return std::optional<AddressRange>();
  const int all = address->size * 8;
  if (slash == std::string::npos) return std::optional(AddressRange{*address, all});
  const auto bits = whole_number(std::string_view(text).substr(slash + 1), 0, all);
  if (bits) return std::optional(AddressRange{*address, *bits});
  return unexpected(Slug::validation_failed, "\"" + text + "\" has an invalid prefix length");
}

bool AddressRange::contains(const NumericAddress& address) const {
  if (address.size != base.size) return false;
  const auto bytes = address.span();
  int left = bits;
  for (std::size_t i = 0; i < bytes.size() && left > 0; ++i, left -= 8) {
    const int kept = std::min(left, 8);
    const int mask = 0xff << (8 - kept) & 0xff;
    if ((bytes[i] & mask) != (base.bytes[i] & mask)) return false;
  }
  return true;
}

Result<AddressList> AddressList::parse(const std::vector<std::string>& entries) {
  AddressList out;
  for (const std::string& entry : entries) {
    COFFER_TRY(auto range, AddressRange::parse(entry));
    if (!range) {
      return unexpected(
          Slug::validation_failed,
          "\"" + entry + "\" is neither an address nor a network such as 10.1.2.0/24");
    }
    const NumericAddress base = range->base.unmapped();
    if (base.size != range->base.size && range->bits >= kMappedBits) {
      range = AddressRange{base, range->bits - kMappedBits};
    }
    out.ranges_.push_back(*range);
  }
  return out;
}

bool AddressList::contains(std::string_view address) const {
  const auto numeric = NumericAddress::parse(address);
  return numeric && std::ranges::any_of(ranges_, [&](const AddressRange& range) {
           return range.contains(numeric->unmapped());
         });
}

}  // namespace coffer
