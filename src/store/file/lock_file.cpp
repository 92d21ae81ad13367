#include "store/file/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/files/folders.h"
#include "base/files/side_files.h"
#include "base/platform/durable.h"
#include "base/platform/process.h"
#include "base/text/shell_word.h"
#include "base/text/whole_number.h"
#include "store/file/foreign_file.h"

namespace coffer::store {
namespace {

constexpr int kReading = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
constexpr std::string_view kLedgerMark = "holds a ledger\n";
constexpr std::string_view kCommandMark = "command ";
constexpr std::array<std::pair<LastClose::Log, std::string_view>, 2> kLogMarks{{
    {LastClose::Log::present, "log present\n"},
    {LastClose::Log::absent, "log absent\n"},
}};

LastClose parse(const std::string& text) {
  LastClose out{.ledger = text.find(kLedgerMark) != std::string::npos};
  for (const auto& [log, mark] : kLogMarks) {
    if (text.find(mark) != std::string::npos) out.log = log;
  }
  return out;
}

/// The process that has locked `file`, and its command. If that process has ended, another one has
/// the lock without having written itself into the file, and is unknown.
LockState parse_holder(std::string_view text, std::string file) {
  LockState out{.locked = true, .file = std::move(file)};
  const auto process = whole_number<int>(text.substr(0, text.find('\n'))).value_or(0);
  if (!process_exists(process)) return out;
  out.process = process;
  const auto mark = text.find(kCommandMark);
  if (mark == std::string_view::npos) return out;
  const std::string_view command = text.substr(mark + kCommandMark.size());
  out.command = command.substr(0, command.find('\n'));
  return out;
}

std::string format(const LastClose& state, const std::string& command) {
  std::string text = std::to_string(::getpid()) + "\n";
  if (state.ledger) text += kLedgerMark;
  for (const auto& [log, mark] : kLogMarks) {
    if (log == state.log) text += mark;
  }
  if (!command.empty()) text.append(kCommandMark).append(command).append("\n");
  return text;
}

/// Whether a journal contains no page, because the database had none before: a process was killed
/// while it created the database.
bool is_of_new(const std::string& journal) {
  constexpr std::streamoff kPagesBefore = 16;
  std::ifstream file(journal, std::ios::binary);
  char pages[4] = {1};
  return file.seekg(kPagesBefore).read(pages, sizeof pages) &&
         std::string_view(pages, sizeof pages) == std::string_view("\0\0\0\0", sizeof pages);
}

/// The name of a file beside an empty or missing database that SQLite would delete or overwrite.
/// Otherwise empty.
std::string left_beside_empty(const std::string& database) {
  if (file_bytes(database) > 0) return {};
  for (const char* ending : kSqliteEndings) {
    const std::string file = database + ending;
    if (file_bytes(file) == 0) continue;
    if (ending == std::string_view(kJournalEnding) && is_of_new(file)) continue;
    return file;
  }
  return {};
}

}  // namespace

std::string described(const LockState& holder) {
  if (holder.process == 0)
    return "another program (find it with fuser " + shell_word(holder.file) + ")";
  std::string text = "another coffer (process " + std::to_string(holder.process);
  if (!holder.command.empty()) text += ", coffer " + holder.command;
  return text + ")";
}

LockFile::~LockFile() {
  if (!created_.empty() && !state_.ledger && is_at(created_)) ::unlink(created_.c_str());
}

std::unique_ptr<LockFile> LockFile::open_at(const std::string& file, std::string_view command) {
  bool created = false;
  const int fd = open_or_create(file, created);
  if (fd < 0) return nullptr;
  std::unique_ptr<LockFile> lock(new LockFile(fd, command));
  if (created) lock->created_ = file;
  return lock;
}

/// Whether another process has not removed or replaced the file since it was opened.
bool LockFile::is_at(const std::string& file) const {
  struct stat open {};
  struct stat there {};
  return ::fstat(fd_.get(), &open) == 0 && ::lstat(file.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

std::unique_ptr<LockFile> LockFile::take(const std::string& path, std::string_view command,
                                         LockState& holder) {
  const std::string file = path + kLockEnding;
  std::unique_ptr<LockFile> lock;
  bool locked = false;
  do {
    lock = open_at(file, command);
    if (!lock) return nullptr;
    locked = ::flock(lock->fd_.get(), LOCK_EX | LOCK_NB) == 0;
  } while (locked && !lock->is_at(file));
  int error = errno;
  const std::string text = lock->read();
  // Changes only the process. The state that the last process left is checked by the caller.
  if (locked && lock->write(parse(text))) return lock;
  if (locked) {
    error = errno;
  } else {
    holder = parse_holder(text, file);
    lock->created_.clear();  // it belongs to the holder
  }
  lock.reset();
  errno = error;
  return nullptr;
}

std::string LockFile::read() const {
  char text[256];
  const ssize_t size = ::pread(fd_.get(), text, sizeof text, 0);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

LastClose last_close(const std::string& path) {
  return parse(LockFile(::open((path + kLockEnding).c_str(), kReading)).read());
}

LockState lock_state(const std::string& path) {
  const std::string name = path + kLockEnding;
  const LockFile file(::open(name.c_str(), kReading));
  if (!file.fd_.is_open()) return {.readable = errno != EACCES && errno != EPERM};
  // A shared lock, released immediately, so that a server that starts now does not fail.
  const bool locked = ::flock(file.fd_.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!locked) return {};
  return parse_holder(file.read(), name);
}

// Overwrites the file in place, so that it also works on a full disk. Synchronises it, because a
// power cut must not leave an older state. A mixture of both texts is one of the two states, and
// both are true at this moment.
bool LockFile::write(const LastClose& state) {
  const std::string text = format(state, command_);
  const auto size = static_cast<ssize_t>(text.size());
  if (::pwrite(fd_.get(), text.data(), text.size(), 0) != size ||
      ::ftruncate(fd_.get(), size) != 0 || !sync_file(fd_.get())) {
    return false;
  }
  state_ = state;
  return true;
}

std::string ledger_fault(const std::string& database, const LastClose& last) {
  if (!last.ledger || holds_tables(database)) return {};
  return database +
         " is empty or missing, but it contained a ledger. If it was moved, move it back together "
         "with " +
         database + kLogEnding +
         "; otherwise, restore a backup. To start with an empty ledger, remove " + database +
         kLockEnding + ".";
}

std::string log_fault(const std::string& database, const LastClose& last) {
  if (const std::string file = left_beside_empty(database); !file.empty()) {
    return database + " is empty or missing, but " + file +
           " exists and may belong to a ledger. If the database was moved, move it back; "
           "otherwise, move " +
           file + " away, and restore a backup.";
  }
  const std::string log = database + kLogEnding;
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(log, missing);
  if (last.log == LastClose::Log::present && missing) {
    // Another program that applies the log when it closes the database deletes both files.
    if (!std::filesystem::exists(database + kLogIndexEnding, missing)) return {};
    return database + " was not closed by its last process, and " + log +
           ", which contains the last payments, is missing. Put it back, or restore a backup. To "
           "continue without those payments anyway, remove " +
           database + kLogIndexEnding + ".";
  }
  // A program that has written since then leaves its index too.
  if (last.log == LastClose::Log::absent && !missing && bytes > 0 &&
      !std::filesystem::exists(database + kLogIndexEnding, missing)) {
    return log + " appeared after the last process had closed " + database +
           ". If it belongs to another state, move it away, because it would undo later payments. "
           "If both files were put in place together, remove " +
           database + kLockEnding + ".";
  }
  return {};
}

std::string log_doubt(const std::string& database, const LastClose& last) {
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(database + kLogEnding, missing);
  if (last.log == LastClose::Log::present && missing) {
    return "the log that the last process left is gone: another program has applied it, or someone "
           "has deleted it together with its payments";
  }
  if (last.log == LastClose::Log::absent && !missing && bytes > 0) {
    return "a log appeared after the last process had closed the database: another program has "
           "written to it, or someone has put the log of an earlier state in its place, which "
           "undoes later payments";
  }
  return {};
}

}  // namespace coffer::store
