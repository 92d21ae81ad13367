#include "workers/provider_lanes.h"

#include <algorithm>

namespace coffer::workers {
namespace {

constexpr std::int64_t kAtOnce = 0;
constexpr int kBatch = 256;
constexpr int kThreadsPerLane = 4;
constexpr std::int64_t kProviderLookAgainMs = 1'000;
constexpr int kProviderRoundsMax = 1'000;

std::vector<std::int64_t> lanes_with_work(const flows::Context& context) {
  const auto found = store::with_reader(
      context.database, [](store::Connection& db) { return store::provider_lanes(db); });
  return found ? *found : std::vector<std::int64_t>();
}

}  // namespace

ProviderLanes::ProviderLanes(const flows::Context& context)
    : context_(context),
      dispatcher_(std::make_unique<WorkerThread>("providers", [this] { return dispatch(); })) {}

ProviderLanes::~ProviderLanes() { stop(); }

void ProviderLanes::start() { dispatcher_->start(); }

void ProviderLanes::wake() { dispatcher_->wake(); }

void ProviderLanes::stop() {
  dispatcher_->stop();
  for (auto& [key, lane] : lanes_) {
    for (auto& thread : lane->threads) thread->stop();
  }
}

int ProviderLanes::run_due() {
  int done = 0;
  for (int round = 0; round < kProviderRoundsMax; ++round) {
    int before = done;
    for (const std::int64_t key : lanes_with_work(context_)) {
      const auto result = flows::run_provider_jobs(context_, key, kBatch, at_once_);
      if (result) done += result->done;
    }
    if (done == before) break;
  }
  return done;
}

std::int64_t ProviderLanes::dispatch() {
  const store::ReadersScope readers(store::Readers::providers);
  bool others = false;
  for (const std::int64_t key : lanes_with_work(context_)) {
    if (key == kAtOnce) continue;
    others = true;
    for (auto& thread : lane(key).threads) thread->wake();
  }
  const std::int64_t next = step(kAtOnce, kBatch, at_once_);
  // The threads of the other lanes know their due times, so this check only finds new lanes.
  return others && next == WorkerThread::kWhenWoken ? kProviderLookAgainMs : next;
}

std::int64_t ProviderLanes::step(std::int64_t lane, int limit, flows::JobClaims& claims) {
  const store::ReadersScope readers(store::Readers::providers);
  const auto round = flows::run_provider_jobs(context_, lane, limit, claims);
  if (!round) return kProviderLookAgainMs;  // overloaded or disk full: the jobs wait in their rows
  if (round->done > 0) return 0;
  if (!round->next_due) return WorkerThread::kWhenWoken;
  return std::max<std::int64_t>(0, round->next_due->ms - context_.queue.now().ms);
}

ProviderLanes::Lane& ProviderLanes::lane(std::int64_t key) {
  std::unique_ptr<Lane>& lane = lanes_[key];
  if (lane) return *lane;
  lane = std::make_unique<Lane>();
  for (int i = 0; i < kThreadsPerLane; ++i) {
    lane->threads.push_back(std::make_unique<WorkerThread>(
        "provider-" + std::to_string(key),
        [this, key, claims = &lane->claims] { return step(key, 1, *claims); }));
    lane->threads.back()->start();
  }
  return *lane;
}

}  // namespace coffer::workers
