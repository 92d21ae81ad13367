// Metrics of the running process in Prometheus text format 0.0.4.
//
//   Counter& calls = metrics.counter("coffer_calls_total", "Calls.", {{"outcome", "ok"}});
//   calls.add();
//
// Names: `coffer_`, base units, `_total` on counters. Label values come from coffer, never from
// outside, because each value creates a series that exists as long as the process.
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

/// Thread-safe; one atomic addition.
class Counter {
 public:
  void add(std::uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Thread-safe.
class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

/// Upper bounds of a histogram's buckets, increasing, and the number of observed units per
/// displayed unit: 1e6 for bounds in microseconds that are displayed in seconds.
struct Buckets {
  static constexpr std::size_t kMax = 16;
  std::span<const std::int64_t> bounds;  // static storage; at most kMax
  double per_unit = 1;
};
/// 1 ms to 10 s, observed in microseconds: responses, calls.
extern const Buckets kLatencyBuckets;
/// 100 us to 1 s, observed in microseconds: work inside the process.
extern const Buckets kWorkBuckets;
/// 1 to 256 in powers of two.
extern const Buckets kBatchBuckets;

/// Thread-safe; two atomic additions.
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

/// Microseconds since construction.
class Stopwatch {
 public:
  Stopwatch() : started_us_(now_us()) {}
  std::int64_t elapsed_us() const { return now_us() - started_us_; }

 private:
  static std::int64_t now_us();
  std::int64_t started_us_;
};

using MetricLabels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// Writes families of samples in the text format. For one thread.
class Exposition {
 public:
  enum class Kind { counter, gauge, histogram };
  /// Starts a family. All its samples follow before the next family.
  void family(std::string_view name, std::string_view help, Kind kind);
  /// Adds a sample to the family started last.
  void sample(double value, MetricLabels labels = {});
  /// A family with a single sample.
  void gauge(std::string_view name, std::string_view help, double value);
  void counter(std::string_view name, std::string_view help, double value);

  const std::string& text() const { return text_; }

 private:
  friend class Metrics;
  void line(std::string_view name, std::string_view labels, double value);
  std::string text_;
  std::string name_;
};

/// All counters, gauges and histograms of one App. A cell is created on first use and its address
/// never changes. Callers on a hot path keep the reference, because a lookup takes a lock.
/// Thread-safe.
class Metrics {
 public:
  /// Use the same help, kind and buckets for the same name everywhere.
  Counter& counter(std::string_view name, std::string_view help, MetricLabels labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, MetricLabels labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, const Buckets& buckets,
                       MetricLabels labels = {});
  void write(Exposition& out) const;

 private:
  struct Family {
    Exposition::Kind kind = Exposition::Kind::counter;
    std::string help;
    std::map<std::string, Counter> counters;  // by rendered labels
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
