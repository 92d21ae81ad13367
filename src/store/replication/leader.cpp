#include "store/replication/leader.h"

#include <sqlite3.h>

#include <utility>

#include "base/fault.h"
#include "store/file/connection.h"
#include "store/replication/file_position.h"

namespace coffer::store {

Leader::Leader(ReplicaLog& log, const EntryKeys& keys, Random& random, const LogTail& tail,
               LeaderOptions options)
    : log_(log),
      random_(random),
      options_(std::move(options)),
      encoder_(options_.base_bytes),
      chain_(keys, tail),
      seq_(tail.at.seq),
      epoch_(tail.at.epoch) {}

Leader::~Leader() {
  if (writer_ == nullptr) return;
  writer_->before_commit({});
  tap_log(writer_->handle(), nullptr);
}

void Leader::follow(Connection& writer) {
  writer_ = &writer;
  tap_log(writer.handle(), this);
  writer.before_commit([this] { store_position(); });
}

void Leader::store_position() {
  const LogTail& tail = chain_.tail();
  stored_seq_ = tail.at.seq + 1;
  write_position(*writer_, {{stored_seq_, tail.at.epoch}, tail.digest});
}

void Leader::heartbeat() {
  append({chain_.append(EntryKind::heartbeat, {}, random_)}, [] {});
}

int Leader::synchronise(const std::function<int()>& synchronise) {
  if (!frames_.holds_commit()) return synchronise();
  std::string fault;
  if (!frames_.is_complete()) fault = "another program has written to the database";
  if (stored_seq_ != chain_.tail().at.seq + 1) fault = "a commit does not contain its position";
  if (!fault.empty()) {
    options_.end({AppendResult::unknown, fault});
    return SQLITE_IOERR_FSYNC;
  }
  std::vector<LogEntry> entries;
  for (const std::string& part : encoder_.encode(frames_.commit())) {
    entries.push_back(chain_.append(EntryKind::data, part, random_));
  }
  int code = SQLITE_IOERR_FSYNC;
  COFFER_FAULT("log.before");
  const bool stored = append(entries, [&] {
    COFFER_FAULT("log.sent");
    code = synchronise();
  });
  COFFER_FAULT("log.after");
  if (!stored) return SQLITE_IOERR_FSYNC;
  frames_.begin_next();
  return code;
}

bool Leader::append(const std::vector<LogEntry>& entries, const std::function<void()>& meanwhile) {
  const Appended out = log_.append(entries, meanwhile);
  if (out.result != AppendResult::stored) {
    options_.end(out);
    return false;
  }
  seq_ = entries.back().at.seq;
  return true;
}

}  // namespace coffer::store
