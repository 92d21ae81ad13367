// One accepted connection: its ownership, its bytes in both directions, and its HTTP state.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/gate.h"
#include "http/tls.h"
#include "http/wire/chunk_framer.h"
#include "http/wire/memory_budget.h"

namespace coffer::http {

/// The receive buffer, which the kernel doubles: the amount that it keeps of unread requests.
constexpr int kReceiveBufferBytes = 16 * 1024;
/// The receive buffer for a large body, of which about this many bytes arrive per round trip.
constexpr int kBodyBufferBytes = 64 * 1024;

/// What the connection waits for.
enum class Phase {
  handshake,  // TLS
  header,     // also between two requests
  body,       // the header has passed the gate
  writing,    // the rest of a response that the socket did not accept at once
  // The response was sent and the output closed. Further input is discarded, because unread input
  // would cause a reset that destroys the response.
  lingering,
};

enum class Timer { none, idle, header, body, writing, lingering };

/// The bytes of a connection in both directions, over TCP or TLS. For the owner of the connection.
class Channel {
 public:
  /// Takes over `fd` (non-blocking).
  void open(int fd) { fd_ = fd; }
  /// Closes it and resets all state for the next `open`.
  void close();
  int fd() const { return fd_; }
  void start_tls(TlsSession session) { tls_ = std::move(session); }
  TlsSession& tls() { return tls_; }

  /// Something has arrived. `hang_up`: the peer has closed its side.
  void note_event(bool hang_up);
  /// Makes the owner check again even without an event.
  void look_again() { readable_ = thorough_ = true; }
  /// False if no more data can arrive before the next event.
  bool may_be_readable() const { return readable_; }
  /// Appends at most `count` received bytes to `input`. `done` means that bytes were appended.
  IoState receive(std::size_t count);
  /// Reads and discards received bytes; returns their number and the same states as `receive`.
  IoResult discard();
  const std::string& input() const { return input_; }
  /// Permanently switches to large reads without pauses, and reserves space for an input of `size`
  /// bytes, so that the buffer is not doubled while it grows. Permanent, because shrinking the
  /// receive window loses data in flight.
  void read_much(std::size_t size);
  /// Removes the first `count` bytes of the input. Frees a large buffer.
  void consume(std::size_t count);
  /// Removes and returns them.
  std::string take_input(std::size_t count);
  /// Joins the chunks of a body at the beginning of the input and removes their framing, so that
  /// many small chunks use no additional memory. The part that `framer` has processed is already
  /// joined.
  void join_chunks(ChunkFramer& framer);

  /// Sends what the socket accepts and keeps the rest. Returns false if the connection is broken.
  bool send(std::string_view data);
  /// Keeps the data for later without sending it.
  void buffer(std::string_view data) { output_.append(data); }
  std::size_t unsent() const { return output_.size() - sent_; }
  /// Whether nearly all sent data has left this machine, that is, whether the socket accepts more.
  bool is_writable() const;
  IoState flush();
  /// Bytes that the socket has accepted since `open`.
  std::uint64_t sent_total() const { return sent_total_; }
  /// Ends the output. The peer sees the end of the stream, and `close_notify` under TLS.
  void end_output();

 private:
  IoResult receive_some(char* out, std::size_t room);
  IoResult send_some(const char* data, std::size_t size);
  IoState note(IoResult result, std::size_t room);

  int fd_ = -1;
  bool readable_ = false;
  bool thorough_ = false;  // a short read does not mean that all data was read
  bool broken_ = false;
  bool reads_much_ = false;
  TlsSession tls_;
  std::string input_;
  std::string output_;
  std::size_t sent_ = 0;
  std::uint64_t sent_total_ = 0;
};

/// A slot of the ConnectionTable, used for one connection after another.
///
/// A connection is either parked or owned by exactly one thread. When something arrives, the poller
/// calls `claim`: it becomes the owner, or the worker that owns the connection is told to check
/// again before it parks. No event is lost, no lock is needed, and re-arming costs no system call.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // --- Poller ---

