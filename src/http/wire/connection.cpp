#include "http/wire/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/platform/descriptors.h"

namespace coffer::http {
namespace {

constexpr std::uint64_t kFree = 0;
constexpr std::uint64_t kParked = 1;
constexpr std::uint64_t kBusy = 2;
constexpr std::uint64_t kNoted = 3;  // busy, with activity since
constexpr std::uint64_t kStateMask = 3;

constexpr std::size_t kReadChunk = 16 * 1024;
// An idle connection keeps at most this buffer; the buffer of a large body is freed at once.
constexpr std::size_t kBufferKept = 4 * 1024;

std::uint32_t generation_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 2); }

void trim(std::string& buffer) {
  if (buffer.empty() && buffer.capacity() > kBufferKept) std::string().swap(buffer);
}

}  // namespace

// The state machine of ownership. Transitions:
//   parked -> busy        claim, claim_parked: the caller becomes the owner (acquire)
//   busy   -> noted       claim: the owner will check again
//   busy   -> parked      park (release)
//   noted  -> busy        park, which then returns false
//   free   -> parked      open
//   busy, noted -> free   close, with the next generation

Connection::Claim Connection::claim(std::uint64_t token, bool hang_up, bool is_dead) {
  std::uint64_t word = word_.load(std::memory_order_acquire);
  for (;;) {
    if (generation_of(word) != static_cast<std::uint32_t>(token)) return Claim::stale;
    const std::uint64_t state = word & kStateMask;
    if (state == kFree) return Claim::stale;
    // Only the thread that claims opens connections, so the event cannot mark a later one.
    if (is_dead) dead_.store(true, std::memory_order_relaxed);
    if (state == kNoted) return Claim::noted;
    const std::uint64_t next = (word & ~kStateMask) | (state == kParked ? kBusy : kNoted);
    if (!word_.compare_exchange_weak(word, next, std::memory_order_acq_rel)) continue;
    if (state == kBusy) return Claim::noted;
    channel.note_event(hang_up);
    return Claim::owned;
  }
}

bool Connection::claim_parked() {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  if ((word & kStateMask) != kParked) return false;
  return word_.compare_exchange_strong(word, (word & ~kStateMask) | kBusy,
                                       std::memory_order_acq_rel);
}

bool Connection::park() {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  if ((word & kStateMask) == kBusy &&
      word_.compare_exchange_strong(word, (word & ~kStateMask) | kParked,
                                    std::memory_order_acq_rel)) {
    return true;
  }
  // The state is `noted`, which only the owner changes.
  word_.exchange((word & ~kStateMask) | kBusy, std::memory_order_acq_rel);
  channel.look_again();
  return false;
}

std::uint64_t Connection::token() const {
  const std::uint64_t word = word_.load(std::memory_order_relaxed);
  return static_cast<std::uint64_t>(index_) << 32 | generation_of(word);
}

void Connection::open(int fd, std::string peer, std::int64_t now_ms, std::int64_t deadline) {
  channel.open(fd);
  peer_ = std::move(peer);
  set_answered(false);
  dead_.store(false, std::memory_order_relaxed);
  set_idle_since_ms(now_ms);
  set_deadline_ms(deadline);
  const std::uint64_t word = word_.load(std::memory_order_relaxed);
  word_.store((word & ~kStateMask) | kParked, std::memory_order_release);
}

void Connection::close() {
  channel.close();
  peer_.clear();
  certificate_.clear();
  http = Http{};
  set_idle_since_ms(0);
  set_incomplete_since_ms(0);
  const std::uint64_t word = word_.load(std::memory_order_relaxed);
  const std::uint32_t next = generation_of(word) + 1;
  word_.store(static_cast<std::uint64_t>(next) << 2 | kFree, std::memory_order_release);
}

// --- Channel ------------------------------------------------------------------------------------

void Channel::close() {
  tls_ = TlsSession();
  ::close(fd_);
  fd_ = -1;
  readable_ = thorough_ = broken_ = reads_much_ = false;
  input_.clear();
  output_.clear();
  trim(input_);
  trim(output_);
  sent_ = 0;
  sent_total_ = 0;
}

