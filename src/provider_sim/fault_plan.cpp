#include "provider_sim/fault_plan.h"

#include <algorithm>
#include <optional>

#include "base/text/next_part.h"
#include "base/text/whole_number.h"
#include "provider_sim/options.h"

namespace coffer::provider_sim {
namespace {

constexpr int kMillion = 1'000'000;
constexpr int kPlaces = 6;

struct Known {
  std::string_view name;
  int ms;  // default
};
// In enum order.
constexpr std::array<Known, FaultPlan::kFaults> kKnown{{
    {"late", 3'000},
    {"reject", 0},
    {"duplicate", 0},
    {"reorder", 1'000},
    {"lose-response", 0},
    {"garbage", 0},
    {"hang", 30'000},
}};

std::size_t index_of(Fault fault) { return static_cast<std::size_t>(fault); }

/// "0.25" -> 250000; nullopt beyond [0, 1] or six places.
std::optional<int> parse_probability(std::string_view text) {
  const auto dot = text.find('.');
  const auto whole = whole_number(text.substr(0, dot), 0, 1);
  if (!whole) return std::nullopt;
  std::string places(dot == std::string_view::npos ? "" : text.substr(dot + 1));
  if (places.size() > kPlaces || (dot != std::string_view::npos && places.empty())) {
    return std::nullopt;
  }
  places.resize(kPlaces, '0');
  const auto part = whole_number(places, 0, kMillion);
  if (!part || *whole * kMillion + *part > kMillion) return std::nullopt;
  return *whole * kMillion + *part;
}

std::string show_probability(int per_million) {
  if (per_million == kMillion) return "1";
  std::string places = std::to_string(kMillion + per_million).substr(1);
  while (places.size() > 1 && places.back() == '0') places.pop_back();
  return "0." + places;
}

}  // namespace

Result<FaultPlan> FaultPlan::parse(std::string_view spec) {
  FaultPlan plan;
  while (!spec.empty()) {
    const std::string_view item = next_part(spec, ',');
    const auto reject = [&](const char* why) {
      return unexpected(Slug::malformed_request, "The fault " + std::string(item) + " " + why +
                                                     ". Write it as name=probability[:ms].");
    };
    const auto equals = item.find('=');
    const auto known = std::ranges::find(kKnown, item.substr(0, equals), &Known::name);
    if (equals == std::string_view::npos || known == kKnown.end()) return reject("is not known");
    const std::string_view value = item.substr(equals + 1);
    const auto colon = value.find(':');
    const auto probability = parse_probability(value.substr(0, colon));
    if (!probability) return reject("needs a probability from 0 to 1");
    const auto ms = colon == std::string_view::npos
                        ? std::optional(known->ms)
                        : whole_number(value.substr(colon + 1), 0, kMsMax);
    if (!ms) return reject("needs a delay in milliseconds");
    plan.entries_[static_cast<std::size_t>(known - kKnown.begin())] = {*probability, *ms};
  }
  return plan;
}

std::string FaultPlan::to_string() const {
  std::string out;
  for (std::size_t i = 0; i < kFaults; ++i) {
    const Entry& entry = entries_[i];
    if (entry.per_million == 0) continue;
    if (!out.empty()) out += ",";
    out.append(kKnown[i].name).append("=").append(show_probability(entry.per_million));
    if (entry.ms != kKnown[i].ms) out.append(":").append(std::to_string(entry.ms));
  }
  return out;
}

void FaultDice::replace(const FaultPlan& plan) {
  const Lock lock(mutex_);
  plan_ = plan;
}

FaultPlan FaultDice::plan() const {
  const Lock lock(mutex_);
  return plan_;
}

bool FaultDice::strikes(Fault fault) {
  const Lock lock(mutex_);
  const int per_million = plan_.entries_[index_of(fault)].per_million;
  // A fault that is not in the plan draws no random number, so that it does not change the others.
  return per_million > 0 &&
         static_cast<int>(chance_.next_u64() % static_cast<std::uint64_t>(kMillion)) < per_million;
}

int FaultDice::ms_of(Fault fault) const {
  const Lock lock(mutex_);
  return plan_.entries_[index_of(fault)].ms;
}

}  // namespace coffer::provider_sim
