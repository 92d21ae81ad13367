// Digests and text encodings. Stateless and thread-safe. OpenSSL algorithms are fetched once.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coffer {

/// Call before any other use of OpenSSL. Prevents the machine's OpenSSL configuration file from
/// changing its behaviour.
void prepare_crypto();
/// Version of the library at run time, such as "3.0.17".
std::string openssl_version();

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view data);
/// The digest of the parts, one after the other.
Sha256 sha256(std::initializer_list<std::string_view> parts);
/// Parses raw bytes; nullopt unless there are 32.
std::optional<Sha256> sha256_from(std::string_view bytes);
/// HMAC (RFC 2104) with SHA-256.
Sha256 hmac_sha256(std::string_view key, std::string_view data);

/// Compares in a time that does not depend on where the texts differ. It may depend on their
/// length.
bool equal_constant_time(std::string_view a, std::string_view b);

std::string_view as_text(std::span<const std::uint8_t> bytes);

std::string to_hex(std::span<const std::uint8_t> bytes);
std::string to_hex(std::string_view bytes);
/// Accepts lower and upper case. Returns nullopt for an odd length or another character.
std::optional<std::string> from_hex(std::string_view text);
/// RFC 4648 section 4, padded.
std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);
/// RFC 4648 section 5, without padding.
std::string to_base64url(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);
/// RFC 4648 section 6, upper case, without padding.
std::string to_base32(std::string_view bytes);
std::optional<std::string> from_base32(std::string_view text);
/// The lowest `bytes` bytes of the number, in network byte order.
std::string to_big_endian(std::uint64_t value, std::size_t bytes);
/// The number in at most eight bytes.
std::uint64_t from_big_endian(std::string_view bytes);
/// RFC 3986 section 2: every byte except the unreserved characters.
std::string percent_encoded(std::string_view text);

}  // namespace coffer
