#include "store/file/held_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/sysmacros.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "base/files/folders.h"
#include "base/files/side_files.h"
#include "base/platform/descriptors.h"

namespace coffer::store {
namespace {

FileIdentity identity_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

/// Does not ask for the time of the last change: once it was asked for, Linux gives the next write
/// an exact time, and ext4 without a journal writes that to disk at every sync.
std::optional<FileIdentity> identity_at(const std::string& path) {
#if defined(__linux__)
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO, &found) == 0) {
    return FileIdentity{makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino};
  }
#endif
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return identity_of(status);
}

std::optional<FileIdentity> identity_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return std::nullopt;
  return identity_of(status);
}

/// Empty if the file does not exist.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : std::string();
}

/// The names that may lead to another file when a symbolic link is changed.
std::vector<std::string> indirect(const std::vector<std::string>& names, const std::string& real) {
  std::vector<std::string> out;
  std::ranges::copy_if(names, std::back_inserter(out), [&](const std::string& name) {
    return !name.empty() && std::filesystem::absolute(name).lexically_normal() != real;
  });
  return out;
}

}  // namespace

HeldFile::HeldFile(const std::string& path, const std::string& link, int fd, bool is_created)
    : real_path_(real_path(path)),
      links_(indirect({path, link}, real_path_)),
      log_path_(real_path_ + kLogEnding),
      fd_(fd),
      found_(is_created              ? Found::nothing
             : file_bytes(path) == 0 ? Found::empty
                                     : Found::content),
      file_(identity_of(fd)) {}

std::unique_ptr<HeldFile> HeldFile::open(const std::string& path, const std::string& link) {
  bool is_created = false;
  const int fd = open_or_create(path, is_created);
  if (fd < 0) return nullptr;
  std::unique_ptr<HeldFile> file(new HeldFile(path, link, fd, is_created));
  if (file->real_path_.empty() || !lock_file(fd)) return nullptr;
  return file;
}

void HeldFile::restore_found() const {
  std::error_code ignored;
  if (found_ == Found::nothing) std::filesystem::remove(real_path_, ignored);
  if (found_ == Found::empty) std::filesystem::resize_file(real_path_, 0, ignored);
}

void HeldFile::note_log() { log_ = identity_at(log_path_); }

bool HeldFile::in_place() const {
  return file_ && identity_at(real_path_) == file_ && (!log_ || identity_at(log_path_) == log_) &&
         std::ranges::all_of(
             links_, [&](const std::string& link) { return real_path(link) == real_path_; });
}

bool is_held(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.is_open() && is_file_locked(file.get());
}

}  // namespace coffer::store
