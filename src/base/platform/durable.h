// Bytes and names that last: the calls for it have other names and other promises on each system.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace coffer {

/// When it returns true, the disk has the bytes of the file. False with `errno` set. macOS's
/// fsync(2) leaves them in the cache of the drive; this does not.
bool sync_file(int fd);
/// The same without what is not needed to read the bytes back, such as times.
bool sync_content(int fd);
/// Renames unless `to` is there already: false then, with `errno` EEXIST. ENOTSUP: this file system
/// cannot promise that.
bool rename_exclusively(const std::string& from, const std::string& to);
/// When the file or what is said of it was changed last, in ns since 1970.
std::int64_t changed_ns(const struct stat& status);

}  // namespace coffer
