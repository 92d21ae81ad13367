// Which pages of the database the commits change, for a copy that follows them.
//
// The write-ahead log names the page of every frame
// (https://www.sqlite.org/fileformat2.html#walformat); after each commit the writer reads the
// numbers of the frames that it added, and only while somebody watches.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace coffer::store {

class ChangedPages {
 public:
  /// Watches from here to its end; belongs to one thread.
  class Watch {
   public:
    /// `owner` outlives the watch.
    explicit Watch(ChangedPages& owner);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    /// The pages that commits changed since the last call, rising. Complete for every commit that
    /// had returned to its waiters before. Throws InternalError when the log could not be read.
    std::vector<std::uint32_t> take();

   private:
    friend class ChangedPages;
    ChangedPages& owner_;
    std::set<std::uint32_t> pages_;  // under the owner's mutex
    bool lost_ = false;
  };

  /// `log` is the path of the write-ahead log.
  explicit ChangedPages(std::string log);
  ~ChangedPages();
  ChangedPages(const ChangedPages&) = delete;
  ChangedPages& operator=(const ChangedPages&) = delete;

  /// The writer's thread, after each commit: the log now has `frames` frames.
  void note(int frames);

 private:
  bool read_new_frames(int frames, std::vector<std::uint32_t>& pages) COFFER_REQUIRES(mutex_);

  const std::string log_;
  Mutex mutex_;
  std::vector<Watch*> watches_ COFFER_GUARDED_BY(mutex_);
  int fd_ COFFER_GUARDED_BY(mutex_) = -1;  // open while somebody watches
  int known_frames_ COFFER_GUARDED_BY(mutex_) = 0;
  std::uint64_t salt_ COFFER_GUARDED_BY(mutex_) = 0;  // another one: the log began again
};

}  // namespace coffer::store
