// The master key and the keys derived from it (docs/contract.md#authentication).
//
// Problems of this file are for the operator's terminal. They contain paths and never reach a
// client. Their slug determines the exit code of the command line: `forbidden`, wrong permissions
// (77); `validation-failed`, invalid content or configuration (78); `not-found`, no key and none
// may be created (78); `unexpected-error`, any other error of the system (73).
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

/// The 256-bit key that protects every sealed value of a database. If the key is lost, so are those
/// values. The destructor wipes the bytes.
class MasterKey {
 public:
  static constexpr std::size_t kBytes = 32;

  static MasterKey generate(Random& random);
  explicit MasterKey(std::span<const std::uint8_t, kBytes> bytes);
  MasterKey(const MasterKey&) = default;
  MasterKey& operator=(const MasterKey&) = default;
  ~MasterKey();

  /// Derives 32 raw bytes: an independent key for each label (HKDF-SHA256, RFC 5869, with the label
  /// as info).
  Secret derive(std::string_view label) const;
  /// Key check value: 16 hex characters, stored in the database to distinguish a wrong master key
  /// from a damaged file. It reveals nothing useful about the key.
  std::string fingerprint() const;
  /// The 64 hex characters that parse_master_key() reads.
  Secret to_hex() const;

 private:
  std::array<std::uint8_t, kBytes> bytes_;
};

/// Labels for MasterKey::derive, one per purpose. Never reuse a label for another purpose.
inline constexpr std::string_view kSealLabel = "coffer seal v1";
inline constexpr std::string_view kTokenLabel = "coffer token v1";

/// Parses COFFER_MASTER_KEY, a systemd credential or the content of a key file: 64 hex characters
/// (surrounding white space is ignored) or 32 raw bytes. Rejects 32 bytes of plain text, which are
/// a password or half a key instead of 256 random bits. `source` is the origin of the text, for
/// error messages.
Result<MasterKey> parse_master_key(std::string_view text, std::string_view source);

enum class MissingKey { create, refuse };

/// Reads the key file. If it is missing and `missing` permits it, creates the file: synchronised
/// before it gets its name, mode 0600, with missing parent directories in mode 0700. Rejects a file
/// that judge_secret_file() rejects. Never overwrites a file: if two processes create it at the
/// same time, both return the key of the first. Before it creates a file, it removes the temporary
/// files of processes that were killed meanwhile: their keys were never used.
Result<MasterKey> load_or_create_master_key(const std::filesystem::path& path, Random& random,
                                            MissingKey missing);

/// The configured key: `text`, called `source` in problems; or the content of the file if `text` is
/// empty.
Result<MasterKey> find_master_key(const Secret& text, std::string_view source,
                                  const std::filesystem::path& path, Random& random,
                                  MissingKey missing);

}  // namespace coffer::auth
