#include "base/telemetry/metrics.h"

#include <chrono>
#include <cmath>

#include "base/check.h"
#include "base/numbers.h"

namespace coffer {
namespace {

constexpr std::array<std::int64_t, 13> kLatencyUs = {
    1'000,   2'500,   5'000,     10'000,    25'000,    50'000,    100'000,
    250'000, 500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000};
constexpr std::array<std::int64_t, 13> kWorkUs = {100,     250,     500,      1'000,  2'500,
                                                  5'000,   10'000,  25'000,   50'000, 100'000,
                                                  250'000, 500'000, 1'000'000};
constexpr std::array<std::int64_t, 9> kPowers = {1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr double kUsPerSecond = 1e6;

std::string_view name(Exposition::Kind kind) {
  switch (kind) {
    case Exposition::Kind::counter:
      return "counter";
    case Exposition::Kind::gauge:
      return "gauge";
    case Exposition::Kind::histogram:
      return "histogram";
  }
  throw InternalError("unknown kind of metric");
}

/// `quoted`: a label value, which ends at its quotation mark. Otherwise a help text, which ends at
/// the line.
std::string escaped(std::string_view text, bool quoted) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quoted) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

/// `a="1",b="2"`, without braces.
std::string rendered(MetricLabels labels) {
  std::string out;
  for (const auto& [label, value] : labels) {
    if (!out.empty()) out += ',';
    out.append(label).append("=\"").append(escaped(value, true)).append("\"");
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  constexpr double kWholeMax = 9e15;  // larger doubles cannot represent every integer
  const bool whole = value == std::floor(value) && std::abs(value) < kWholeMax;
  std::string out;
  whole ? append_number(out, static_cast<std::int64_t>(value)) : append_number(out, value);
  return out;
}

}  // namespace

const Buckets kLatencyBuckets{kLatencyUs, kUsPerSecond};
const Buckets kWorkBuckets{kWorkUs, kUsPerSecond};
const Buckets kBatchBuckets{kPowers, 1};

void Histogram::observe(std::int64_t value) {
  std::size_t at = 0;
  while (at < buckets_.bounds.size() && value > buckets_.bounds[at]) ++at;
  counts_[at].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::int64_t Stopwatch::now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Exposition::family(std::string_view name, std::string_view help, Kind kind) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(escaped(help, false)).append("\n");
  text_.append("# TYPE ").append(name).append(" ").append(coffer::name(kind)).append("\n");
}

void Exposition::line(std::string_view name, std::string_view labels, double value) {
  text_ += name;
  if (!labels.empty()) text_.append("{").append(labels).append("}");
  text_.append(" ").append(number(value)).append("\n");
}

void Exposition::sample(double value, MetricLabels labels) { line(name_, rendered(labels), value); }

void Exposition::gauge(std::string_view name, std::string_view help, double value) {
  family(name, help, Kind::gauge);
  sample(value);
}

void Exposition::counter(std::string_view name, std::string_view help, double value) {
  family(name, help, Kind::counter);
  sample(value);
}

Metrics::Family& Metrics::family(std::string_view name, std::string_view help,
                                 Exposition::Kind kind) {
  const auto found = families_.find(name);
  if (found != families_.end()) {
    COFFER_CHECK(found->second.kind == kind);
    return found->second;
  }
  Family& made = families_[std::string(name)];
  made.kind = kind;
  made.help = help;
  return made;
}

Counter& Metrics::counter(std::string_view name, std::string_view help, MetricLabels labels) {
  std::string key = rendered(labels);
  const Lock lock(mutex_);
  return family(name, help, Exposition::Kind::counter).counters[std::move(key)];
}

Gauge& Metrics::gauge(std::string_view name, std::string_view help, MetricLabels labels) {
  std::string key = rendered(labels);
  const Lock lock(mutex_);
  return family(name, help, Exposition::Kind::gauge).gauges[std::move(key)];
}

Histogram& Metrics::histogram(std::string_view name, std::string_view help, const Buckets& buckets,
                              MetricLabels labels) {
  COFFER_CHECK(buckets.bounds.size() <= Buckets::kMax);
  std::string key = rendered(labels);
  const Lock lock(mutex_);
  return family(name, help, Exposition::Kind::histogram)
      .histograms.try_emplace(std::move(key), buckets)
      .first->second;
}

void Metrics::write(Exposition& out) const {
  const Lock lock(mutex_);
  for (const auto& [name, family] : families_) {
    out.family(name, family.help, family.kind);
    for (const auto& [labels, cell] : family.counters) {
      out.line(name, labels, static_cast<double>(cell.value()));
    }
    for (const auto& [labels, cell] : family.gauges) out.line(name, labels, cell.value());
    for (const auto& [labels, cell] : family.histograms) write(out, name, labels, cell);
  }
}

/// Other threads may add observations meanwhile. The count is the sum of the buckets that were
/// read, so both always agree.
void Metrics::write(Exposition& out, std::string_view name, std::string_view labels,
                    const Histogram& histogram) {
  const std::string family(name);
  const std::string before = labels.empty() ? "" : std::string(labels) + ",";
  const Buckets& buckets = histogram.buckets_;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= buckets.bounds.size(); ++i) {
    count += histogram.counts_[i].load(std::memory_order_relaxed);
    const bool last = i == buckets.bounds.size();
    const std::string bound =
        last ? "+Inf" : number(static_cast<double>(buckets.bounds[i]) / buckets.per_unit);
    out.line(family + "_bucket", before + "le=\"" + bound + "\"", static_cast<double>(count));
  }
  const auto sum = static_cast<double>(histogram.sum_.load(std::memory_order_relaxed));
  out.line(family + "_sum", labels, sum / buckets.per_unit);
  out.line(family + "_count", labels, static_cast<double>(count));
}

}  // namespace coffer
