#include "base/files/folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

#include <array>
#include <cerrno>
#include <filesystem>

#include "base/platform/durable.h"

namespace coffer {

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent;
}

int open_or_create(const std::string& path, bool& is_created) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  int fd = ::open(path.c_str(), kFlags | O_EXCL, 0600);
  is_created = fd >= 0;
  if (is_created || errno != EEXIST) return fd;
  fd = ::open(path.c_str(), kFlags, 0600);
  struct stat status {};
  if (fd < 0 || (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode))) return fd;
  ::close(fd);
  errno = EINVAL;
  return -1;
}

std::uint64_t file_bytes(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

bool sync_directory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const int error = sync_file(fd) ? 0 : errno;
  ::close(fd);
  errno = error;
  return error == 0;
}

Result<void> sync_names(const std::string& directory) {
  if (sync_directory(directory) || errno == EINVAL || errno == ENOTSUP) return {};
  return unexpected(system_problem("cannot synchronise " + directory));
}

Result<void> make_private_folder(const std::string& folder) {
  constexpr mode_t kPrivateFolder = 0700;
  std::error_code error;
  if (std::filesystem::exists(folder, error)) return {};
  const std::string parent = directory_of(folder);
  if (parent != folder) COFFER_TRY_VOID(make_private_folder(parent));
  if (::mkdir(folder.c_str(), kPrivateFolder) == 0) return sync_names(parent);
  if (errno == EEXIST) return {};
  return unexpected(system_problem("cannot create " + folder));
}

NewFolders::NewFolders(const std::string& folder) {
  std::error_code error;
  std::string at = folder;
  while (!std::filesystem::exists(at, error) && !error && at != directory_of(at)) {
    missing_.push_back(at);
    at = directory_of(at);
  }
}

NewFolders::~NewFolders() {
  for (const std::string& folder : missing_) ::rmdir(folder.c_str());
}

std::optional<std::uint64_t> free_disk_bytes(const std::string& folder) {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

const char* network_filesystem_name(std::uint64_t magic) {
  struct Kind {
    std::uint64_t magic;
    const char* name;
  };
  constexpr std::array<Kind, 8> kKinds{{{0x6969, "NFS"},
                                        {0xFF534D42, "CIFS"},
                                        {0xFE534D42, "SMB2"},
                                        {0x517B, "SMB"},
                                        {0x65735546, "FUSE"},
                                        {0x01021997, "9P"},
                                        {0x00C36400, "Ceph"},
                                        {0x5346414F, "AFS"}}};
  for (const Kind& kind : kKinds) {
    if (kind.magic == magic) return kind.name;
  }
  return nullptr;
}

std::string network_filesystem(const std::string& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return {};
#if defined(__linux__)
  const char* name = network_filesystem_name(static_cast<std::uint64_t>(info.f_type) & 0xFFFFFFFFU);
  return name == nullptr ? "" : name;
#else
  return (info.f_flags & MNT_LOCAL) != 0 ? "" : info.f_fstypename;
#endif
}

}  // namespace coffer
