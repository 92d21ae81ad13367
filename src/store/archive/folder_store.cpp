#include "store/archive/folder_store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/files/durable_file.h"
#include "base/files/folders.h"
#include "base/files/readable_file.h"
#include "base/text/object_name.h"

namespace coffer::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kListMax = 1'000;
constexpr int kUnnamedMax = 16;

/// A file without an object's name.
Result<PartialFile> unnamed_in(const std::string& folder) {
  for (int place = 1;; ++place) {
    auto file = PartialFile::create(folder + "/.put" + std::to_string(place));
    const bool is_taken = !file && file.error().slug == Slug::overloaded;
    if (!is_taken || place == kUnnamedMax) return file;
  }
}

}  // namespace

Unexpected FolderStore::no_folder() const {
  return unexpected(Slug::provider_unavailable, "The folder " + folder_ +
                                                    " of the archive does not exist. Create it, "
                                                    "or mount its disk.");
}

Result<std::string> FolderStore::path_of(const std::string& name) const {
  if (is_object_name(name)) return folder_ + '/' + name;
  return unexpected(Slug::malformed_request, "No object can have the name \"" + name + "\".");
}

Result<PutResult> FolderStore::put(const std::string& name, std::string_view bytes) {
  COFFER_TRY(const std::string path, path_of(name));
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored)) return no_folder();
  COFFER_TRY_VOID(make_private_folder(directory_of(path)));
  COFFER_TRY(PartialFile file, unnamed_in(folder_));
  COFFER_TRY_VOID(file.append(bytes));
  const auto done = file.publish(path);
  if (!done && done.error().slug != Slug::conflict) return unexpected(done.error());
  if (!done) {
    const auto stored = get(name, bytes.size());
    if (stored && *stored != bytes) return PutResult::exists;
    if (!stored && stored.error().slug == Slug::validation_failed) return PutResult::exists;
    if (!stored) return unexpected(stored.error());
  }
  // With the folders that a writer may have created that was killed before this.
  for (auto end = name.size(); end != std::string::npos; end = name.rfind('/', end - 1)) {
    COFFER_TRY_VOID(sync_names(directory_of(folder_ + '/' + name.substr(0, end))));
  }
  return PutResult::stored;
}

Result<std::string> FolderStore::get(const std::string& name, std::size_t bytes_max) {
  COFFER_TRY(const std::string path, path_of(name));
  return read_small_file(path, bytes_max);
}

struct FolderStore::Listing {
  const std::string& prefix;
  const std::string& after;
  std::vector<StoredObject> objects = {};

  /// Whether the name, which for a folder ends with "/", or one below it, is asked for.
  bool has(std::string_view name) const {
    if (!name.ends_with('/')) return name.starts_with(prefix) && name > after;
    return (name.starts_with(prefix) || prefix.starts_with(name)) &&
           name >= std::string_view(after).substr(0, name.size());
  }
};

/// `at` is empty or a folder with its "/".
Result<void> FolderStore::walk(const std::string& at, Listing& out) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder_ + '/' + at, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = at + entry->path().filename().string();
    const auto status = entry->symlink_status(error);
    if (!is_object_name(name) || (!fs::is_regular_file(status) && !fs::is_directory(status))) {
      continue;
    }
    if (fs::is_directory(status)) name += '/';
    if (out.has(name)) names.push_back(std::move(name));
  }
  if (error) {
    errno = error.value();
    return unexpected(system_problem("cannot read " + folder_ + '/' + at));
  }
  std::ranges::sort(names);
  for (std::string& name : names) {
    if (out.objects.size() == kListMax) break;
    if (name.ends_with('/')) {
      const auto done = walk(name, out);
      // remove() may have removed it since.
      if (!done && done.error().slug != Slug::not_found) return done;
    } else {
      const auto bytes = static_cast<std::int64_t>(file_bytes(folder_ + '/' + name));
      out.objects.push_back({std::move(name), bytes});
    }
  }
  return {};
}

Result<std::vector<StoredObject>> FolderStore::list(const std::string& prefix,
                                                    const std::string& after) {
  Listing out{.prefix = prefix, .after = after};
  const auto done = walk("", out);
  if (!done) return done.error().slug == Slug::not_found ? no_folder() : unexpected(done.error());
  return std::move(out.objects);
}

Result<void> FolderStore::remove(const std::string& name) {
  COFFER_TRY(const std::string path, path_of(name));
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return unexpected(system_problem("cannot remove " + path));
  }
  for (auto end = name.rfind('/'); end != std::string::npos; end = name.rfind('/', end - 1)) {
    if (::rmdir((folder_ + '/' + name.substr(0, end)).c_str()) != 0) break;  // not empty
  }
  return {};
}

}  // namespace coffer::store
