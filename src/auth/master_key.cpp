#include "auth/master_key.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "base/digest.h"
#include "base/files/descriptor.h"
#include "base/files/folders.h"
#include "base/files/ownership.h"
#include "base/platform/durable.h"
#include "base/text/shell_word.h"
#include "base/text/trimmed.h"

namespace coffer::auth {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kPrivateDirectory = 0700;
constexpr std::size_t kMaxFileBytes = 4096;
// A new key has the name of its file, random digits and this ending until it is complete.
constexpr std::size_t kRandomBytes = 8;
constexpr std::string_view kNewEnding = ".new";

bool looks_like_text(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return c >= ' ' && c <= '~'; });
}

/// `bytes` has the length of a key and is wiped.
MasterKey take(std::string& bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  MasterKey key(std::span<const std::uint8_t, MasterKey::kBytes>(data, MasterKey::kBytes));
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return key;
}

Result<MasterKey> read_open_file(const Descriptor& file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return unexpected(
        system_problem("Cannot examine the master key file " + path.string(), "Check the disk."));
  }
  if (const std::string why = judge_secret_file(status, path).fault; !why.empty()) {
    return unexpected(Slug::forbidden,
                      "The master key file " + path.string() + " is not used: " + why +
                          ". Make the user of coffer its owner, run `chmod 600 " +
                          shell_word(path.string()) +
                          "`, and rotate the key if another user may have read it.");
  }
  std::string text(kMaxFileBytes, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return unexpected(
          system_problem("Cannot read the master key file " + path.string(), "Check the disk."));
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  auto key = parse_master_key(std::string_view(text).substr(0, size), "the file " + path.string());
  OPENSSL_cleanse(text.data(), text.size());
  return key;
}

/// Empty if the file does not exist.
std::optional<Result<MasterKey>> load(const fs::path& path) {
  // O_NONBLOCK, because otherwise a FIFO at this path would block the start.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.is_open()) return read_open_file(file, path);
  if (errno == ENOENT) return std::nullopt;
  return unexpected(system_problem("Cannot open the master key file " + path.string(),
                                   "It must be readable by the user of coffer."));
}

Result<void> keep_name(const fs::path& path) {
  const std::string directory = directory_of(path);
  if (sync_directory(directory)) return {};
  return unexpected(system_problem("Cannot write the directory " + directory, "Check the disk."));
}

Result<void> make_private_directories(const fs::path& directory) {
  struct stat status {};
  if (directory.empty() || ::stat(directory.c_str(), &status) == 0) return {};
  COFFER_TRY_VOID(make_private_directories(directory.parent_path()));
  if (::mkdir(directory.c_str(), kPrivateDirectory) != 0 && errno != EEXIST) {
    return unexpected(system_problem("Cannot create the directory " + directory.string(),
                                     "Create it for the user of coffer, with mode 0700."));
  }
  return keep_name(directory);
}

/// Whether a file with this name may be a temporary file of the key at `path`.
bool is_temporary_of(const fs::path& path, const std::string& name) {
  const std::string start = path.filename().string() + ".";
  constexpr std::size_t kDigits = 2 * kRandomBytes;
  return name.size() == start.size() + kDigits + kNewEnding.size() && name.starts_with(start) &&
         name.ends_with(kNewEnding) && from_hex(name.substr(start.size(), kDigits)).has_value();
}

