// Durable bytes and names. The system calls differ between systems in name and in guarantees.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace coffer {

/// Returns true when the file's bytes are on disk; false with `errno` set. On macOS, fsync(2) alone
/// would leave them in the drive's cache.
bool sync_file(int fd);
/// Like sync_file(), but skips metadata that is not needed to read the bytes, such as times.
bool sync_content(int fd);
/// Renames a file unless `to` exists; in that case, returns false with `errno` EEXIST. ENOTSUP: the
/// file system cannot guarantee this.
bool rename_exclusively(const std::string& from, const std::string& to);
/// Time of the last change of the file or its metadata, in ns since 1970.
std::int64_t changed_ns(const struct stat& status);

}  // namespace coffer
