#include "http/wire/connection_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "http/client_address.h"

namespace coffer::http {
namespace {

std::size_t reserve_for(std::size_t connections_max) {
  return std::clamp<std::size_t>(connections_max / 4, 64, 1'024);
}

/// The tokens of the first `count` rows in order, with the first one last.
template <class Row>
std::vector<std::uint64_t> first_tokens(std::vector<Row>& rows, std::size_t count) {
  const auto some = rows.begin() + static_cast<std::ptrdiff_t>(std::min(count, rows.size()));
  std::partial_sort(rows.begin(), some, rows.end());
  std::vector<std::uint64_t> out;
  for (auto it = some; it != rows.begin();) {
    out.push_back(std::get<std::uint64_t>(*--it));
  }
  return out;
}

}  // namespace

ConnectionTable::ConnectionTable(std::size_t connections_max, std::size_t per_network_max)
    : connections_max_(connections_max),
      per_network_max_(per_network_max),
      size_(connections_max + reserve_for(connections_max)),
      blocks_((size_ + kBlock - 1) / kBlock) {}

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
  connection.set_admission(std::hash<std::string>()(network), !over_limit);
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

std::vector<std::uint64_t> ConnectionTable::idle_for_longest(std::size_t count,
                                                             std::int64_t opened_before_ms,
                                                             std::int64_t answered_before_ms) {
  std::vector<std::tuple<bool, std::int64_t, std::uint64_t>> idle;
  for (std::size_t i = 0; i < used(); ++i) {
    const std::int64_t since_ms = at(i).is_admitted() ? at(i).idle_since_ms() : 0;
    const bool answered = at(i).is_answered();
    if (since_ms == 0 || since_ms > (answered ? answered_before_ms : opened_before_ms)) continue;
    idle.emplace_back(answered, since_ms, at(i).token());
  }
  return first_tokens(idle, count);
}

std::vector<std::uint64_t> ConnectionTable::incomplete_for_longest(std::size_t count,
                                                                   std::int64_t before_ms) {
  using Row = std::tuple<std::int64_t, std::uint64_t>;
  std::unordered_map<std::size_t, std::vector<Row>> by_network;
  const std::vector<Row>* most = nullptr;
  for (std::size_t i = 0; i < used(); ++i) {
    const std::int64_t since_ms = at(i).is_admitted() ? at(i).incomplete_since_ms() : 0;
    if (since_ms == 0 || since_ms > before_ms) continue;
    auto& rows = by_network[at(i).network_number()];
    rows.emplace_back(since_ms, at(i).token());
    if (most == nullptr || rows.size() > most->size()) most = &rows;
  }
  std::vector<Row> rows;
  if (most != nullptr) rows = *most;
  return first_tokens(rows, count);
}

Connection* ConnectionTable::find(std::uint64_t token) {
  const std::uint64_t index = token >> 32;
  return index < used() ? &at(index) : nullptr;
}

}  // namespace coffer::http
