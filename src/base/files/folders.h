// File and folder operations that the standard library lacks: durable names, and properties of file
// systems.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace coffer {

/// The folder of a path; `.` if the path contains none.
std::string directory_of(const std::string& path);
/// Makes the names in a folder durable: if a name is not synchronised, a crash can lose it and its
/// file. Returns false with `errno` set.
bool sync_directory(const std::string& directory);
/// The same with a Problem. Network file systems without this operation keep names durable in their
/// own way.
Result<void> sync_names(const std::string& directory);
/// Durably creates a folder with mode 0700, and its missing parents likewise.
Result<void> make_private_folder(const std::string& folder);
/// The folders of a path that do not exist yet. The destructor removes those that exist by then and
/// are empty, so that a command that fails leaves none of the folders that it has created.
class NewFolders {
 public:
  explicit NewFolders(const std::string& folder);
  ~NewFolders();
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;

 private:
  std::vector<std::string> missing_;  // innermost first
};
/// A descriptor that reads and writes a regular file, which is created with mode 0600 if it does
/// not exist. -1 with `errno` set: ELOOP for a symbolic link, which another user may have placed to
/// have a file elsewhere changed; EINVAL for a pipe or a device.
int open_or_create(const std::string& path, bool& is_created);
/// 0 if the file does not exist.
std::uint64_t file_bytes(const std::string& path);
/// Free bytes for users other than root; nullopt if unknown.
std::optional<std::uint64_t> free_disk_bytes(const std::string& folder);
/// Name of the network or user-space file system of a path. On these, POSIX locks and shared
/// memory, and therefore WAL, are unreliable. Empty for a local file system and for a path that
/// does not exist.
std::string network_filesystem(const std::string& path);
/// The file system's name by the magic number of Linux's statfs(2); nullptr for a local file
/// system.
const char* network_filesystem_name(std::uint64_t magic);

}  // namespace coffer
