#include "base/telemetry/metrics.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/telemetry/process.h"
#include "base/thread.h"

using namespace coffer;

namespace {

std::string written(const Metrics& metrics) {
  Exposition out;
  metrics.write(out);
  return out.text();
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a counter has one value per label set, for all callers", "[metrics]") {
  Metrics metrics;
  Counter& first = metrics.counter("coffer_calls_total", "Calls.", {{"outcome", "ok"}});
  CHECK(&metrics.counter("coffer_calls_total", "Calls.", {{"outcome", "ok"}}) == &first);
  CHECK(&metrics.counter("coffer_calls_total", "Calls.", {{"outcome", "bad"}}) != &first);
  first.add();
  first.add(41);
  CHECK(written(metrics) ==
        "# HELP coffer_calls_total Calls.\n"
        "# TYPE coffer_calls_total counter\n"
        "coffer_calls_total{outcome=\"bad\"} 0\n"
        "coffer_calls_total{outcome=\"ok\"} 42\n");
}

TEST_CASE("a histogram's buckets add up, a bound belongs to its bucket", "[metrics]") {
  Metrics metrics;
  Histogram& sizes = metrics.histogram("coffer_sizes", "Sizes.", kBatchBuckets, {{"of", "x"}});
  for (const std::int64_t size : {1, 2, 2, 3, 256, 257}) sizes.observe(size);
  const std::string text = written(metrics);
  INFO(text);
  CHECK(has_line(text, "# TYPE coffer_sizes histogram"));
  CHECK(has_line(text, "coffer_sizes_bucket{of=\"x\",le=\"1\"} 1"));
  CHECK(has_line(text, "coffer_sizes_bucket{of=\"x\",le=\"2\"} 3"));
  CHECK(has_line(text, "coffer_sizes_bucket{of=\"x\",le=\"4\"} 4"));
  CHECK(has_line(text, "coffer_sizes_bucket{of=\"x\",le=\"128\"} 4"));
  CHECK(has_line(text, "coffer_sizes_bucket{of=\"x\",le=\"256\"} 5"));
  CHECK(has_line(text, "coffer_sizes_bucket{of=\"x\",le=\"+Inf\"} 6"));
  CHECK(has_line(text, "coffer_sizes_sum{of=\"x\"} 521"));
  CHECK(has_line(text, "coffer_sizes_count{of=\"x\"} 6"));
}

TEST_CASE("microseconds are shown in seconds", "[metrics]") {
  Metrics metrics;
  metrics.histogram("coffer_times_seconds", "Times.", kLatencyBuckets).observe(2'500);
  const std::string text = written(metrics);
  INFO(text);
  CHECK(has_line(text, "coffer_times_seconds_bucket{le=\"0.001\"} 0"));
  CHECK(has_line(text, "coffer_times_seconds_bucket{le=\"0.0025\"} 1"));
  CHECK(has_line(text, "coffer_times_seconds_bucket{le=\"10\"} 1"));
  CHECK(has_line(text, "coffer_times_seconds_sum 0.0025"));
}

TEST_CASE("nothing in a label or a help text can end its line or its quotation", "[metrics]") {
  Exposition out;
  out.family("coffer_x", "a\\b\nc \"d\"", Exposition::Kind::gauge);
  out.sample(1, {{"name", "a\\b\nc \"d\""}});
  CHECK(out.text() ==
        "# HELP coffer_x a\\\\b\\nc \"d\"\n"
        "# TYPE coffer_x gauge\n"
        "coffer_x{name=\"a\\\\b\\nc \\\"d\\\"\"} 1\n");
}

TEST_CASE("numbers are written as Prometheus reads them", "[metrics]") {
  const auto shown = [](double value) {
    Exposition out;
    out.gauge("x", "X.", value);
    const std::string& text = out.text();
    return text.substr(text.rfind(' ') + 1);
  };
  CHECK(shown(0) == "0\n");
  CHECK(shown(0.25) == "0.25\n");
  CHECK(shown(-3) == "-3\n");
  CHECK(shown(1'792'000'000.123) == "1792000000.123\n");
  CHECK(shown(9'007'199'254'740'991.0) == "9007199254740991\n");
  CHECK(shown(std::numeric_limits<double>::infinity()) == "+Inf\n");
  CHECK(shown(std::numeric_limits<double>::quiet_NaN()) == "NaN\n");
}

TEST_CASE("a metric name has one kind", "[metrics]") {
  Metrics metrics;
  metrics.counter("coffer_x_total", "X.");
  CHECK_THROWS_AS(metrics.gauge("coffer_x_total", "X."), InternalError);
}

TEST_CASE("concurrent writers and a reader lose no counts", "[metrics]") {
  Metrics metrics;
  constexpr int kThreads = 8;
  constexpr int kEach = 5'000;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("counter", [&] {
        Counter& counter = metrics.counter("coffer_n_total", "N.");
        Histogram& times = metrics.histogram("coffer_t_seconds", "T.", kLatencyBuckets);
        for (int n = 0; n < kEach; ++n) {
          counter.add();
          times.observe(n);
        }
      });
    }
    for (int i = 0; i < 100; ++i) written(metrics);
  }
  const std::string text = written(metrics);
  CHECK(has_line(text, "coffer_n_total 40000"));
  CHECK(has_line(text, "coffer_t_seconds_count 40000"));
  CHECK(has_line(text, "coffer_t_seconds_bucket{le=\"+Inf\"} 40000"));
}

TEST_CASE("process metrics are plausible", "[metrics]") {
  const ProcessFigures figures = read_process_figures();
  CHECK(figures.cpu_seconds > 0);
  CHECK(figures.resident_bytes.value() > 1'000'000);
  CHECK(figures.virtual_bytes.value() >= figures.resident_bytes.value());
  CHECK(figures.threads.value() >= 1);
  CHECK(figures.open_descriptors.value() >= 3);
  CHECK(figures.max_descriptors.value() >= figures.open_descriptors.value());
  constexpr double kIn2020 = 1'577'836'800;
  CHECK(figures.start_seconds.value() > kIn2020);
  const Thread another("another", [] {});
  CHECK(read_process_figures().start_seconds == figures.start_seconds);
}
