#include "outbound/wire/target_guard.h"

#include <algorithm>
#include <optional>

#include "base/text/ascii.h"
#include "base/text/whole_number.h"

namespace coffer::outbound {
namespace {

constexpr std::size_t kUrlBytesMax = 2'048;
constexpr const char* kWrongPort =
    "its port must be 443, or 80 for http; the operator can allow others";
constexpr std::size_t kHostBytesMax = 253;

struct Block {
  const char* base;
  int bits;
};

// IANA special-purpose registry and multicast: all blocks that are not single hosts of the
// internet.
constexpr Block kRejected4[] = {
    {"0.0.0.0", 8},       {"10.0.0.0", 8},      {"100.64.0.0", 10},   {"127.0.0.0", 8},
    {"169.254.0.0", 16},  {"172.16.0.0", 12},   {"192.0.0.0", 24},    {"192.0.2.0", 24},
    {"192.31.196.0", 24}, {"192.52.193.0", 24}, {"192.88.99.0", 24},  {"192.168.0.0", 16},
    {"192.175.48.0", 24}, {"198.18.0.0", 15},   {"198.51.100.0", 24}, {"203.0.113.0", 24},
    {"224.0.0.0", 4},     {"240.0.0.0", 4},
};
// Global unicast is 2000::/3; it contains Teredo and its neighbours, documentation, and 6to4.
constexpr Block kGlobal6 = {"2000::", 3};
constexpr Block kRejected6[] = {
    {"2001::", 23}, {"2001:db8::", 32}, {"2002::", 16}, {"2620:4f:8000::", 48}, {"3fff::", 20},
};
constexpr const char* kMetadata[] = {"169.254.169.254", "169.254.170.2", "169.254.170.23",
                                     "100.100.100.200", "fd00:ec2::254", "fd00:ec2::23",
                                     "fd20:ce::254"};

bool in_block(const NumericAddress& address, const Block& block) {
  return AddressRange{*NumericAddress::parse(block.base), block.bits}.contains(address);
}

/// The IPv4 address embedded in an IPv6 address: mapped, compatible, NAT64, 6to4.
std::optional<NumericAddress> embedded(const NumericAddress& address) {
  if (address.size != 16) return std::nullopt;
  const auto four_at = [&](std::size_t offset) {
    NumericAddress out;
    std::copy_n(address.bytes.begin() + static_cast<std::ptrdiff_t>(offset), 4, out.bytes.begin());
    return out;
  };
  for (const Block& block : {Block{"::ffff:0:0", 96}, Block{"::", 96}, Block{"64:ff9b::", 96},
                             Block{"64:ff9b:1::", 48}}) {
    if (in_block(address, block)) return four_at(12);
  }
  if (in_block(address, {"2002::", 16})) return four_at(2);
  return std::nullopt;
}

bool is_metadata(const NumericAddress& address) {
  const auto inner = embedded(address);
  return std::ranges::any_of(kMetadata, [&](const char* text) {
    const NumericAddress known = *NumericAddress::parse(text);
    return address == known || (inner && *inner == known);
  });
}

/// Letters, digits, hyphens, underscores and dots, except names that old parsers read as numbers.
bool is_target_name(const std::string& name) {
  if (name.empty() || name.size() > kHostBytesMax || name.front() == '.' || name.back() == '.') {
    return false;
  }
  if (name.find("..") != std::string::npos) return false;
  const bool clean = std::ranges::all_of(name, [](char c) {
    return ascii::is_lower(c) || ascii::is_digit(c) || c == '-' || c == '_' || c == '.';
  });
  const std::string last = name.substr(name.rfind('.') + 1);
  const bool number = last.find_first_not_of("0123456789") == std::string::npos ||
                      (last.starts_with("0x") &&
                       last.find_first_not_of("0123456789abcdef", 2) == std::string::npos);
  return clean && !number;
}

Unexpected reject(const std::string& why) {
  const std::string sentence = "The URL is not allowed: " + why + ".";
  return unexpected(Problem(Slug::webhook_target_refused, sentence, {{"url", sentence}}));
}

}  // namespace

bool is_public_address(std::string_view text) {
  const auto address = NumericAddress::parse(text);
  if (!address) return false;
  const auto holds = [&](const Block& block) { return in_block(*address, block); };
  if (address->size == 4) return std::ranges::none_of(kRejected4, holds);
  return holds(kGlobal6) && std::ranges::none_of(kRejected6, holds);
}

Result<AllowedTargets> AllowedTargets::parse(const std::vector<std::string>& entries,
                                             const std::vector<std::string>& ports) {
  constexpr int kPortMax = 65'535;
  AllowedTargets out;
  for (const std::string& text : ports) {
    const auto port = whole_number(text, 1, kPortMax);
    if (!port) return unexpected(Slug::validation_failed, "\"" + text + "\" is not a port");
    out.ports_.push_back(*port);
  }
  for (const std::string& entry : entries) {
    COFFER_TRY(const auto range, AddressRange::parse(entry));
    if (range) {
      out.ranges_.push_back(*range);
    } else if (is_target_name(normal_host(entry))) {
      out.names_.push_back(normal_host(entry));
    } else {
      return unexpected(Slug::validation_failed,
                        "\"" + entry + "\" is neither a host name nor a CIDR such as 10.1.2.0/24");
    }
  }
  return out;
}

bool AllowedTargets::has_name(std::string_view host) const {
  return std::ranges::find(names_, host) != names_.end();
}

bool AllowedTargets::has_address(std::string_view text) const {
  const auto address = NumericAddress::parse(text);
  if (!address) return false;
  const bool exactly = is_metadata(*address);
  return std::ranges::any_of(ranges_, [&](const AddressRange& range) {
    return range.contains(*address) && (!exactly || range.bits == range.base.size * 8);
  });
}

bool AllowedTargets::has_port(int port) const {
  return std::ranges::find(ports_, port) != ports_.end();
}

/// Services on other ports of a public address are seldom meant for requests of strangers.
bool TargetGuard::may_use_port(const Url& url, std::string_view address) const {
  constexpr int kHttpsPort = 443;
  constexpr int kHttpPort = 80;
  return url.port == (url.tls ? kHttpsPort : kHttpPort) || allowed_.has_port(url.port) ||
         allowed_.has_name(url.host) || allowed_.has_address(address);
}

bool TargetGuard::may_reach(const std::string& host, std::string_view address) const {
  return allowed_.has_name(host) || is_public_address(address) || allowed_.has_address(address);
}

Result<Url> TargetGuard::check_url(std::string_view text, Environment environment) const {
  if (text.size() > kUrlBytesMax) return reject("it is longer than 2048 bytes");
  auto url = parse_url(text);
  if (!url) {
    return reject(
        "it must be an absolute https URL without user name, spaces or non-ASCII characters");
  }
  if (!url->tls && environment == Environment::production) {
    return reject("it must be https in production");
  }
  // The checked host is also sent as Host and verified in the certificate.
  const bool numeric = NumericAddress::parse(url->host).has_value();
  if (!numeric) {
    url->host = normal_host(url->host);
    if (!is_target_name(url->host)) return reject("its host is neither a name nor a valid address");
    if (!allowed_.has_ranges() && !may_use_port(*url, {})) return reject(kWrongPort);
  } else if (!may_reach(url->host, url->host)) {
    return reject("its address is not publicly reachable");
  } else if (!may_use_port(*url, url->host)) {
    return reject(kWrongPort);
  }
  if (is_local_name(url->host) && !may_reach(url->host, "127.0.0.1")) {
    return reject("its address is not publicly reachable");
  }
  return *std::move(url);
}

Result<std::vector<std::string>> TargetGuard::addresses(const Url& url, int timeout_ms) const {
  COFFER_TRY(auto found, resolver_.resolve(url.host, timeout_ms));
  // If one address is rejected, the whole name is rejected, because coffer cannot control which
  // address is used.
  for (const std::string& address : found) {
    // The loopback name has two addresses by definition, so only permitted ones are used.
    if (is_local_name(url.host)) continue;
    if (!may_reach(url.host, address)) return reject("its address is not publicly reachable");
    if (!may_use_port(url, address)) return reject(kWrongPort);
  }
  std::erase_if(found, [&](const std::string& address) { return !may_reach(url.host, address); });
  if (found.empty()) return reject("its address is not publicly reachable");
  return found;
}

}  // namespace coffer::outbound
