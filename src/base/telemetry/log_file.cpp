#include "base/telemetry/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace coffer {
namespace {

constexpr mode_t kOwnerOnly = 0600;

struct Opened {
  int fd = -1;
  std::uint64_t size = 0;
};

Unexpected cannot(const std::string& path, const std::string& why) {
  return unexpected(Slug::unexpected_error, "cannot write the log file " + path + ": " + why);
}

/// Only a regular file can be rotated. O_NOFOLLOW, because other users who can write to the folder
/// must not choose the file. O_NONBLOCK, because opening a pipe would block the start.
Result<Opened> open_regular(const std::string& path) {
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  const int fd = ::open(path.c_str(), flags, kOwnerOnly);
  if (fd < 0) return cannot(path, errno == ELOOP ? "it is a symbolic link" : std::strerror(errno));
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return cannot(path, "it is not a regular file");
  }
  if ((info.st_mode & 0777) != kOwnerOnly && ::fchmod(fd, kOwnerOnly) != 0) {
    const std::string why = std::strerror(errno);
    ::close(fd);
    return cannot(path, "its permissions are too wide (" + why + ")");
  }
  return Opened{fd, static_cast<std::uint64_t>(info.st_size)};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<LogFile>> LogFile::open(LogFileSettings settings) {
  std::unique_ptr<LogFile> out(new LogFile(std::move(settings)));
  COFFER_TRY_VOID(out->reopen());
  return out;
}

LogFile::~LogFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> LogFile::reopen() {
  COFFER_TRY(const Opened opened, open_regular(settings_.path));
  if (fd_ >= 0) ::close(fd_);
  fd_ = opened.fd;
  size_ = opened.size;
  rotate_at_ = settings_.bytes_max;
  return {};
}

bool LogFile::write(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  if (size_ > 0 && size_ + bytes.size() > rotate_at_ && !rotate()) {
    rotate_at_ = size_ + settings_.bytes_max;
  }
  if (write_all(fd_, bytes)) {
    size_ += bytes.size();
    return true;
  }
  // Removes a partial line and frees its space. If even this fails, the size includes the partial
  // line.
  struct stat status {};
  if (::ftruncate(fd_, static_cast<off_t>(size_)) != 0 && ::fstat(fd_, &status) == 0) {
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  return false;
}

/// Renames the oldest file first, so that an interruption loses at most the oldest file.
bool LogFile::rotate() {
  const auto rotated = [&](int number) { return settings_.path + "." + std::to_string(number); };
  for (int i = settings_.keep - 1; i >= 1; --i) {
    if (std::rename(rotated(i).c_str(), rotated(i + 1).c_str()) != 0 && errno != ENOENT) {
      return false;
    }
  }
  const std::string& path = settings_.path;
  const int gone =
      settings_.keep > 0 ? std::rename(path.c_str(), rotated(1).c_str()) : ::unlink(path.c_str());
  if (gone != 0 && errno != ENOENT) return false;
  return reopen().has_value();
}

}  // namespace coffer
