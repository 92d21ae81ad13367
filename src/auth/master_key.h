// The master key and the keys derived from it (docs/contract.md#authentication).
//
// Problems of this file are for the operator's terminal and name paths; they never reach a client.
// Their slug tells the command line which exit code fits: `forbidden` permissions (77),
// `validation-failed` contents or configuration (78), `not-found` no key and none may be created
// (78), `unexpected-error` anything else the system refused (73).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "base/strong.h"

namespace coffer::auth {

/// 256 bits that everything sealed in a database hangs on: lost key, lost secrets.
/// The bytes are wiped when an instance dies.
class MasterKey {
 public:
  static constexpr std::size_t kBytes = 32;

  static MasterKey generate(Random& random);
  explicit MasterKey(std::span<const std::uint8_t, kBytes> bytes);
  MasterKey(const MasterKey&) = default;
  MasterKey& operator=(const MasterKey&) = default;
  ~MasterKey();

  /// 32 raw bytes, one independent key per label (HKDF-SHA256, RFC 5869, the label as info).
  Secret derive(std::string_view label) const;
  /// Key check value, 16 hex characters: kept in the database to tell a wrong master key from a
  /// damaged file. Says nothing useful about the key.
  std::string fingerprint() const;
  /// The 64 hex characters that parse_master_key reads.
  Secret to_hex() const;

 private:
  std::array<std::uint8_t, kBytes> bytes_;
};

/// Labels for MasterKey::derive. One per purpose, never reused for another.
inline constexpr std::string_view kSealLabel = "coffer seal v1";
inline constexpr std::string_view kTokenLabel = "coffer token v1";

/// For COFFER_MASTER_KEY, a systemd credential or the contents of a key file: 64 hex characters
/// (surrounding white space ignored) or 32 raw bytes. 32 bytes of plain text are refused: that is a
/// password or half a key, not 256 random bits. `source` names where the text came from.
Result<MasterKey> parse_master_key(std::string_view text, std::string_view source);

enum class MissingKey { create, refuse };

/// Reads the key file, or creates it if it is missing and `missing` allows it: written in full
/// and on disk before it has its name, mode 0600, a missing parent directory made with 0700.
/// Refuses a file that group or others can touch. Never overwrites: of two processes creating at
/// once, both get the key that won.
Result<MasterKey> load_or_create_master_key(const std::filesystem::path& path, Random& random,
                                            MissingKey missing);

/// The key that the settings give: `text`, named `source` in problems, or that of the file when
/// there is no text.
Result<MasterKey> find_master_key(const Secret& text, std::string_view source,
                                  const std::filesystem::path& path, Random& random,
                                  MissingKey missing);

}  // namespace coffer::auth