void Channel::note_event(bool hang_up) {
  readable_ = true;
  thorough_ = thorough_ || hang_up;
}

IoResult Channel::receive_some(char* out, std::size_t room) {
  if (tls_) return tls_.read(out, room);
  for (;;) {
    const ssize_t count = ::recv(fd_, out, room, MSG_DONTWAIT);
    if (count > 0) return {IoState::done, static_cast<std::size_t>(count)};
    if (count == 0) return {IoState::closed};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoState::want_read};
    if (errno != EINTR) return {IoState::failed};
  }
}

IoResult Channel::send_some(const char* data, std::size_t size) {
  if (tls_) return tls_.write(data, size);
  for (;;) {
    const ssize_t count = ::send(fd_, data, size, MSG_DONTWAIT | kNoSignal);
    if (count >= 0) return {IoState::done, static_cast<std::size_t>(count)};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoState::want_write};
    if (errno != EINTR) return {IoState::failed};
  }
}

IoState Channel::note(IoResult result, std::size_t room) {
  if (result.state == IoState::want_read || result.state == IoState::want_write) {
    readable_ = false;
    thorough_ = false;
  } else if (result.state == IoState::failed) {
    broken_ = true;
  } else if (result.state == IoState::done && result.bytes < room && !thorough_ && !tls_) {
    // The socket is empty. Later data, including the end of the stream, causes a new event.
    readable_ = false;
  }
  return result.state;
}

IoState Channel::receive(std::size_t count) {
  std::array<char, kReadChunk> chunk;
  const std::size_t room = std::min(count, chunk.size());
  const IoResult result = receive_some(chunk.data(), room);
  if (result.state == IoState::done) input_.append(chunk.data(), result.bytes);
  return note(result, room);
}

IoResult Channel::discard() {
  std::array<char, kReadChunk> chunk;
  const IoResult result = receive_some(chunk.data(), chunk.size());
  return {note(result, chunk.size()), result.bytes};
}

void Channel::consume(std::size_t count) {
  input_.erase(0, count);
  trim(input_);
}

std::string Channel::take_input(std::size_t count) {
  if (count == input_.size()) return std::exchange(input_, {});
  std::string out = input_.substr(0, count);
  consume(count);
  return out;
}

void Channel::join_chunks(ChunkFramer& framer) {
  // In place and in one pass, so that a body with many small chunks needs no additional memory or
  // time.
  auto end = static_cast<std::size_t>(framer.body_bytes());
  std::size_t at = end;
  for (;;) {
    const auto part = framer.next(std::string_view(input_).substr(at));
    if (part.framing + part.data == 0) break;
    at += part.framing;
    std::copy_n(input_.data() + at, part.data, input_.data() + end);
    at += part.data;
    end += part.data;
  }
  input_.erase(end, at - end);
}

bool Channel::send(std::string_view data) {
  if (unsent() == 0) {
    while (!data.empty()) {
      const IoResult result = send_some(data.data(), data.size());
      if (result.state == IoState::want_write || result.state == IoState::want_read) break;
      if (result.state != IoState::done) {
        broken_ = true;
        return false;
      }
      sent_total_ += result.bytes;
      data.remove_prefix(result.bytes);
    }
  }
  output_.append(data);
  return !broken_;
}

IoState Channel::flush() {
  while (sent_ < output_.size()) {
    const IoResult result = send_some(output_.data() + sent_, output_.size() - sent_);
    if (result.state != IoState::done) {
      if (result.state == IoState::failed) broken_ = true;
      return result.state;
    }
    sent_ += result.bytes;
    sent_total_ += result.bytes;
  }
  output_.clear();
  sent_ = 0;
  trim(output_);
  return IoState::done;
}

void Channel::read_much(std::size_t size) {
  input_.reserve(size);
  if (std::exchange(reads_much_, true)) return;
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &kBodyBufferBytes, sizeof kBodyBufferBytes);
}

bool Channel::is_writable() const {
  pollfd wanted{fd_, POLLOUT, 0};
  return ::poll(&wanted, 1, 0) == 1;
}

void Channel::end_output() {
  if (!broken_) tls_.close_notify();
  ::shutdown(fd_, SHUT_WR);
}

}  // namespace coffer::http
