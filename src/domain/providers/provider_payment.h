// Determines the next call of a payment through a provider from its state.
//
// A submission is sent only if it is certain that no earlier one arrived, and a payment fails only
// if it is certain that none will be executed. coffer requests the state of a submission without a
// response, resends a submission that never arrived under the same ID, and cancels a payment at the
// provider before it fails the payment.
#pragma once

#include <cstdint>

#include "domain/payments/payment.h"
#include "domain/providers/connector.h"

namespace coffer {

/// The store keeps these as integers: append, never reorder.
enum class ProviderCall {
  submit,
  status,
  cancel,
  collect,
  collection_status,
  expire,
  refund,
  refund_status,
};
template <>
struct Terms<ProviderCall> {
  static constexpr auto rows = std::to_array<Term>({{"submit"},
                                                    {"status"},
                                                    {"cancel"},
                                                    {"collect"},
                                                    {"collection_status"},
                                                    {"expire"},
                                                    {"refund"},
                                                    {"refund_status"}});
};

/// State of a payment at its provider, or of its refund while one waits (store/payments/refunds.h).
enum class ProviderState {
  fresh,     // nothing was sent that may have arrived
  sent,      // sent, response unknown
  accepted,  // the provider has it
  over,
};
template <>
struct Terms<ProviderState> {
  static constexpr auto rows = std::to_array<Term>({{"fresh"}, {"sent"}, {"accepted"}, {"over"}});
};

/// What is left to do for a payment in a final status (docs/operating.md#open-items). The store
/// keeps these as integers: append, never reorder.
enum class OpenItem {
  none,
  unbooked,           // the provider has money that no wallet was credited with
  checking,           // the provider contradicted the status; its own query is due
  contradicted,       // the provider stands by it
  closed,             // an operator has decided that the status stands
  checking_unbooked,  // as checking; the item was unbooked before
  checking_closed,    // as checking; the item was closed before
};
/// Whether the query of a contradicted status is due.
bool is_checking(OpenItem item);
/// The item while its contradiction is checked; `item` is not checking or contradicted.
OpenItem checking(OpenItem item);
/// The item before its check; unchanged if none is due.
OpenItem before_check(OpenItem item);
template <>
struct Terms<OpenItem> {
  static constexpr auto rows = std::to_array<Term>({{"none"},
                                                    {"unbooked"},
                                                    {"checking"},
                                                    {"contradicted"},
                                                    {"closed"},
                                                    {"checking_unbooked"},
                                                    {"checking_closed"}});
};

constexpr int kSubmissionsMax = 3;
/// Time for the payer if the provider gives none.
constexpr std::int64_t kCollectionLifetimeMs = kHourMs;

/// The next call. `attempts` is the number of submissions so far; `expired`: the time to pay is
/// over.
ProviderCall next_call(Direction direction, ProviderState state, int attempts, bool expired);

/// The next call of a refund. It is submitted until the provider has it, because it cannot be
/// cancelled.
ProviderCall next_refund_call(ProviderState state);

/// Delay before the next status request, doubled after each request without a result: from half a
/// second (a quarter in the sandbox) to five minutes.
std::int64_t poll_delay_ms(Environment environment, int asked);

}  // namespace coffer
