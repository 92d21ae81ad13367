// A Server on a free port with a handler that echoes the request.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "http/wire/server.h"

namespace coffer::http::test {

/// Holds handlers back until it is opened.
class Gatekeeper {
 public:
  void open() {
    const Lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait() {
    const Lock lock(mutex_);
    while (!open_) changed_.wait(mutex_);
  }

 private:
  Mutex mutex_;
  Condition changed_;
  bool open_ COFFER_GUARDED_BY(mutex_) = false;
};

/// GET /fixed answers "ok", anything else "<method> <path> <body>".
inline Response echo(Request& request) {
  Response response;
  response.content_type = "text/plain";
  response.body =
      request.path == "/fixed" ? "ok" : request.method + " " + request.path + " " + request.body;
  return response;
}

/// Body limits of 1 MiB for one path and 64 KiB for others; every request has a separate caller.
inline Admit each_its_own(std::string path) {
  auto callers = std::make_shared<std::atomic<std::uint64_t>>(0);
  return [path = std::move(path), callers](const Request& head, std::uint64_t) {
    Admission out;
    out.caller.id = ++*callers;
    if (head.path == path) out.body_bytes_max = 1024 * 1024;
    return Result<Admission>(out);
  };
}

/// `change` adjusts the options before the start.
class RunningServer {
 public:
  explicit RunningServer(const std::function<void(ServerOptions&)>& change = {},
                         Handler handler = echo)
      : random_(1), server_(options(change), random_, std::move(handler)) {
    server_.start().value();
  }
  Server& operator*() { return server_; }
  Server* operator->() { return &server_; }
  int port() const { return server_.port(); }

  /// Waits until `holds(stats)`; false after 5 s.
  template <class Predicate>
  bool eventually(Predicate holds) const {
    const SystemClock clock;
    const std::int64_t deadline = clock.monotonic_ms() + 5'000;
    Mutex mutex;
    Condition never;
    while (!holds(server_.stats())) {
      if (clock.monotonic_ms() > deadline) return false;
      const Lock lock(mutex);
      never.wait_for_ms(mutex, 5);
    }
    return true;
  }

 private:
  static ServerOptions options(const std::function<void(ServerOptions&)>& change) {
    ServerOptions options;
    options.workers = 4;
    if (change) change(options);
    return options;
  }

  SeededRandom random_;
  Server server_;
};

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline int status_of(const std::string& response) {
  return response.size() > 12 ? std::stoi(response.substr(9, 3)) : 0;
}

inline std::string body_of(const std::string& response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? "" : response.substr(end + 4);
}

inline std::string get(std::string_view path, std::string_view fields = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

}  // namespace coffer::http::test
