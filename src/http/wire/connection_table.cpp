#include "http/wire/connection_table.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "base/platform/descriptors.h"
#include "http/client_address.h"

namespace coffer::http {
namespace {

std::size_t reserve_for(std::size_t connections_max) {
  return std::clamp<std::size_t>(connections_max / 4, 64, 1'024);
}

constexpr std::int64_t kStayMs = 400;
// If there are more rejected connections, they are closed earlier to free descriptors.
constexpr std::size_t kLeavingMax = 256;
// Reads of 16 KiB each. A client that sends more at once may lose the response.
constexpr int kReadsMax = 8;

void discard(int fd) {
  std::array<char, 16 * 1024> sink;
  for (int i = 0; i < kReadsMax; ++i) {
    if (::recv(fd, sink.data(), sink.size(), MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace

ConnectionTable::ConnectionTable(std::size_t connections_max, std::size_t per_network_max)
    : connections_max_(connections_max),
      per_network_max_(per_network_max),
      size_(connections_max + reserve_for(connections_max)),
      blocks_((size_ + kBlock - 1) / kBlock) {}

ConnectionTable::~ConnectionTable() { close_rejected(std::numeric_limits<std::int64_t>::max()); }

void ConnectionTable::make_block(std::size_t index) {
  Block& block = blocks_[index / kBlock];
  block = std::make_unique<Connection[]>(kBlock);
  for (std::size_t i = 0; i < kBlock; ++i)
    block[i].set_index(static_cast<std::uint32_t>(index + i));
}

bool ConnectionTable::is_over_limit(const std::string& peer, const std::string& network) {
  const bool counted = per_network_max_ != 0 && !is_loopback(peer);
  return (counted && ++by_network_[network] > per_network_max_) || is_full();
}

Connection* ConnectionTable::open(int fd, std::string peer, std::int64_t now_ms,
                                  std::int64_t deadline_ms) {
  const std::string network = network_of(peer);
  const Lock lock(mutex_);
  const bool over_limit = is_over_limit(peer, network);
  if (over_limit && rejected_.load() >= size_ - connections_max_) {
    forget(network);
    return nullptr;
  }
  std::size_t index = used();
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else if (index % kBlock == 0) {
    make_block(index);
  }
  Connection& connection = at(index);
  connection.set_admitted(!over_limit);
  connection.open(fd, std::move(peer), now_ms, deadline_ms);
  (over_limit ? rejected_ : admitted_).fetch_add(1, std::memory_order_relaxed);
  if (index == used()) used_.store(index + 1, std::memory_order_release);
  return &connection;
}

void ConnectionTable::forget(const std::string& network) {
  if (const auto it = by_network_.find(network); it != by_network_.end() && --it->second == 0) {
    by_network_.erase(it);
  }
}

void ConnectionTable::release(Connection& connection) {
  const auto index = static_cast<std::uint32_t>(connection.token() >> 32);
  const std::string network = network_of(connection.peer());
  const bool admitted = connection.is_admitted();
  connection.close();
  const Lock lock(mutex_);
  forget(network);
  free_.push_back(index);
  (admitted ? admitted_ : rejected_).fetch_sub(1, std::memory_order_relaxed);
}

std::vector<std::uint64_t> ConnectionTable::first_to_close(std::size_t count,
                                                           std::int64_t idle_before_ms,
                                                           std::int64_t incomplete_before_ms) {
  std::vector<std::tuple<int, std::int64_t, std::uint64_t>> rows;  // order, since, token
  for (std::size_t i = 0; i < used(); ++i) {
    const Connection& connection = at(i);
    if (!connection.is_admitted() ||
        !connection.may_give_way(idle_before_ms, incomplete_before_ms)) {
      continue;
    }
    const std::int64_t idle_ms = connection.idle_since_ms();
    const int order = idle_ms == 0 ? 2 : connection.is_answered() ? 1 : 0;
    rows.emplace_back(order, idle_ms == 0 ? connection.incomplete_since_ms() : idle_ms,
                      connection.token());
  }
  const auto some = rows.begin() + static_cast<std::ptrdiff_t>(std::min(count, rows.size()));
  std::partial_sort(rows.begin(), some, rows.end());
  std::vector<std::uint64_t> out;
  for (auto it = some; it != rows.begin();) out.push_back(std::get<2>(*--it));
  return out;
}

void ConnectionTable::reject(int fd, std::string_view response, std::int64_t now_ms) {
  discard(fd);
  // The response fits into the buffer of a new connection, unless the peer is gone.
  static_cast<void>(::send(fd, response.data(), response.size(), MSG_DONTWAIT | kNoSignal));
  ::shutdown(fd, SHUT_WR);
  if (leaving_.size() >= kLeavingMax) close_rejected(leaving_.front().until_ms);
  leaving_.push_back({fd, now_ms + kStayMs});
}

void ConnectionTable::close_rejected(std::int64_t now_ms) {
  for (; !leaving_.empty() && leaving_.front().until_ms <= now_ms; leaving_.pop_front()) {
    discard(leaving_.front().fd);
    ::close(leaving_.front().fd);
  }
}

Connection* ConnectionTable::find(std::uint64_t token) {
  const std::uint64_t index = token >> 32;
  return index < used() ? &at(index) : nullptr;
}

}  // namespace coffer::http
