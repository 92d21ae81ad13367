// All connections of the server, in slots that are never freed: a late event may find a slot of
// another generation, but never freed memory. Slots are allocated in blocks when needed, so an idle
// server has few.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "http/wire/connection.h"

namespace coffer::http {

class ConnectionTable {
 public:
  /// A few slots beyond `connections_max` are reserved for connections that are rejected as
  /// overload. They do not count towards `connections_max`.
  ConnectionTable(std::size_t connections_max, std::size_t per_network_max);
  ~ConnectionTable();
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  /// For the poller. Puts `fd` into a free slot, parked; returns nullptr if none is free.
  /// The connection is not admitted if a limit is exceeded.
  Connection* open(int fd, std::string peer, std::int64_t now_ms, std::int64_t deadline_ms);
  /// For the poller. Sends `response` to a connection that got no slot, and takes over
  /// `fd`. The connection stays open briefly: closing it while its request still arrives would send
  /// a reset, which can overtake the response.
  void reject(int fd, std::string_view response, std::int64_t now_ms);
  /// Closes rejected connections whose time is over.
  void close_rejected(std::int64_t now_ms);
  /// For the owner: closes the connection and frees its slot.
  void release(Connection& connection);
  /// nullptr for a token of another table.
  Connection* find(std::uint64_t token);

  /// Slots in use at any time so far are [0, used()).
  std::size_t used() const { return used_.load(std::memory_order_acquire); }
  Connection& at(std::size_t index) { return blocks_[index / kBlock][index % kBlock]; }
  bool is_full() const { return admitted() >= connections_max_; }
  /// For the poller. Tokens of at most `count` connections that it may close to make room for new
  /// ones; the first one to close is the last element. The order is: idle without a response so
  /// far, idle, incomplete request; then those that have waited for longest. The state may change
  /// afterwards; `claim` verifies it.
  std::vector<std::uint64_t> first_to_close(std::size_t count, std::int64_t idle_before_ms,
                                            std::int64_t incomplete_before_ms);
  /// Number of open connections, including those that are rejected.
  std::size_t count() const { return admitted() + rejected_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kBlock = 64;
  using Block = std::unique_ptr<Connection[]>;

  std::size_t admitted() const { return admitted_.load(std::memory_order_relaxed); }
  void make_block(std::size_t index) COFFER_REQUIRES(mutex_);
  void forget(const std::string& network) COFFER_REQUIRES(mutex_);
  bool is_over_limit(const std::string& peer, const std::string& network) COFFER_REQUIRES(mutex_);

  const std::size_t connections_max_;
  const std::size_t per_network_max_;
  const std::size_t size_;
  std::vector<Block> blocks_;  // written before `used_` is increased
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> admitted_{0};
  std::atomic<std::size_t> rejected_{0};
  Mutex mutex_;
  std::vector<std::uint32_t> free_ COFFER_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::size_t> by_network_ COFFER_GUARDED_BY(mutex_);
  struct Leaving {
    int fd;
    std::int64_t until_ms;
  };
  std::deque<Leaving> leaving_;  // rejected connections
};

}  // namespace coffer::http
