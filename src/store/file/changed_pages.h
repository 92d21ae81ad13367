// Tracks which pages of the database commits change, for a live copy.
//
// The write-ahead log contains the page number of every frame
// (https://www.sqlite.org/fileformat2.html#walformat). After each commit, the writer reads the page
// numbers of the new frames, but only while a Watch exists.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace coffer::store {

class ChangedPages {
 public:
  /// Records changed pages during its lifetime; for one thread.
  class Watch {
   public:
    /// `owner` must outlive the watch.
    explicit Watch(ChangedPages& owner);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    /// The pages changed by commits since the last call, ascending. Includes every commit that had
    /// returned to its caller before this call. Throws InternalError if the log could not be read.
    std::vector<std::uint32_t> take();

   private:
    friend class ChangedPages;
    ChangedPages& owner_;
    std::set<std::uint32_t> pages_;  // guarded by the owner's mutex
    bool lost_ = false;
  };

  /// `log` is the path of the write-ahead log.
  explicit ChangedPages(std::string log);
  ~ChangedPages();
  ChangedPages(const ChangedPages&) = delete;
  ChangedPages& operator=(const ChangedPages&) = delete;

  /// Called on the writer's thread after each commit; the log now has `frames` frames.
  void note(int frames);

 private:
  bool read_new_frames(int frames, std::vector<std::uint32_t>& pages) COFFER_REQUIRES(mutex_);

  const std::string log_;
  Mutex mutex_;
  std::vector<Watch*> watches_ COFFER_GUARDED_BY(mutex_);
  int fd_ COFFER_GUARDED_BY(mutex_) = -1;  // open while a Watch exists
  int known_frames_ COFFER_GUARDED_BY(mutex_) = 0;
  // A changed salt means that the log was restarted.
  std::uint64_t salt_ COFFER_GUARDED_BY(mutex_) = 0;
};

}  // namespace coffer::store
