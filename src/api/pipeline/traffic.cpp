#include "api/pipeline/traffic.h"

#include <atomic>
#include <string>

#include "base/telemetry/metrics.h"

namespace coffer::api {
namespace {

constexpr std::string_view kNone = "unmatched";
constexpr int kUnauthorized = 401;
constexpr int kTooMany = 429;

Counter& requests(Metrics& metrics, std::string_view method, std::string_view route, int status) {
  return metrics.counter(
      "coffer_http_requests_total", "HTTP responses, by route and status.",
      {{"method", method}, {"route", route}, {"status", std::to_string(status)}});
}

Histogram& times(Metrics& metrics, std::string_view method, std::string_view route) {
  return metrics.histogram(
      "coffer_http_request_duration_seconds",
      "Time from the complete request to its response, excluding transmission, in seconds.",
      kLatencyBuckets, {{"method", method}, {"route", route}});
}

}  // namespace

/// The cells of one route, created on first use, so that only routes with requests are shown.
struct Traffic::Line {
  struct Cell {
    int status = 0;
    std::atomic<Counter*> counter{nullptr};
  };

  Line(std::string_view of_method, std::string_view of_route, const std::vector<int>& statuses)
      : method(of_method), route(of_route), cells(statuses.size()) {
    for (std::size_t i = 0; i < statuses.size(); ++i) cells[i].status = statuses[i];
  }

  std::string_view method;
  std::string_view route;
  std::vector<Cell> cells;
  std::atomic<Histogram*> times{nullptr};
};

Traffic::Traffic(Metrics* metrics, const std::vector<Route>& routes)
    : metrics_(metrics), routes_(routes) {
  for (const Route& route : routes) {
    std::vector<int> statuses{500};
    for (const DeclaredResponse& declared : responses_of(route))
      statuses.push_back(declared.status);
    lines_.push_back(std::make_unique<Line>(route.method, route.pattern, statuses));
  }
  lines_.push_back(std::make_unique<Line>(kNone, kNone, std::vector<int>{204, 404, 405, 500}));
}

Traffic::~Traffic() = default;

void Traffic::note(const Route* route, int status, std::int64_t us) const {
  if (metrics_ == nullptr) return;
  const auto at =
      route == nullptr ? routes_.size() : static_cast<std::size_t>(route - routes_.data());
  Line& line = *lines_.at(at);
  Counter* counter = nullptr;
  for (Line::Cell& cell : line.cells) {
    if (cell.status != status) continue;
    counter = cell.counter.load(std::memory_order_acquire);
    if (counter == nullptr) {
      counter = &requests(*metrics_, line.method, line.route, status);
      cell.counter.store(counter, std::memory_order_release);
    }
    break;
  }
  (counter != nullptr ? *counter : requests(*metrics_, line.method, line.route, status)).add();
  Histogram* histogram = line.times.load(std::memory_order_acquire);
  if (histogram == nullptr) {
    histogram = &times(*metrics_, line.method, line.route);
    line.times.store(histogram, std::memory_order_release);
  }
  histogram->observe(us);
  if (status == kUnauthorized || status == kTooMany) note_rejection(route, status);
}

void Traffic::note_rejection(const Route* route, int status) const {
  if (route == nullptr) return;
  const bool login = route->access == Access::login;
  if (status == kUnauthorized && login) count_sign_in_failure(*metrics_, "api");
  if (status == kTooMany) {
    metrics_
        ->counter("coffer_rate_limited_requests_total",
                  "Requests rejected because the application, client or address sent too many.",
                  {{"limit", login ? "login" : "application"}})
        .add();
  }
}

void count_request(Metrics& metrics, std::string_view method, std::string_view route, int status,
                   std::int64_t us) {
  requests(metrics, method, route, status).add();
  times(metrics, method, route).observe(us);
}

void count_sign_in_failure(Metrics& metrics, std::string_view surface) {
  metrics
      .counter("coffer_sign_in_failures_total", "Sign-ins and logins with a wrong secret.",
               {{"surface", surface}})
      .add();
}

}  // namespace coffer::api
