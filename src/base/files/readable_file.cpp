#include "base/files/readable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace coffer {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

}  // namespace

Result<ReadableFile> ReadableFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return unexpected(system_problem("cannot open " + path));
  return ReadableFile(path, fd);
}

ReadableFile::ReadableFile(const ReadableFile& other)
    : path_(other.path_), fd_(::fcntl(other.fd_, F_DUPFD_CLOEXEC, 0)) {}

ReadableFile::ReadableFile(ReadableFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

ReadableFile::~ReadableFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::int64_t> ReadableFile::read(
    const std::function<Result<void>(std::string_view)>& take) const {
  std::string piece(kPieceBytes, '\0');
  std::int64_t total = 0;
  for (;;) {
    const ssize_t got = ::pread(fd_, piece.data(), piece.size(), total);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unexpected(system_problem("cannot read " + path_));
    if (got == 0) return total;
    total += got;
    COFFER_TRY_VOID(take(std::string_view(piece).substr(0, static_cast<std::size_t>(got))));
  }
}

}  // namespace coffer
