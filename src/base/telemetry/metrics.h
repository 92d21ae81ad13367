// What is counted while coffer runs, and how Prometheus reads it (text format 0.0.4).
//
//   Counter& calls = metrics.counter("coffer_calls_total", "Calls.", {{"outcome", "ok"}});
//   calls.add();
//
// Names: `coffer_`, base units, `_total` on counters. A label's values come from coffer, never from
// outside: each of them is a series that is kept as long as the process runs.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"

namespace coffer {

/// Any thread; one atomic addition.
class Counter {
 public:
  void add(std::uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Any thread.
class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

/// Upper bounds of a histogram's buckets, rising, and how many of their unit make one of the unit
/// that is shown: bounds in microseconds are shown in seconds with 1e6.
struct Buckets {
  static constexpr std::size_t kMax = 16;
  std::span<const std::int64_t> bounds;  // of static storage; at most kMax
  double per_unit = 1;
};
/// 1 ms to 10 s, observed in microseconds: answers, calls.
extern const Buckets kLatencyBuckets;
/// 100 us to 1 s, observed in microseconds: work inside the box.
extern const Buckets kWorkBuckets;
/// 1 to 256 in powers of two.
extern const Buckets kBatchBuckets;

/// Any thread; two atomic additions.
class Histogram {
 public:
  explicit Histogram(const Buckets& buckets) : buckets_(buckets) {}
  void observe(std::int64_t value);

 private:
  friend class Metrics;
  const Buckets buckets_;
  std::array<std::atomic<std::uint64_t>, Buckets::kMax + 1>
      counts_{};  // the last is beyond all bounds
  std::atomic<std::int64_t> sum_{0};
};

/// Microseconds since it was made.
class Stopwatch {
 public:
  Stopwatch() : started_us_(now_us()) {}
  std::int64_t elapsed_us() const { return now_us() - started_us_; }

 private:
  static std::int64_t now_us();
  std::int64_t started_us_;
};

using MetricLabels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// Puts families of samples into the text format. For one thread.
class Exposition {
 public:
  enum class Kind { counter, gauge, histogram };
  /// All samples of a family follow before the next family begins.
  void family(std::string_view name, std::string_view help, Kind kind);
  /// Of the family begun last.
  void sample(double value, MetricLabels labels = {});
  /// A family of one sample.
  void gauge(std::string_view name, std::string_view help, double value);
  void counter(std::string_view name, std::string_view help, double value);

  const std::string& text() const { return text_; }

 private:
  friend class Metrics;
  void line(std::string_view name, std::string_view labels, double value);
  std::string text_;
  std::string name_;
};

/// Every counter, gauge and histogram of one App. A cell is made when it is first asked for and
/// stays at its address; the caller on a hot path keeps it, since asking takes a lock. Thread safe.
class Metrics {
 public:
  /// The same name goes with the same help, kind and buckets everywhere.
  Counter& counter(std::string_view name, std::string_view help, MetricLabels labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, MetricLabels labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, const Buckets& buckets,
                       MetricLabels labels = {});
  void write(Exposition& out) const;

 private:
  struct Family {
    Exposition::Kind kind = Exposition::Kind::counter;
    std::string help;
    std::map<std::string, Counter> counters;  // by labels as they are written
    std::map<std::string, Gauge> gauges;
    std::map<std::string, Histogram> histograms;
  };
  Family& family(std::string_view name, std::string_view help, Exposition::Kind kind)
      COFFER_REQUIRES(mutex_);
  static void write(Exposition& out, std::string_view name, std::string_view labels,
                    const Histogram& histogram);

  mutable Mutex mutex_;
  std::map<std::string, Family, std::less<>> families_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer
