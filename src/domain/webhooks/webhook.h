// Rules of webhook delivery (docs/contract.md#delivery): the meaning of a response, and the time of
// the next attempt. The store keeps the enums of this file as integers: append, never reorder.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/tables/terms.h"

namespace coffer {

enum class DeliveryState {
  pending,    // due now or later
  delivered,  // a 2xx response
  dead,       // all attempts failed, or the endpoint was disabled
  oversize,   // the body exceeds the limit and is never sent
};

template <>
struct Terms<DeliveryState> {
  static constexpr auto rows =
      std::to_array<Term>({{"pending"}, {"delivered"}, {"dead"}, {"oversize"}});
};

/// Why a webhook was disabled. Disabling is permanent.
enum class DisableReason { by_owner, endpoint_gone };
template <>
struct Terms<DisableReason> {
  static constexpr auto rows = std::to_array<Term>({{"by_owner"}, {"endpoint_gone"}});
};

/// Settings of the operator; the defaults are in docs/contract.md#delivery.
struct DeliveryPolicy {
  int attempts = 3;  // per delivery, including the first
  /// Before the second, third, ... attempt; the last value repeats.
  std::vector<std::int64_t> production_delays_ms = {5'000, 300'000};
  std::vector<std::int64_t> sandbox_delays_ms = {1'000, 10'000};
  std::int64_t retry_after_max_ms = 3'600'000;
  // How long both secrets sign after a rotation, unless the caller sends another value.
  std::int64_t grace_s = 86'400;
  std::size_t body_bytes_max = 128 * 1024;
  int body_days = 30;
  int log_days = 90;
};

constexpr std::int64_t kGraceMaxS = 604'800;

/// The result of one attempt: a status of the endpoint, or 0 without a valid response.
struct AttemptResponse {
  int status = 0;
  std::optional<std::int64_t> retry_after_ms;
};

struct NextStep {
  DeliveryState state = DeliveryState::pending;
  std::int64_t delay_ms = 0;  // until the next attempt of a pending delivery
  bool disables = false;      // the endpoint responded that it is gone (410)
  /// The endpoint requested a pause (429, 503): no delivery is sent to it for this time. 0: no
  /// pause.
  std::int64_t quiet_ms = 0;
};

/// The consequence of a response. `attempt` is the number of this attempt in its series, from 1;
/// `jitter` is a random number for the jitter of 20 %.
NextStep next_step_after(const AttemptResponse& response, int attempt, Environment environment,
                         const DeliveryPolicy& policy, std::uint64_t jitter);

}  // namespace coffer
