// All connections of the server in slots that are made once and never freed, so that a late event
// can at worst meet a slot of another generation, never freed memory. They are made in blocks when
// they are first needed: an idle server has few.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "http/wire/connection.h"

namespace coffer::http {

class ConnectionTable {
 public:
  /// A few slots more than `connections_max` are kept for those that are told of the overload.
  ConnectionTable(std::size_t connections_max, std::size_t per_address_max);

  /// The thread that accepts. Puts `fd` into a free slot, parked; nullptr when there is none.
  /// `http.over_limit` is set when a limit is passed.
  Connection* open(int fd, std::string peer, std::int64_t now_ms, std::int64_t deadline_ms);
  /// The owner: closes the connection and frees its slot.
  void release(Connection& connection);
  /// nullptr for a token that is none of this table.
  Connection* find(std::uint64_t token);

  /// Slots that have ever been used are [0, used()).
  std::size_t used() const { return used_.load(std::memory_order_acquire); }
  Connection& at(std::size_t index) { return blocks_[index / kBlock][index % kBlock]; }
  bool is_full() const { return count() >= connections_max_; }
  /// Tokens of connections that wait for the first byte of a request, the first one to give way
  /// last; at most `count`. Those that never had a response come first, then the longest idle.
  /// Later than these times, one was opened or had a response so lately that it is in use. Any
  /// thread; what they are a moment later, `claim` tells.
  std::vector<std::uint64_t> idle_for_longest(std::size_t count, std::int64_t opened_before_ms,
                                              std::int64_t answered_before_ms);
  /// Open connections.
  std::size_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kBlock = 64;
  using Block = std::unique_ptr<Connection[]>;

  void make_block(std::size_t index) COFFER_REQUIRES(mutex_);
  bool is_over_limit(const std::string& peer) COFFER_REQUIRES(mutex_);

  const std::size_t connections_max_;
  const std::size_t per_address_max_;
  const std::size_t size_;
  std::vector<Block> blocks_;  // written before `used_` says that they are there
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> count_{0};
  Mutex mutex_;
  std::vector<std::uint32_t> free_ COFFER_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::size_t> by_address_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::http
