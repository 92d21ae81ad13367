// Everything that changes a beneficiary or a payment destination. What comes in is validated
// (domain/parties/beneficiary.h) with `beneficiary_rules`; a beneficiary that is archived, or a
// destination of another one, is `not-found`.
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

/// What validation needs to know: today, and which addresses belong to the embedded ledger. Lives
/// as long as `context`.
BeneficiaryRules beneficiary_rules(const Context& context);

struct NewBeneficiary {
  Beneficiary detail;
  std::vector<Destination> destinations;  // at most kDestinationsMax
};

struct BeneficiaryState {
  store::BeneficiaryRow beneficiary;
  std::vector<store::DestinationRow> destinations;  // live ones
};

Result<BeneficiaryState> create_beneficiary(const Context& context, const Tenant& tenant,
                                            const NewBeneficiary& beneficiary);
/// One result per beneficiary, in order: one that fails takes none of the others with it.
std::vector<Result<BeneficiaryState>> create_beneficiaries(
    const Context& context, const Tenant& tenant, std::span<const NewBeneficiary> beneficiaries);

struct BeneficiaryChange {
  Beneficiary detail;
  std::optional<std::vector<Destination>> destinations;  // empty: they stay as they are
};
/// Makes the new state from the present one. Runs on the caller's thread, before the queue, and
/// again when another change was committed meanwhile, so that of two changes at once neither is
/// lost. A Problem leaves everything as it was.
using Revise = std::function<Result<BeneficiaryChange>(const store::BeneficiaryRow& present)>;

/// Destinations that are replaced are archived; the new ones have new ids.
Result<BeneficiaryState> revise_beneficiary(const Context& context, const Tenant& tenant,
                                            BeneficiaryId id, const Revise& revise);
Result<void> archive_beneficiary(const Context& context, const Tenant& tenant, BeneficiaryId id);

/// `conflict` when the beneficiary has kDestinationsMax destinations already.
Result<store::DestinationRow> add_destination(const Context& context, const Tenant& tenant,
                                              BeneficiaryId id, const Destination& destination);
/// The same id from now on means `destination`; payments made before keep what they were made for.
Result<store::DestinationRow> replace_destination(const Context& context, const Tenant& tenant,
                                                  BeneficiaryId id, DestinationId destination_id,
                                                  const Destination& destination);
Result<void> archive_destination(const Context& context, const Tenant& tenant, BeneficiaryId id,
                                 DestinationId destination_id);

// Shared with the read side ----------------------------------------------------------------------

/// `not-found` if it does not exist or is archived.
Result<store::BeneficiaryRow> live_beneficiary(store::Connection& db, const Tenant& tenant,
                                               BeneficiaryId id);
/// `not-found` also when it belongs to another beneficiary.
Result<store::DestinationRow> live_destination(store::Connection& db, const Tenant& tenant,
                                               BeneficiaryId id, DestinationId destination_id);

}  // namespace coffer::flows
