#include "base/files/durable_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/crypto/openssl.h"
#include "base/digest.h"
#include "base/files/descriptor.h"
#include "base/files/folders.h"
#include "base/files/readable_file.h"
#include "base/files/side_files.h"
#include "base/platform/durable.h"
#include "base/platform/exit_code.h"

namespace coffer {
namespace {

constexpr mode_t kPrivateFile = 0600;
constexpr std::int64_t kFlushEveryBytes = 16 << 20;

Problem taken(const std::string& path) {
  return Problem(Slug::conflict, path + " already exists and was not changed; choose another name")
      .exits_with(exit_code::kCannotCreate);
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return unexpected(system_problem("cannot write " + path));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

/// Reads a file to its end in pieces.
Result<std::int64_t> read_pieces(const std::string& path,
                                 const std::function<Result<void>(std::string_view)>& take) {
  COFFER_TRY(const ReadableFile file, ReadableFile::open(path));
  return file.read(take);
}

}  // namespace

PartialFile::PartialFile(std::string path, std::string partial, int fd)
    : path_(std::move(path)), partial_(std::move(partial)), fd_(fd) {}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)), partial_(std::move(other.partial_)), fd_(other.fd_) {
  other.fd_ = -1;
}

PartialFile::~PartialFile() {
  if (fd_ < 0) return;
  // With the files that SQLite creates beside a copy, which it leaves if it cannot write the copy.
  ::unlink(partial_.c_str());
  for (const char* ending : kSqliteEndings) ::unlink((partial_ + ending).c_str());
  ::close(fd_);
}

Result<PartialFile> PartialFile::create(const std::string& path,
                                        const std::function<void(const std::string&)>& left) {
  COFFER_TRY_VOID(check_unused(path));
  std::string partial = path + std::string(kPartialEnding);
  const int fd = ::open(partial.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kPrivateFile);
  if (fd < 0 && errno == ENOENT) {
    return unexpected(Problem(Slug::not_found, "cannot create " + path + ": the folder " +
                                                   directory_of(path) + " does not exist")
                          .exits_with(exit_code::kCannotCreate));
  }
  if (fd < 0) {
    return unexpected(system_problem("cannot create " + path,
                                     errno == ENAMETOOLONG ? "Choose a shorter name" : ""));
  }
  PartialFile out(path, std::move(partial), fd);
  COFFER_TRY(const bool is_own, out.lock());
  if (!is_own) return create(path, left);
  if (left && file_bytes(out.partial_) > 0) left(out.partial_);
  if (::ftruncate(fd, 0) != 0 || ::fchmod(fd, kPrivateFile) != 0) {
    return unexpected(system_problem("cannot empty " + path));
  }
  return out;
}

/// False if it was a second name of a published file, which a killed process left, and is gone now.
/// Without the lock, the destructor removes nothing.
Result<bool> PartialFile::lock() {
  struct stat status {};
  struct stat named {};
  // The process that had the lock may have published or removed the file in between.
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd_, &status) == 0 &&
      ::lstat(partial_.c_str(), &named) == 0 && status.st_ino == named.st_ino) {
    if (status.st_nlink == 1) return true;
    ::unlink(partial_.c_str());
    ::close(std::exchange(fd_, -1));
    return false;
  }
  ::close(std::exchange(fd_, -1));
  return unexpected(Slug::overloaded, path_ +
                                          " is being written by another command. Try again when "
                                          "that command is complete");
}

Result<void> PartialFile::append(std::string_view bytes) { return write_all(fd_, bytes, path_); }

Result<void> PartialFile::flush() {
  if (sync_content(fd_)) return {};
  return unexpected(system_problem("cannot write " + path_));
}

Result<void> PartialFile::publish(const std::string& path) {
  if (!sync_file(fd_)) return unexpected(system_problem("cannot write " + path));
  bool done = rename_exclusively(partial_, path);
  if (!done && errno == ENOTSUP) {  // the file system has no exclusive rename
    COFFER_TRY_VOID(check_unused(path));
    done = std::rename(partial_.c_str(), path.c_str()) == 0;
  }
  if (!done && errno == EEXIST) return unexpected(taken(path));
  if (!done) return unexpected(system_problem("cannot name " + path));
  ::close(std::exchange(fd_, -1));
  return sync_names(directory_of(path));
}

std::vector<std::string> partials_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().string();
    if (!name.ends_with(kPartialEnding)) continue;
    name.resize(name.size() - kPartialEnding.size());
    out.push_back(std::move(name));
  }
  return out;
}

Result<void> check_unused(const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) return unexpected(taken(path));
  return {};
}

Result<void> write_durably(const std::string& path, std::string_view text) {
  const std::string partial = path + std::string(kPartialEnding);
  // Never reuse an existing file, because other users could have it open.
  ::unlink(partial.c_str());
  const Descriptor file(
      ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  if (!file.is_open()) return unexpected(system_problem("cannot create " + path));
  Result<void> done = write_all(file.get(), text, path);
  if (done && (!sync_file(file.get()) || std::rename(partial.c_str(), path.c_str()) != 0)) {
    done = unexpected(system_problem("cannot write " + path));
  }
  if (!done) ::unlink(partial.c_str());
  return done ? sync_names(directory_of(path)) : done;
}

Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<void(std::int64_t)>& progress) {
  const DigestContext hash(EVP_MD_CTX_new());
  COFFER_CHECK(hash && EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) == 1);
  std::int64_t done = 0;
  COFFER_TRY_VOID(read_pieces(path, [&](std::string_view piece) -> Result<void> {
    COFFER_CHECK(EVP_DigestUpdate(hash.get(), piece.data(), piece.size()) == 1);
    done += static_cast<std::int64_t>(piece.size());
    if (progress) progress(done);
    return {};
  }));
  Sha256 out{};
  unsigned size = 0;
  COFFER_CHECK(EVP_DigestFinal_ex(hash.get(), out.data(), &size) == 1 && size == out.size());
  return to_hex(as_text(out));
}

Result<std::int64_t> copy_into(PartialFile& to, const std::string& from,
                               const std::function<void(std::int64_t)>& progress) {
  std::int64_t done = 0;
  std::int64_t flushed = 0;
  return read_pieces(from, [&](std::string_view piece) -> Result<void> {
    COFFER_TRY_VOID(to.append(piece));
    done += static_cast<std::int64_t>(piece.size());
    if (done - flushed >= kFlushEveryBytes) {
      COFFER_TRY_VOID(to.flush());
      flushed = done;
    }
    progress(done);
    return {};
  });
}

}  // namespace coffer
