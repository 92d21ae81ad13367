#include "base/files/readable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/readable.h"

namespace coffer {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

}  // namespace

Result<ReadableFile> ReadableFile::open(const std::string& path) {
  // O_NONBLOCK, because opening a pipe would wait for its writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return unexpected(system_problem("cannot open " + path));
  ReadableFile file(path, fd);
  struct stat status {};
  if (::fstat(fd, &status) != 0) return unexpected(system_problem("cannot open " + path));
  if (S_ISREG(status.st_mode)) return file;
  return unexpected(Slug::forbidden, path + " is not a regular file. Name a file.");
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

namespace {

Result<void> read_at_most(const std::string& path, std::size_t bytes_max,
                          const std::function<Result<void>(std::string_view)>& take) {
  COFFER_TRY(const ReadableFile file, ReadableFile::open(path));
  std::size_t total = 0;
  COFFER_TRY_VOID(file.read([&](std::string_view piece) -> Result<void> {
    total += piece.size();
    if (total <= bytes_max) return take(piece);
    return unexpected(Slug::validation_failed,
                      path + " is longer than " +
                          readable_bytes(static_cast<std::int64_t>(bytes_max)) +
                          ". Name a file with only the needed lines.");
  }));
  return {};
}

}  // namespace

Result<void> read_lines(const std::string& path, std::size_t bytes_max,
                        const std::function<Result<void>(std::string_view)>& take) {
  constexpr std::size_t kLineBytesMax = 64 * 1024;
  std::string line;
  const auto keep = [&](std::string_view part) {
    line += part.substr(0, kLineBytesMax - std::min(line.size(), kLineBytesMax));
  };
  COFFER_TRY_VOID(read_at_most(path, bytes_max, [&](std::string_view piece) -> Result<void> {
    for (auto end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      keep(piece.substr(0, end));
      COFFER_TRY_VOID(take(std::exchange(line, {})));
      piece.remove_prefix(end + 1);
    }
    keep(piece);
    return {};
  }));
  return take(line);
}

Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
  std::string out;
  COFFER_TRY_VOID(read_at_most(path, bytes_max, [&](std::string_view piece) -> Result<void> {
    out += piece;
    return {};
  }));
  return out;
}

}  // namespace coffer
