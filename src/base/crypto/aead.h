// AES-256-GCM (NIST SP 800-38D): encryption that also authenticates.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coffer {

constexpr std::size_t kAeadKeyBytes = 32;
constexpr std::size_t kAeadNonceBytes = 12;
constexpr std::size_t kAeadTagBytes = 16;

/// Nonce, ciphertext and tag of at most 1 MiB. `nonce` must be unique under `key`. `context` is
/// authenticated but not contained. Thread-safe.
std::string encrypted(std::string_view key, std::string_view nonce, std::string_view plaintext,
                      std::string_view context);
/// The plaintext; nullopt for another key or context, or a changed byte, which GCM cannot
/// distinguish.
std::optional<std::string> decrypted(std::string_view key, std::string_view sealed,
                                     std::string_view context);

}  // namespace coffer
