#include "base/files/ownership.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/files/folders.h"

namespace coffer {
namespace {

constexpr mode_t kOthers = 007;
constexpr mode_t kGroup = 070;
constexpr mode_t kGroupWrite = 020;
constexpr mode_t kOthersWrite = 022;
constexpr uid_t kRoot = 0;

bool is_trusted(uid_t owner, const std::string& path) {
  const uid_t self = ::geteuid();
  if (owner == self || owner == kRoot) return true;
  struct stat folder {};
  return self == kRoot && ::stat(directory_of(path).c_str(), &folder) == 0 &&
         owner == folder.st_uid && (folder.st_mode & kOthersWrite) == 0;
}

/// Whether this process belongs to the group.
bool is_own(gid_t group) {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(0, count)));
  return group == ::getegid() || std::ranges::find(groups, group) != groups.end();
}

/// Whether the folder gives its group to new files, as platforms set it up for a volume.
bool passes_group_on(const std::string& folder, gid_t group) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && (status.st_mode & S_ISGID) != 0 &&
         status.st_gid == group;
}

}  // namespace

SecretFile judge_secret_file(const struct stat& file, const std::string& path) {
  if (!S_ISREG(file.st_mode)) return {"it is not a regular file", {}};
  if (!is_trusted(file.st_uid, path)) return {"its owner is another user", {}};
  if ((file.st_mode & kOthers) != 0) return {"it is open to every user", {}};
  if ((file.st_mode & kGroup) == 0) return {};
  const bool own = is_own(file.st_gid);
  const bool given =
      file.st_uid == kRoot && (file.st_mode & kGroupWrite) == 0 && !(own && ::geteuid() == kRoot);
  if (given) return {};
  const bool prepared = own && ((file.st_uid == kRoot && ::geteuid() != kRoot) ||
                                passes_group_on(directory_of(path), file.st_gid));
  const std::string open = "it is open to the users of its group";
  return prepared ? SecretFile{{}, open} : SecretFile{open, {}};
}

}  // namespace coffer