/// The lock shows that the process that writes a temporary file is alive.
bool lock(const Descriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

/// Removes the temporary files of processes that were killed.
void remove_left_files(const fs::path& path) {
  std::error_code error;
  for (fs::directory_iterator at(directory_of(path), error), end; !error && at != end;
       at.increment(error)) {
    const fs::path& found = at->path();
    if (!is_temporary_of(path, found.filename().string())) continue;
    const Descriptor file(::open(found.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.is_open() && lock(file)) ::unlink(found.c_str());
  }
}

Result<void> write_synced(const Descriptor& file, const fs::path& path, std::string_view text) {
  const std::string remedy = "Check the free space and the permissions of its directory.";
  if (!file.is_open()) {
    return unexpected(system_problem("Cannot create the master key file " + path.string(), remedy));
  }
  static_cast<void>(lock(file));
  while (!text.empty()) {
    const ssize_t put = ::write(file.get(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      return unexpected(
          system_problem("Cannot write the master key file " + path.string(), remedy));
    }
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  if (!sync_file(file.get())) {
    return unexpected(system_problem("Cannot write the master key file " + path.string(), remedy));
  }
  return {};
}

/// Renames the complete file. Returns false if another process created `path` first, or is creating
/// it and took `temporary` for the file of a killed process, before it was locked.
Result<bool> publish(const fs::path& temporary, const fs::path& path) {
  if (rename_exclusively(temporary, path)) {
    COFFER_TRY_VOID(keep_name(path));
    return true;
  }
  if (errno == EEXIST || errno == ENOENT) return false;
  return unexpected(system_problem("Cannot rename the master key file " + path.string(),
                                   "Choose a directory on a local file system."));
}

Result<void> create(const fs::path& path, Random& random) {
  COFFER_TRY_VOID(make_private_directories(directory_of(path)));
  remove_left_files(path);
  const Secret text(MasterKey::generate(random).to_hex().reveal() + "\n");
  fs::path temporary = path;
  temporary += "." + to_hex(random.bytes(kRandomBytes)) + std::string(kNewEnding);
  const Descriptor file(::open(temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  auto written = write_synced(file, path, text.reveal());
  auto published = written ? publish(temporary, path) : Result<bool>(unexpected(written.error()));
  if (!published || !*published) ::unlink(temporary.c_str());
  if (!published) return unexpected(std::move(published).error());
  return {};
}

}  // namespace

MasterKey::MasterKey(std::span<const std::uint8_t, kBytes> bytes) {
  std::ranges::copy(bytes, bytes_.begin());
}

MasterKey::~MasterKey() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

MasterKey MasterKey::generate(Random& random) {
  std::string bytes = random.bytes(kBytes);
  return take(bytes);
}

Secret MasterKey::derive(std::string_view label) const {
  // RFC 5869 with an empty salt; 32 bytes of output are the first block, T(1).
  const Sha256 zero_salt{};
  const Sha256 extracted = hmac_sha256(as_text(zero_salt), as_text(bytes_));
  const Sha256 expanded = hmac_sha256(as_text(extracted), std::string(label).append(1, '\x01'));
  return Secret(std::string(as_text(expanded)));
}

std::string MasterKey::fingerprint() const {
  constexpr std::size_t kShown = 8;
  const Sha256 check = hmac_sha256(as_text(bytes_), "coffer key check");
  return coffer::to_hex(as_text(check).substr(0, kShown));
}

Secret MasterKey::to_hex() const { return Secret(coffer::to_hex(as_text(bytes_))); }

Result<MasterKey> parse_master_key(std::string_view text, std::string_view source) {
  const std::string where(source);
  if (text.size() == MasterKey::kBytes && !looks_like_text(text)) {
    std::string bytes(text);
    return take(bytes);
  }
  const std::string_view hex = trimmed(text);
  if (hex.size() != 2 * MasterKey::kBytes) {
    return unexpected(Slug::validation_failed,
                      "The master key in " + where + " has the wrong length (" +
                          std::to_string(hex.size()) +
                          " characters). It must be 64 hexadecimal characters, as `openssl rand "
                          "-hex 32` prints them, or 32 random bytes.");
  }
  auto bytes = from_hex(hex);
  if (!bytes) {
    return unexpected(
        Slug::validation_failed,
        "The master key in " + where +
            " contains characters that are not hexadecimal. Restore it from its backup.");
  }
  return take(*bytes);
}

Result<MasterKey> load_or_create_master_key(const fs::path& path, Random& random,
                                            MissingKey missing) {
  if (auto found = load(path)) return *std::move(found);
  const Problem none(Slug::not_found, "The master key " + path.string() +
                                          " was not found. Restore it from its backup. Without it, "
                                          "the sealed secrets in the database cannot be read.");
  if (missing == MissingKey::refuse) return unexpected(none);
  constexpr int kTries = 8;  // other processes may create the file at the same time
  for (int tries = 0; tries < kTries; ++tries) {
    COFFER_TRY_VOID(create(path, random));
    if (auto created = load(path)) return *std::move(created);
  }
  return unexpected(none);
}

Result<MasterKey> find_master_key(const Secret& text, std::string_view source, const fs::path& path,
                                  Random& random, MissingKey missing) {
  return text.empty() ? load_or_create_master_key(path, random, missing)
                      : parse_master_key(text.reveal(), source);
}

}  // namespace coffer::auth
