// What files and folders need beyond the standard library: durable names, and what they lie on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace coffer {

/// The folder of a path; `.` when it names none.
std::string directory_of(const std::string& path);
/// Makes the names in a folder last: a file that is synchronised under a name that is not is lost
/// with the name. False with `errno` set.
bool sync_directory(const std::string& directory);
/// Makes a folder that is not there, mode 0700, and what is missing above it. `forbidden` when it
/// cannot.
Result<void> make_private_folder(const std::string& folder);
/// What its disk still offers to who is not root; nullopt where that cannot be told.
std::optional<std::uint64_t> free_disk_bytes(const std::string& folder);
/// Name of the network or user-space file system a path is on, where POSIX locks and shared memory,
/// and so WAL, do not hold; empty for a local one, and where there is no such path.
std::string network_filesystem(const std::string& path);
/// The same by the magic number of Linux's statfs(2); nullptr for a local one.
const char* network_filesystem_name(std::uint64_t magic);

}  // namespace coffer
