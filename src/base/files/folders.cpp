#include "base/files/folders.h"

#include <fcntl.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

#include <cerrno>
#include <filesystem>

namespace coffer {

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent;
}

bool sync_directory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  errno = error;
  return error == 0;
}

std::optional<std::uint64_t> filesystem_magic([[maybe_unused]] const std::string& path) {
#if defined(__linux__)
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.f_type) & 0xFFFFFFFFU;
#else
  return std::nullopt;
#endif
}

}  // namespace coffer
