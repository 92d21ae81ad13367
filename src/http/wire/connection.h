// One accepted connection: who may touch it, its bytes in both directions, where its HTTP stands.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/gate.h"
#include "http/tls.h"
#include "http/wire/chunk_framer.h"
#include "http/wire/memory_budget.h"

namespace coffer::http {

/// Of the kernel, which doubles it: what a connection keeps of requests that are not read.
constexpr int kReceiveBufferBytes = 16 * 1024;
/// For a large body, which arrives at about this many bytes in each round trip.
constexpr int kBodyBufferBytes = 64 * 1024;

/// What a connection is waiting for.
enum class Phase {
  handshake,  // TLS
  header,     // also idle: between two requests
  body,       // the header has passed the gate
  writing,    // the rest of a response that the socket did not take at once
  lingering,  // answered and half closed: what still arrives is thrown away, so that it cannot
              // become a reset that destroys the response on its way
};

enum class Timer { none, idle, header, body, writing, lingering };

/// A slot of the ConnectionTable, used for one connection after the other.
///
/// A connection is parked, or owned by exactly one thread. Any thread that learns of activity calls
/// `claim`: it becomes the owner, or the present owner learns that it must look again before it
/// parks. So no event is lost, nothing is locked, and re-arming costs no system call.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // --- Any thread ---

  enum class Claim { owned, noted, stale };
  /// For an event of the connection that `token` was given to; `stale` when that one is gone.
  Claim claim(std::uint64_t token, bool hang_up, bool is_dead = false);
  /// The peer has reset it, as far as is known: nothing that is sent arrives any more.
  bool is_dead() const;
  /// For the timer and the shutdown: owned when it was parked, whatever its generation.
  bool claim_parked();
  std::uint64_t token() const;
  std::int64_t deadline_ms() const { return deadline_ms_.load(std::memory_order_relaxed); }
  /// Since when it has waited for the first byte of a request, by the monotonic clock; 0: it does
  /// not.
  std::int64_t idle_since_ms() const { return idle_since_ms_.load(std::memory_order_relaxed); }
  /// Whether it had a response before it became idle.
  bool is_answered() const { return answered_.load(std::memory_order_relaxed); }

  // --- Before it is shared ---

  void set_index(std::uint32_t index) { index_ = index; }
  /// Takes over `fd` (non-blocking). Parked from here on.
  void open(int fd, std::string peer, bool over_limit, std::int64_t now_ms, std::int64_t deadline);

  // --- Owner only ---

  /// False: something happened meanwhile, and the caller is still the owner.
  bool park();
  /// Closes and forgets everything; the next `open` starts afresh.
  void close();

  void set_idle_since_ms(std::int64_t at) { idle_since_ms_.store(at, std::memory_order_relaxed); }
  void set_answered(bool answered) { answered_.store(answered, std::memory_order_relaxed); }
  void set_deadline_ms(std::int64_t at) { deadline_ms_.store(at, std::memory_order_relaxed); }
  int fd() const { return fd_; }
  const std::string& peer() const { return peer_; }
  void start_tls(TlsSession session);
  TlsSession& tls() { return tls_; }

  /// Appends to `input` what has arrived. `done` means: something was appended.
  IoState receive();
  /// False: nothing more to be had before the next event.
  bool may_be_readable() const { return readable_; }
  /// Look even without an event.
  void look_again() { readable_ = thorough_ = true; }
  /// Reads and drops what has arrived; returns as `receive` does.
  IoState discard();
  const std::string& input() const { return input_; }
  std::size_t input_size() const { return input_.size(); }
  /// Makes room for an input of `size` bytes, and not for twice as much as it grows.
  void expect(std::size_t size) { input_.reserve(size); }
  /// From now on much is read without a rest. For good: a window that shrinks loses what is under
  /// way.
  void read_much();
  /// Drops the first `count` bytes of the input; a large buffer goes back with them.
  void consume(std::size_t count);
  /// Joins the chunks of a body to one and drops their framing from the input, so that many small
  /// ones take no more memory. The body starts behind the first `skip` bytes; what `framer` has
  /// seen of it is joined already.
  void join_chunks(std::size_t skip, ChunkFramer& framer);

  /// Sends what the socket takes now and keeps the rest; false when the connection is broken.
  bool send(std::string_view data);
  /// Only keeps it.
  void buffer(std::string_view data) { output_.append(data); }
  std::size_t unsent() const { return output_.size() - sent_; }
  /// Everything sent so far has left this machine, or nearly so: the socket takes more.
  bool is_writable() const;
  IoState flush();
  /// Bytes that the socket has taken since `open`.
  std::uint64_t sent_total() const { return sent_total_; }
  /// No more output: the peer sees the end, and `close_notify` under TLS.
  void end_output();

  struct Http {
    Phase phase = Phase::header;
    Timer timer = Timer::header;  // what the deadline stands for
    GateProgress progress;
    std::optional<RequestHead> head;
    Request request;                    // of `head`, without its body
    Lane lane = Lane::system;           // of `head`, and then of the request taken
    LaneCaller caller;                  // likewise
    std::optional<ChunkFramer> chunks;  // while a chunked body is incomplete
    std::size_t served = 0;             // requests so far
    Reservation body;                   // for a body that is large, or a stranger's
    Reservation unread;                 // while the client does not take its responses
    bool over_limit = false;            // accepted only to be told so
    bool http_1_0 = false;              // of the present request
    bool keep_alive = false;            // after the present response
    bool linger = false;                // the client may still be sending when it is answered
    bool watches_writing = false;
    std::uint64_t sent_before = 0;  // sent_total() when the write timeout was set
    // Since it was idle: how long it has waited for the client to take responses, without the
    // present wait; when that began (0: it does not wait); and sent_total() at the first wait.
    std::int64_t waited_ms = 0;
    std::int64_t waits_since_ms = 0;
    std::optional<std::uint64_t> sent_at_first_wait;
    std::size_t discarded = 0;  // while lingering
  };
  Http http;

 private:
  IoResult receive_some(char* out, std::size_t room);
  IoResult send_some(const char* data, std::size_t size);
  IoState note(IoResult result, std::size_t room);

  // generation << 2 | state; the generation tells an event of this connection from one of an
  // earlier connection in the same slot.
  std::atomic<std::uint64_t> word_{0};
  std::atomic<std::int64_t> deadline_ms_{0};
  std::atomic<std::int64_t> idle_since_ms_{0};
  std::atomic<bool> answered_{false};
  std::atomic<std::uint64_t> dead_generation_{0};  // plus one, so that 0 is none
  std::uint32_t index_ = 0;

  int fd_ = -1;
  bool readable_ = false;
  bool thorough_ = false;  // a short read is no proof that nothing more is there
  bool broken_ = false;
  bool reads_much_ = false;
  TlsSession tls_;
  std::string peer_;
  std::string input_;
  std::string output_;
  std::size_t sent_ = 0;
  std::uint64_t sent_total_ = 0;
};

}  // namespace coffer::http
