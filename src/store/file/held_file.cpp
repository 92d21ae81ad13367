#include "store/file/held_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/platform/descriptors.h"

namespace coffer::store {
namespace {

FileIdentity identity_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

std::optional<FileIdentity> identity_at(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return identity_of(status);
}

std::optional<FileIdentity> identity_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return std::nullopt;
  return identity_of(status);
}

}  // namespace

HeldFile::HeldFile(const std::string& path, int fd)
    : path_(path), log_path_(path + "-wal"), fd_(fd), file_(identity_of(fd)) {}

std::unique_ptr<HeldFile> HeldFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  std::unique_ptr<HeldFile> file(new HeldFile(path, fd));
  if (!lock_file(fd)) return nullptr;
  return file;
}

void HeldFile::note_log() { log_ = identity_at(log_path_); }

bool HeldFile::in_place() const {
  return file_ && identity_at(path_) == file_ && (!log_ || identity_at(log_path_) == log_);
}

bool is_held(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.is_open() && is_file_locked(file.get());
}

}  // namespace coffer::store
