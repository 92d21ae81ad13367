#include "store/replication/follower_file.h"

#include <algorithm>
#include <utility>

#include "store/file/connection.h"

namespace coffer::store {
namespace {

constexpr const char* kReadPage = "SELECT data FROM sqlite_dbpage WHERE pgno = ?";
constexpr const char* kWritePage = "INSERT INTO sqlite_dbpage (pgno, data) VALUES (?, ?)";
// Drops this page and all after it.
constexpr const char* kDropPages = "INSERT INTO sqlite_dbpage (pgno, data) VALUES (?, NULL)";
constexpr const char* kWriteFirstAndDrop =
    "INSERT INTO sqlite_dbpage (pgno, data) VALUES (1, ?), (?, NULL)";
constexpr const char* kCountPages = "PRAGMA page_count";

std::string read_page(Connection& db, std::uint32_t page) {
  Query query(db, kReadPage, page);
  return query.step() ? query.blob(0) : std::string();
}

/// Without those that this transaction has written beyond the end.
std::uint32_t count_pages(Connection& db) {
  Query query(db, kCountPages);
  return query.step() ? static_cast<std::uint32_t>(query.integer(0)) : 0;
}

void write_page_of(Connection& db, const PageImage& image) {
  db.run(kWritePage, image.number, Blob{image.bytes});
}

}  // namespace

FollowerFile::FollowerFile(std::string path) : path_(std::move(path)) {}
FollowerFile::~FollowerFile() = default;

Result<void> FollowerFile::apply(const LogEntry& entry, std::string content) {
  if (entry.kind == EntryKind::takeover) parts_.clear();
  if (entry.kind != EntryKind::data) return {};
  const auto head = read_part_head(content);
  parts_.push_back(std::move(content));
  if (head && !head->is_last) return {};
  const bool equal = head && write_parts(*head);
  parts_.clear();
  // SQLite does not notice that pages have changed below the tables that it keeps in memory.
  if (db_) db_->execute("PRAGMA shrink_memory");
  if (equal) return {};
  return unexpected(Slug::validation_failed, "Entry " + std::to_string(entry.at.seq) +
                                                 " of the log cannot be applied: " + path_ +
                                                 " differs from the leader's file.");
}

bool FollowerFile::write_parts(const PartHead& head) {
  if (!db_) open(head.page_size);
  Transaction transaction(*db_);
  const std::uint32_t before = count_pages(*db_);
  std::uint32_t last = before;
  std::string first;
  const FollowerPages pages{[this](std::uint32_t page) { return read_page(*db_, page); },
                            [&](const PageImage& image) {
                              last = std::max(last, image.number);
                              if (image.number == 1) {
                                first = image.bytes;
                              } else {
                                write_page_of(*db_, image);
                              }
                            }};
  for (const std::string& part : parts_) {
    if (!decoder_.decode(part, pages)) return false;
  }
  // A page that the leader has allocated and freed in one commit was not written.
  if (last < head.file_pages) {
    write_page_of(*db_, {head.file_pages, std::string(head.page_size, '\0')});
  }
  // Page 1 is last, and in one statement with the end of the file: it may announce other tables,
  // and SQLite would read them before the next statement, when half of their pages are written.
  const std::uint32_t beyond = head.file_pages + 1;
  if (before < beyond) {
    if (!first.empty()) write_page_of(*db_, {1, first});
  } else if (first.empty()) {
    db_->run(kDropPages, beyond);
  } else {
    db_->run(kWriteFirstAndDrop, Blob{first}, beyond);
  }
  transaction.commit();
  return true;
}

void FollowerFile::open(std::size_t page_size) {
  auto db = std::make_unique<Connection>(path_, OpenMode::read_write);
  db->set_busy_wait(kBusyWaitMs);
  db->keep_log_on_close();  // as the lock file says (store/file/lock_file.h)
  // A power cut may undo the last commits here, as whole ones; they are in the log.
  db->execute("PRAGMA page_size=" + std::to_string(page_size) +
              "; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=0;"
              "PRAGMA journal_size_limit=67108864");
  db_ = std::move(db);
}

}  // namespace coffer::store
