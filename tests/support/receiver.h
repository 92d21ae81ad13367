// An endpoint for events on a loopback port with scripted behaviour: correct, wrong, or silent.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "support/http_call.h"

namespace coffer::test {

/// One request as it arrived.
struct Received {
  std::string method;
  std::string target;
  HeaderList headers;
  std::string body;
  int connection = 0;  // number of the connection it came on, from 1

  std::string header(std::string_view name) const;
  Json json() const { return Json::parse(body); }
};

/// How to respond to a request.
struct Behaviour {
  enum class Kind {
    answer,       // with `status`, `headers` and `body`
    silent,       // never
    reset,        // the connection is cut
    hang_up,      // the connection is closed in order, without a response
    garbage,      // with bytes that are not HTTP
    dribble,      // like `answer`, byte by byte, slowly
    close_early,  // with half of a response
    close_after,  // like `answer`, then the connection is closed without notice
  };
  Kind kind = Kind::answer;
  int status = 200;
  HeaderList headers = {};
  std::string body = "ok";
  std::string before = {};  // bytes before the response, such as informational responses
};

class Receiver {
 public:
  Receiver();
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  int port() const { return port_; }
  std::string url(const std::string& path = "/hooks") const;
  /// For the next requests, one each; then `otherwise` applies again.
  void script(std::vector<Behaviour> behaviours);
  void otherwise(Behaviour behaviour);
  std::vector<Received> received() const;
  int count() const { return static_cast<int>(received().size()); }
  /// Waits in real time until this many requests have arrived; false after 10 s.
  bool wait_for(int count) const;
  int connections() const;
  /// Waits in real time until this many connections are closed; false after 10 s.
  bool wait_until_closed(int count) const;
  void forget();

 private:
  struct Peer {
    int fd = -1;
    int number = 0;
    std::string in;
    std::string out;  // of a dribble: the remaining bytes
    bool close_when_said = false;
  };
  void run();
  void accept_one();
  bool serve(Peer& peer);  // false: the connection has ended
  bool answer(Peer& peer, const Behaviour& behaviour);
  Behaviour next_behaviour();
  template <class Predicate>
  bool wait_until(Predicate holds) const;

  int listener_ = -1;
  int wake_[2] = {-1, -1};
  int port_ = 0;
  std::vector<Peer> peers_;  // for the thread only
  mutable Mutex mutex_;
  mutable Condition changed_;
  std::deque<Behaviour> script_ COFFER_GUARDED_BY(mutex_);
  Behaviour otherwise_ COFFER_GUARDED_BY(mutex_);
  std::vector<Received> received_ COFFER_GUARDED_BY(mutex_);
  int connections_ COFFER_GUARDED_BY(mutex_) = 0;
  int closed_ COFFER_GUARDED_BY(mutex_) = 0;
  Thread thread_;
};

}  // namespace coffer::test
