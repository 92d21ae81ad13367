// Records the requests of the API in the request log (store/requests/request_log_file.h). A request
// never waits for the log: its entry goes into a bounded queue in memory, which one thread redacts
// and writes. A full queue drops entries and counts them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/redaction.h"
#include "api/pipeline/route.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/telemetry/metrics.h"
#include "base/telemetry/worker_thread.h"
#include "http/message.h"
#include "store/requests/request_log_file.h"

namespace coffer::api {

/// The pipeline's findings about a request.
struct RequestTrace {
  const Route* route = nullptr;  // of the table; nullptr: no route
  std::optional<Caller> caller;
  std::optional<Slug> problem;
};

struct RequestLogOptions {
  store::RequestLogLimits limits;
  bool sandbox_bodies = false;
  bool production_bodies = false;
};

class RequestLog {
 public:
  static constexpr std::size_t kEntriesMax = 4'096;
  static constexpr std::size_t kBytesMax = 16 * 1024 * 1024;  // of all queued bodies
  /// A larger body is recorded by its size only.
  static constexpr std::size_t kBodyMax = 16 * 1024;

  /// `has_room` returns whether the disk has space for more than payments. `redactor` is called on
  /// the log's own thread. All arguments must outlive this object.
  RequestLog(std::string path, RequestLogOptions options, const Clock& clock, Metrics& metrics,
             std::function<bool()> has_room, const Redactor& (*redactor)());
  ~RequestLog() { stop(); }

  void start() { writer_.start(); }
  /// Writes the queued entries and stops.
  void stop();
  /// Queues the entry or drops it. Thread-safe; never throws.
  void note(const http::Request& request, const http::Response& response, const RequestTrace& trace,
            std::int64_t duration_us) noexcept;
  /// Writes the oldest queued entries, and calls `pause` after each step; for tests. Returns their
  /// number.
  std::size_t write_batch(void (*pause)() = [] {});

 private:
  struct Entry {
    store::RequestRow row;
    const Route* route = nullptr;
    std::vector<std::pair<std::string, std::string>> query;
    std::string request_body;
    std::string response_body;
    bool keeps_bodies = false;
    std::size_t bytes() const { return request_body.size() + response_body.size(); }
  };
  std::int64_t step();
  bool is_logged(const http::Request& request, const RequestTrace& trace) const;
  Entry entry_of(const http::Request& request, const http::Response& response,
                 const RequestTrace& trace, std::int64_t duration_us) const;
  bool is_full(int status) const COFFER_REQUIRES(mutex_);
  bool has_place(int status) const;
  bool push(Entry entry);
  std::vector<Entry> take();
  store::RequestRow finished(Entry entry);
  void add_bodies(Entry& entry, Redactor::Texts removed);

  const RequestLogOptions options_;
  const Clock& clock_;
  Counter& written_;
  Counter& dropped_;
  const std::function<bool()> has_room_;
  const Redactor& (*const redactor_)();
  store::RequestLogFile file_;  // of the writer
  mutable Mutex mutex_;
  std::deque<Entry> queue_ COFFER_GUARDED_BY(mutex_);
  std::size_t queued_bytes_ COFFER_GUARDED_BY(mutex_) = 0;
  bool idle_ COFFER_GUARDED_BY(mutex_) = true;
  WorkerThread writer_;
};

}  // namespace coffer::api