  enum class Claim { owned, noted, stale };
  /// For an event of the connection with this `token`; `stale` if that connection is closed.
  Claim claim(std::uint64_t token, bool hang_up, bool is_dead = false);
  /// For the timer and the shutdown: takes ownership of a parked connection of any generation.
  bool claim_parked();
  std::uint64_t token() const;
  std::int64_t deadline_ms() const { return deadline_ms_.load(std::memory_order_relaxed); }
  /// The monotonic time since which it waits for the first byte of a request, or for the peer to
  /// close it; 0: it does not wait.
  std::int64_t idle_since_ms() const { return idle_since_ms_.load(std::memory_order_relaxed); }
  /// The monotonic time since which it waits for the rest of a request; 0: it does not wait.
  std::int64_t incomplete_since_ms() const {
    return incomplete_since_ms_.load(std::memory_order_relaxed);
  }
  /// Whether it had a response before it became idle.
  bool is_answered() const { return answered_.load(std::memory_order_relaxed); }
  /// Whether it has waited since before one of these times, and can be closed for a new one.
  bool may_give_way(std::int64_t idle_before_ms, std::int64_t incomplete_before_ms) const {
    const auto is_before = [](std::int64_t since_ms, std::int64_t before_ms) {
      return since_ms != 0 && since_ms <= before_ms;
    };
    return is_before(idle_since_ms(), idle_before_ms) ||
           is_before(incomplete_since_ms(), incomplete_before_ms);
  }

  void set_index(std::uint32_t index) { index_ = index; }
  void set_admitted(bool admitted) { admitted_ = admitted; }
  /// Takes over `fd` (non-blocking). The connection is parked afterwards.
  void open(int fd, std::string peer, std::int64_t now_ms, std::int64_t deadline);

  // --- Owner ---

  /// Whether the peer is known to have reset the connection, so that it receives nothing any more.
  bool is_dead() const { return dead_.load(std::memory_order_relaxed); }
  /// Returns false if there was activity in the meantime; the caller then remains the owner.
  bool park();
  /// Closes the connection and resets all state for the next `open`.
  void close();

  /// False if the connection was accepted only to be rejected. Also for the poller.
  bool is_admitted() const { return admitted_; }
  void set_idle_since_ms(std::int64_t at) { idle_since_ms_.store(at, std::memory_order_relaxed); }
  void set_incomplete_since_ms(std::int64_t at) {
    incomplete_since_ms_.store(at, std::memory_order_relaxed);
  }
  void set_answered(bool answered) { answered_.store(answered, std::memory_order_relaxed); }
  void set_deadline_ms(std::int64_t at) { deadline_ms_.store(at, std::memory_order_relaxed); }
  const std::string& peer() const { return peer_; }
  /// Fingerprint of the client's certificate; see Request::client_certificate.
  const std::string& certificate() const { return certificate_; }
  /// Call this when the handshake is complete.
  void note_certificate() { certificate_ = channel.tls().client_certificate(); }

  Channel channel;

  struct Http {
    Phase phase = Phase::header;
    Timer timer = Timer::header;  // the purpose of the deadline
    GateProgress progress;
    std::optional<RequestHead> head;
    Request request;                    // from `head`, without its body
    Lane lane = Lane::system;           // lane of `head`, then of the request being served
    LaneCaller caller;                  // likewise
    std::optional<ChunkFramer> chunks;  // while a chunked body is incomplete
    std::size_t served = 0;             // number of requests so far
    Reservation body;         // for a large body, or one from a caller without accepted credentials
    Reservation unread;       // while the client does not read its responses
    bool http_1_0 = false;    // of the present request
    bool keep_alive = false;  // after the present response
    bool linger = false;      // the client may still be sending when it gets the response
    bool watches_writing = false;
    std::uint64_t sent_before = 0;  // sent_total() when the write timeout was set
    // Time waited since the connection was last idle, not counting the current wait; start of the
    // current wait (0: none); sent_total() at the first wait.
    std::int64_t waited_ms = 0;
    std::int64_t waits_since_ms = 0;
    std::optional<std::uint64_t> sent_at_first_wait;
    std::size_t discarded = 0;  // while lingering
  };
  Http http;

 private:
  // generation << 2 | state. The generation distinguishes events of this connection from events of
  // an earlier connection in the same slot.
  std::atomic<std::uint64_t> word_{0};
  std::atomic<std::int64_t> deadline_ms_{0};
  std::atomic<std::int64_t> idle_since_ms_{0};
  std::atomic<std::int64_t> incomplete_since_ms_{0};
  std::atomic<bool> answered_{false};
  std::atomic<bool> dead_{false};
  std::uint32_t index_ = 0;
  bool admitted_ = true;
  std::string peer_;
  std::string certificate_;
};

}  // namespace coffer::http
