// What to do next with a payment through a provider, from where it stands.
//
// The rule behind it: a submission is sent only when it is certain that no earlier one arrived, and
// a payment fails only when it is certain that none will be executed. Whatever was sent and not
// answered is asked about; what never arrived is sent again under the same id; what is given up is
// cancelled at the provider first.
#pragma once

#include <cstdint>
#include <string_view>

#include "domain/payments/payment.h"
#include "domain/providers/connector.h"

namespace coffer {

/// The store keeps these as integers: append, never reorder.
enum class ProviderCall { submit, status, cancel, collect, collection_status, expire };
std::string_view name(ProviderCall call);

/// Where a payment stands with its provider.
enum class ProviderState {
  fresh,     // nothing sent that may have arrived
  sent,      // sent, and the answer is not known
  accepted,  // the provider has it
  over,
};

constexpr int kSubmissionsMax = 3;
/// How long a payer has when the provider does not say.
constexpr std::int64_t kCollectionLifetimeMs = 3'600'000;

/// The next call. `attempts` counts submissions so far; `expired` says that the time to pay is
/// over.
ProviderCall next_call(Direction direction, ProviderState state, int attempts, bool expired);

/// How long to wait before the provider is asked again, doubling with each time it was asked in
/// vain: from half a second (a quarter in the sandbox) to five minutes.
std::int64_t poll_delay_ms(Environment environment, int asked);

}  // namespace coffer
