// A webhook receiver that needs very little processor time: returns 200 to every POST on its
// keep-alive connection, and records the latency of each event, from the `timestamp` in its body to
// its arrival. GET returns the figures since the last GET:
// `{"count":..,"p50Ms":..,"p99Ms":..,"maxMs":..}`. Prints its port. Exits when its standard input
// closes.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view kTimestamp = "\"timestamp\":\"";

void check(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::exit(1);
}

std::int64_t number(std::string_view text, std::size_t at, std::size_t count) {
  std::int64_t value = 0;
  std::from_chars(text.data() + at, text.data() + at + count, value);
  return value;
}

/// `2026-01-31T12:00:00.000Z` in milliseconds since 1970.
std::int64_t parse_time(std::string_view text) {
  const std::chrono::sys_days day = std::chrono::year{static_cast<int>(number(text, 0, 4))} /
                                    static_cast<int>(number(text, 5, 2)) /
                                    static_cast<int>(number(text, 8, 2));
  const std::int64_t seconds =
      number(text, 11, 2) * 3'600 + number(text, 14, 2) * 60 + number(text, 17, 2);
  return (day.time_since_epoch().count() * std::int64_t{86'400} + seconds) * 1'000 +
         number(text, 20, 3);
}

/// The events since the last GET.
class Arrivals {
 public:
  void add(std::string_view body) {
    const auto at = body.find(kTimestamp);
    if (at == std::string_view::npos || body.size() < at + kTimestamp.size() + 24) return;
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    took_ms_.push_back(now.count() - parse_time(body.substr(at + kTimestamp.size(), 24)));
  }

  std::string report() {
    std::sort(took_ms_.begin(), took_ms_.end());
    const auto at = [&](double part) -> std::int64_t {
      if (took_ms_.empty()) return 0;
      return took_ms_[static_cast<std::size_t>(static_cast<double>(took_ms_.size() - 1) * part)];
    };
    std::array<char, 128> text;
    const int size = std::snprintf(text.data(), text.size(),
                                   R"({"count":%zu,"p50Ms":%lld,"p99Ms":%lld,"maxMs":%lld})",
                                   took_ms_.size(), static_cast<long long>(at(0.5)),
                                   static_cast<long long>(at(0.99)), static_cast<long long>(at(1)));
    took_ms_.clear();
    return std::string(text.data(), static_cast<std::size_t>(size));
  }

 private:
  std::vector<std::int64_t> took_ms_;
};

/// The length of the body that a header announces.
std::size_t body_size(std::string_view head) {
  constexpr std::string_view kName = "Content-Length: ";
  const auto at = head.find(kName);
  if (at == std::string_view::npos) return 0;
  std::size_t size = 0;
  std::from_chars(head.data() + at + kName.size(), head.data() + head.size(), size);
  return size;
}

/// Responds to every complete request in `input` and removes it.
std::string answer(std::string& input, Arrivals& arrivals) {
  std::string out;
  std::size_t done = 0;
  for (;;) {
    const std::string_view rest = std::string_view(input).substr(done);
    const auto head_end = rest.find("\r\n\r\n");
    if (head_end == std::string_view::npos) break;
    const std::size_t size = head_end + 4 + body_size(rest.substr(0, head_end + 2));
    if (rest.size() < size) break;
    if (rest.starts_with("GET")) {
      const std::string report = arrivals.report();
      out += "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(report.size()) + "\r\n\r\n" +
             report;
    } else {
      arrivals.add(rest.substr(head_end + 4, size - head_end - 4));
      out += kAnswer;
    }
    done += size;
  }
  input.erase(0, done);
  return out;
}

int listen_anywhere() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  check(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  check(::listen(listener, 512) == 0, "listen");
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listener;
}

void watch(int poller, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  check(::epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

void accept_all(int poller, int listener) {
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
    if (fd < 0) return;
    const int one = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watch(poller, fd);
  }
}

/// False if the peer has closed the connection.
bool serve(int fd, std::string& input, Arrivals& arrivals) {
  std::array<char, 64 * 1024> chunk;
  const ssize_t count = ::recv(fd, chunk.data(), chunk.size(), 0);
  if (count <= 0) return false;
  input.append(chunk.data(), static_cast<std::size_t>(count));
  const std::string out = answer(input, arrivals);
  return out.empty() ||
         ::send(fd, out.data(), out.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(out.size());
}

}  // namespace

int main() {
  const int listener = listen_anywhere();
  const int poller = ::epoll_create1(0);
  watch(poller, listener);
  watch(poller, STDIN_FILENO);
  std::unordered_map<int, std::string> inputs;
  Arrivals arrivals;
  std::array<epoll_event, 256> events;
  for (;;) {
    const int count = ::epoll_wait(poller, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == STDIN_FILENO) return 0;
      if (fd == listener) {
        accept_all(poller, listener);
      } else if (!serve(fd, inputs[fd], arrivals)) {
        inputs.erase(fd);
        ::close(fd);
      }
    }
  }
}
