// All changes of beneficiaries and payment destinations. Input is validated
// (domain/parties/beneficiary.h) with `beneficiary_rules`. An archived beneficiary, and a
// destination of another beneficiary, are `not-found`.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/parties/beneficiary.h"
#include "flows/context.h"
#include "store/parties/beneficiaries.h"

namespace coffer::flows {

/// External data for validation: the current date, and the test whether an address belongs to the
/// embedded ledger. `context` must outlive it.
BeneficiaryRules beneficiary_rules(const Context& context);

struct NewBeneficiary {
  Beneficiary detail;
  std::vector<Destination> destinations;  // at most kDestinationsMax
};

struct BeneficiaryState {
  store::BeneficiaryRow beneficiary;
  std::vector<store::DestinationRow> destinations;  // without archived ones
};

/// With `validate_only`, runs every check and stores nothing.
Result<BeneficiaryState> create_beneficiary(const Context& context, const Tenant& tenant,
                                            const NewBeneficiary& beneficiary,
                                            bool validate_only = false);
/// One result per beneficiary, in order. A failure does not affect the others.
std::vector<Result<BeneficiaryState>> create_beneficiaries(
    const Context& context, const Tenant& tenant, std::span<const NewBeneficiary> beneficiaries);

struct BeneficiaryChange {
  Beneficiary detail;
  std::optional<std::vector<Destination>> destinations;  // empty: unchanged
};
/// Computes the new state from the current one. Runs on the caller's thread before the queue, and
/// again if another change was committed in the meantime, so that of two concurrent changes neither
/// is lost. A Problem leaves the beneficiary unchanged.
using Revise = std::function<Result<BeneficiaryChange>(const BeneficiaryState& present)>;

/// Replaced destinations are archived; the new ones get new IDs. A revision that changes nothing
/// leaves the time of the last change.
Result<BeneficiaryState> revise_beneficiary(const Context& context, const Tenant& tenant,
                                            BeneficiaryId id, const Revise& revise);
Result<void> archive_beneficiary(const Context& context, const Tenant& tenant, BeneficiaryId id);

/// `conflict` if the beneficiary already has kDestinationsMax destinations.
Result<store::DestinationRow> add_destination(const Context& context, const Tenant& tenant,
                                              BeneficiaryId id, const Destination& destination);
/// Computes the new destination from the current one, like Revise.
using ReviseDestination = std::function<Result<Destination>(const Destination& present)>;
/// From now on, the ID refers to the new destination. Earlier payments keep their original
/// destination. A revision that changes nothing leaves the time of the last change.
Result<store::DestinationRow> revise_destination(const Context& context, const Tenant& tenant,
                                                 BeneficiaryId id, DestinationId destination_id,
                                                 const ReviseDestination& revise);
Result<void> archive_destination(const Context& context, const Tenant& tenant, BeneficiaryId id,
                                 DestinationId destination_id);

// Shared with the read side ----------------------------------------------------------------------

/// `not-found` if it does not exist or is archived.
Result<store::BeneficiaryRow> live_beneficiary(store::Connection& db, const Tenant& tenant,
                                               BeneficiaryId id);
/// Also `not-found` if it belongs to another beneficiary.
Result<store::DestinationRow> live_destination(store::Connection& db, const Tenant& tenant,
                                               BeneficiaryId id, DestinationId destination_id);

}  // namespace coffer::flows
