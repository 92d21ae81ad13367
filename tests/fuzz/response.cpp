// Responses of unknown servers, as the client receives them over a connection. The first byte
// determines how the rest arrives (to HEAD or not, at once or in two pieces). The call must always
// end, with a bounded and clean result.
#include <sys/socket.h>
#include <unistd.h>

#include "base/mutex.h"
#include "base/thread.h"
#include "fuzz/property.h"
#include "http/client.h"
#include "support/listener.h"

namespace coffer::fuzz {
namespace {

constexpr std::size_t kBodyMax = 256;

/// Accepts one connection per response, reads the request, sends the response and closes.
class Stranger {
 public:
  Stranger() : thread_("stranger", [this] { serve(); }) {}
  ~Stranger() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return listener_.port(); }
  void say(std::string_view bytes, std::size_t first_piece) {
    const Lock lock(mutex_);
    bytes_ = bytes;
    first_piece_ = first_piece;
  }

 private:
  void serve() {
    for (int peer; (peer = ::accept(listener_.fd(), nullptr, nullptr)) >= 0; ::close(peer)) {
      std::string request;
      char chunk[1024];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t count = ::recv(peer, chunk, sizeof chunk, 0);
        if (count <= 0) break;
        request.append(chunk, static_cast<std::size_t>(count));
      }
      const Lock lock(mutex_);
      const std::size_t size = std::min(first_piece_, bytes_.size());
      ::send(peer, bytes_.data(), size, MSG_NOSIGNAL);
      ::send(peer, bytes_.data() + size, bytes_.size() - size, MSG_NOSIGNAL);
      ::shutdown(peer, SHUT_WR);
    }
  }

  test::Listener listener_;
  Mutex mutex_;
  std::string bytes_ COFFER_GUARDED_BY(mutex_);
  std::size_t first_piece_ COFFER_GUARDED_BY(mutex_) = 0;
  Thread thread_;  // last: starts after all members above are initialised
};

void check(std::string_view input) {
  static Stranger stranger;
  static http::Client client("");
  const auto how = static_cast<unsigned char>(input.front());
  const bool head_request = (how & 1) != 0;
  stranger.say(input.substr(1), how >> 1);
  http::ClientRequest request;
  request.method = head_request ? "HEAD" : "GET";
  request.tls = false;
  request.host = "stranger.example";
  request.port = stranger.port();
  request.address = "127.0.0.1";
  request.response_bytes_max = kBodyMax;
  const auto response = client.send(request);
  if (!response) {
    HOLDS(response.error().slug == Slug::provider_error);
    return;
  }
  HOLDS(response->status >= 200 && response->status <= 999);
  HOLDS(response->body.size() <= kBodyMax);
  HOLDS(!head_request || response->body.empty());
  for (const auto& [name, value] : response->headers) {
    HOLDS(!name.empty());
    HOLDS((name + value).find_first_of("\r\n") == std::string::npos);
  }
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
