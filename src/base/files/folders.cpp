#include "base/files/folders.h"

#include <fcntl.h>
#include <sys/statvfs.h>
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

Result<void> make_private_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(folder, error)) return {};
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (!error) return {};
  return unexpected(Slug::forbidden, "cannot create " + folder + ": " + error.message());
}

std::optional<std::uint64_t> free_disk_bytes(const std::string& folder) {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
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
