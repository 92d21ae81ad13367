// Copies a database while it is written to.
//
// A single snapshot for the whole copy would let the write-ahead log grow until the copy is done.
// Therefore, the copy reads pages in small pieces, each in its own snapshot, and records the pages
// that commits change meanwhile. It then reads those again, and the pages changed during that, and
// so on. Each round is shorter than the previous one, because reading is faster than committing.
// When few pages are left, one snapshot covers all of them, and the copy equals that snapshot.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <span>

#include "base/files/descriptor.h"
#include "base/files/folders.h"
#include "base/limits/pace.h"
#include "store/commit_queue.h"
#include "store/database.h"
#include "store/lists/key_walk.h"
#include "store/operations/copies.h"

namespace coffer::store {
namespace {

constexpr std::size_t kPieceMax = 1'024;  // pages per reader: 2 MiB
constexpr std::size_t kLastMax = 2'048;   // pages of the last snapshot: 4 MiB
constexpr int kRoundsMax = 64;
constexpr int kIoError = 10;   // SQLITE_IOERR
constexpr int kDiskFull = 13;  // SQLITE_FULL

constexpr const char* kPageCount = "PRAGMA page_count";
constexpr const char* kPageBytes = "PRAGMA page_size";
constexpr const char* kPage = "SELECT data FROM sqlite_dbpage WHERE pgno = ?";

using Pages = std::vector<std::uint32_t>;

/// The file being written, by page number. Throws SqlError.
class PageFile {
 public:
  explicit PageFile(const std::string& path) : file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
    if (!file_.is_open()) fail();
  }
  void write(std::span<const std::uint32_t> pages, const std::string& bytes) {
    if (pages.empty()) return;
    const std::size_t size = bytes.size() / pages.size();
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const auto at = static_cast<off_t>((pages[i] - std::size_t{1}) * size);
      const ssize_t written = ::pwrite(file_.get(), bytes.data() + i * size, size, at);
      if (written != static_cast<ssize_t>(size)) fail();
    }
  }
  void cut(std::int64_t bytes) {
    if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) fail();
  }

 private:
  [[noreturn]] static void fail() {
    throw SqlError(std::strerror(errno), coffer::is_full_disk(errno) ? kDiskFull : kIoError, 0);
  }
  Descriptor file_;
};

std::int64_t page_count(Connection& db) { return first_integer(db, kPageCount).value_or(0); }

/// The bytes of at most `count` pages in order.
std::string read_pages(Connection& db, std::span<const std::uint32_t> pages) {
  std::string out;
  for (const std::uint32_t page : pages) {
    Query query(db, kPage, static_cast<std::int64_t>(page));
    if (!query.step()) throw SqlError("a page is missing", kIoError, 0);
    out += query.blob(0);
  }
  return out;
}

class LiveCopy {
 public:
  LiveCopy(Database& database, CommitQueue& queue, const std::string& to,
           const CopyProgress& progress)
      : database_(database),
        queue_(queue),
        watch_(queue.changed_pages()),
        file_(to),
        progress_(progress) {}

  Result<void> run() {
    const ReadersScope scope(Readers::backup);
    COFFER_TRY(Pages pages, all_pages());
    for (int round = 0; round < kRoundsMax; ++round) {
      total_ += static_cast<std::int64_t>(pages.size());
      COFFER_TRY_VOID(copy(pages));
      COFFER_TRY(const bool last, finish(pages));
      if (last) return {};
    }
    return unexpected(Slug::overloaded,
                      "the disk of the backup is slower than the database changes");
  }

 private:
  Result<Pages> all_pages() {
    COFFER_TRY(const Reader lease, database_.reader());
    page_bytes_ = first_integer(lease.db(), kPageBytes).value_or(0);
    Pages out(static_cast<std::size_t>(page_count(lease.db())));
    std::iota(out.begin(), out.end(), 1U);
    return out;
  }

  Result<void> copy(std::span<const std::uint32_t> left) {
    Pace pace;
    while (!left.empty()) {
      auto piece = left.first(std::min(left.size(), kPieceMax));
      left = left.subspan(piece.size());
      const std::size_t wanted = piece.size();
      COFFER_TRY(const std::string bytes, with_reader(database_, [&](Connection& db) {
                   piece = present(piece, page_count(db));
                   return read_pages(db, piece);
                 }));
      file_.write(piece, bytes);
      advance(wanted);
      pace.rest();
    }
    return {};
  }

  /// If few pages changed since the start of the last round, copies them in one snapshot and
  /// returns true. Otherwise, returns false, and `pages` contains the pages for the next round.
  Result<bool> finish(Pages& pages) {
    std::string bytes;
    std::int64_t count = 0;
    {
      COFFER_TRY(const Reader lease, database_.reader());
      count = page_count(lease.db());  // begins the snapshot
      // The next commit completes the list of pages for every commit in the snapshot.
      const auto next = queue_.probe();
      if (!next && next.error().slug != Slug::storage_full) return unexpected(next.error());
      pages = watch_.take();
      if (pages.size() > kLastMax) return false;
      bytes = read_pages(lease.db(), present(pages, count));
    }
    file_.write(present(pages, count), bytes);
    file_.cut(count * page_bytes_);
    total_ += static_cast<std::int64_t>(pages.size());
    if (!pages.empty()) advance(pages.size());
    return true;
  }

  /// Omits pages that the file does not have in this snapshot.
  static std::span<const std::uint32_t> present(std::span<const std::uint32_t> pages,
                                                std::int64_t count) {
    const auto end = std::ranges::upper_bound(pages, count);
    return pages.first(static_cast<std::size_t>(end - pages.begin()));
  }

  void advance(std::size_t pages) {
    done_ += static_cast<std::int64_t>(pages);
    progress_(done_ * page_bytes_, total_ * page_bytes_);
  }

  Database& database_;
  CommitQueue& queue_;
  ChangedPages::Watch watch_;
  PageFile file_;
  const CopyProgress& progress_;
  std::int64_t page_bytes_ = 0;
  std::int64_t done_ = 0;  // in pages, including those copied again
  std::int64_t total_ = 0;
};

}  // namespace

Result<void> copy_database(Database& database, CommitQueue& queue, const std::string& to,
                           const CopyProgress& progress) {
  drop_left_logs(to);
  COFFER_TRY_VOID(LiveCopy(database, queue, to, progress).run());
  leave_wal(to);
  return {};
}

}  // namespace coffer::store
