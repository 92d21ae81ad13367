#include "support/receiver.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "http/message.h"

namespace coffer::test {
namespace {

constexpr int kDribbleMs = 10;

std::string rendered(const Behaviour& behaviour) {
  std::string out =
      behaviour.before + "HTTP/1.1 " + std::to_string(behaviour.status) + " Whatever\r\n";
  for (const auto& [name, value] : behaviour.headers) out += name + ": " + value + "\r\n";
  return out + "Content-Length: " + std::to_string(behaviour.body.size()) + "\r\n\r\n" +
         behaviour.body;
}

void say(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Removes a complete request from the front of `in`; returns false if it is incomplete.
bool cut_request(std::string& in, Received& out) {
  const auto end = in.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  std::size_t length = 0;
  std::string_view head(in.data(), end);
  const auto first = head.substr(0, head.find("\r\n"));
  out.method = first.substr(0, first.find(' '));
  out.target = first.substr(first.find(' ') + 1, first.rfind(' ') - first.find(' ') - 1);
  out.headers.clear();
  for (auto at = head.find("\r\n"); at != std::string_view::npos;) {
    const auto next = head.find("\r\n", at + 2);
    const std::string_view line = head.substr(at + 2, next - at - 2);
    const auto colon = line.find(": ");
    out.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    at = next;
  }
  if (const std::string text = out.header("Content-Length"); !text.empty())
    length = std::stoul(text);
  if (in.size() < end + 4 + length) return false;
  out.body = in.substr(end + 4, length);
  in.erase(0, end + 4 + length);
  return true;
}

}  // namespace

std::string Received::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (http::same_name(key, name)) return value;
  }
  return {};
}

Receiver::Receiver() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  ::listen(listener_, 256);
  if (::pipe2(wake_, O_CLOEXEC) != 0) wake_[0] = wake_[1] = -1;
  thread_ = Thread("receiver", [this] { run(); });
}

Receiver::~Receiver() {
  ::close(wake_[1]);  // wakes the other end
  thread_.join();
  for (const Peer& peer : peers_) ::close(peer.fd);
  ::close(listener_);
  ::close(wake_[0]);
}

std::string Receiver::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

void Receiver::script(std::vector<Behaviour> behaviours) {
  const Lock lock(mutex_);
  script_.insert(script_.end(), behaviours.begin(), behaviours.end());
}

void Receiver::otherwise(Behaviour behaviour) {
  const Lock lock(mutex_);
  otherwise_ = std::move(behaviour);
}

std::vector<Received> Receiver::received() const {
  const Lock lock(mutex_);
  return received_;
}

template <class Predicate>
bool Receiver::wait_until(Predicate holds) const {
  const SystemClock clock;
  const std::int64_t deadline = clock.monotonic_ms() + 10'000;
  const Lock lock(mutex_);
  while (!holds()) {
    const std::int64_t left = deadline - clock.monotonic_ms();
    if (left <= 0) return false;
    changed_.wait_for_ms(mutex_, left);
  }
  return true;
}

bool Receiver::wait_for(int count) const {
  return wait_until([&] { return static_cast<int>(received_.size()) >= count; });
}

bool Receiver::wait_until_closed(int count) const {
  return wait_until([&] { return closed_ >= count; });
}

int Receiver::connections() const {
  const Lock lock(mutex_);
  return connections_;
}

void Receiver::forget() {
  const Lock lock(mutex_);
  received_.clear();
}

Behaviour Receiver::next_behaviour() {
  const Lock lock(mutex_);
  if (script_.empty()) return otherwise_;
  Behaviour next = script_.front();
  script_.pop_front();
  return next;
}

void Receiver::run() {
  for (;;) {
    std::vector<pollfd> polled{{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    bool dribbles = false;
    for (const Peer& peer : peers_) {
      polled.push_back({peer.fd, POLLIN, 0});
      dribbles = dribbles || !peer.out.empty();
    }
    ::poll(polled.data(), polled.size(), dribbles ? kDribbleMs : -1);
    if (polled[0].revents != 0) return;
    for (std::size_t i = polled.size(); i-- > 2;) {
      Peer& peer = peers_[i - 2];
      bool alive = true;
      if (polled[i].revents != 0) alive = serve(peer);
      if (alive && !peer.out.empty()) {
        say(peer.fd, peer.out.substr(0, 1));
        peer.out.erase(0, 1);
      }
      if (alive) continue;
      ::close(peer.fd);
      {
        const Lock lock(mutex_);
        ++closed_;
        changed_.notify_all();
      }
      peers_.erase(peers_.begin() + static_cast<std::ptrdiff_t>(i - 2));
    }
    if (polled[1].revents != 0) accept_one();
  }
}

void Receiver::accept_one() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const Lock lock(mutex_);
  Peer peer;
  peer.fd = fd;
  peer.number = ++connections_;
  peers_.push_back(std::move(peer));
}

bool Receiver::serve(Peer& peer) {
  char chunk[16 * 1024];
  const ssize_t count = ::recv(peer.fd, chunk, sizeof chunk, 0);
  if (count <= 0) return false;
  peer.in.append(chunk, static_cast<std::size_t>(count));
  Received request;
  request.connection = peer.number;
  while (cut_request(peer.in, request)) {
    const Behaviour behaviour = next_behaviour();
    {
      const Lock lock(mutex_);
      received_.push_back(request);
      changed_.notify_all();
    }
    if (!answer(peer, behaviour)) return false;
  }
  return true;
}

bool Receiver::answer(Peer& peer, const Behaviour& behaviour) {
  switch (behaviour.kind) {
    case Behaviour::Kind::answer:
      say(peer.fd, rendered(behaviour));
      return true;
    case Behaviour::Kind::silent:
      return true;
    case Behaviour::Kind::reset: {
      const linger at_once{1, 0};
      ::setsockopt(peer.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      return false;
    }
    case Behaviour::Kind::hang_up:
      return false;
    case Behaviour::Kind::garbage:
      say(peer.fd, "\x16\x03\x01 this is no HTTP\r\n\r\n");
      return false;
    case Behaviour::Kind::dribble:
      peer.out = rendered(behaviour);
      return true;
    case Behaviour::Kind::close_early: {
      const std::string whole = rendered(behaviour);
      say(peer.fd, whole.substr(0, whole.size() - 1));
      return false;
    }
    case Behaviour::Kind::close_after:
      say(peer.fd, rendered(behaviour));
      return false;
  }
  return false;
}

}  // namespace coffer::test
