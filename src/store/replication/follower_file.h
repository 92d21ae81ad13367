// The file of a follower, into which the commits of the leader are written page by page.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/replication/commit_pages.h"
#include "store/replication/entry.h"

namespace coffer::store {

class Connection;

/// The only writer of the file. Other connections of this process may read it; each commit of the
/// leader becomes visible to them as a whole. Not thread-safe.
class FollowerFile {
 public:
  /// Creates the file when the first commit is applied, if it does not exist. Throws SqlError.
  explicit FollowerFile(std::string path);
  ~FollowerFile();
  FollowerFile(const FollowerFile&) = delete;
  FollowerFile& operator=(const FollowerFile&) = delete;

  /// Applies the content of the next entry, which an EntryChain has read. A commit of several
  /// entries is applied with the last one, and not at all if a takeover comes before that. Throws
  /// SqlError. `validation-failed` if the file differs from the leader's; it is unchanged then, and
  /// has to be replaced by a copy of the leader's.
  Result<void> apply(const LogEntry& entry, std::string content);

 private:
  bool write_parts(const PartHead& head);
  void open(std::size_t page_size);

  const std::string path_;
  std::unique_ptr<Connection> db_;
  PageDecoder decoder_;
  std::vector<std::string> parts_;  // of a commit that is not complete yet
};

}  // namespace coffer::store
