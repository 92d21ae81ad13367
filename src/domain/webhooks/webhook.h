// The rules of delivery (docs/contract.md#delivery): what a response means, and when the next
// attempt is due. The store keeps the enums of this file as integers: append, never
// reorder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/tables/terms.h"

namespace coffer {

enum class DeliveryState {
  pending,    // to be sent, now or later
  delivered,  // a 2xx answer
  dead,       // all attempts failed, or the endpoint was disabled meanwhile
  oversize,   // the body is over the limit: never sent
};

template <>
struct Terms<DeliveryState> {
  static constexpr auto rows =
      std::to_array<Term>({{"pending"}, {"delivered"}, {"dead"}, {"oversize"}});
};

/// Why a registration is over. Disabling is permanent.
enum class DisableReason { by_owner, endpoint_gone };
template <>
struct Terms<DisableReason> {
  static constexpr auto rows = std::to_array<Term>({{"by_owner"}, {"endpoint_gone"}});
};

/// Set by the operator; the defaults are those of docs/contract.md#delivery.
struct DeliveryPolicy {
  int attempts = 3;  // per delivery, the first included
  /// Before the second, third, ... attempt; the last repeats.
  std::vector<std::int64_t> production_delays_ms = {5'000, 300'000};
  std::vector<std::int64_t> sandbox_delays_ms = {1'000, 10'000};
  std::int64_t retry_after_max_ms = 3'600'000;
  std::int64_t grace_s = 86'400;  // both secrets sign after a rotation, unless the caller says
  std::size_t body_bytes_max = 128 * 1024;
  int body_days = 30;
  int log_days = 90;
};

constexpr std::int64_t kGraceMaxS = 604'800;

/// How one attempt ended: with a status of the endpoint, or (0) without a usable answer.
struct AttemptResponse {
  int status = 0;
  std::optional<std::int64_t> retry_after_ms;
};

struct Ruling {
  DeliveryState state = DeliveryState::pending;
  std::int64_t delay_ms = 0;  // until the next attempt of a delivery that stays pending
  bool disables = false;      // the endpoint says that it is gone (410)
  /// The endpoint asks for quiet (429, 503): nothing at all is sent to it for so long; 0: it does
  /// not.
  std::int64_t quiet_ms = 0;
};

/// What follows from an answer. `attempt` is the number of this attempt in its series, from 1;
/// `chance` any random number, for the jitter of 20 %.
Ruling rule_on(const AttemptResponse& answer, int attempt, Environment environment,
               const DeliveryPolicy& policy, std::uint64_t chance);

}  // namespace coffer
