// Beneficiaries and destinations as JSON, in both directions (docs/contract.md#beneficiaries,
// docs/contract.md#destinations).
#pragma once

#include <string>
#include <vector>

#include "api/json/fields.h"
#include "api/json/json.h"
#include "flows/parties/beneficiary_changes.h"
#include "http/json_body.h"
#include "store/parties/beneficiaries.h"

namespace coffer::api {

/// Adds all errors in `body` to `errors`; the result is meaningful only if there are none.
/// `destinations` is empty if `paymentDestinations` is absent. A masked number of a destination
/// that names one of `present` by its ID means the number of that one.
flows::BeneficiaryChange read_beneficiary(const http::JsonValue& body,
                                          const BeneficiaryRules& rules, ValidationErrors& errors,
                                          const std::vector<store::DestinationRow>& present = {});
/// A masked number means that of `present`, the destination that the body replaces.
Destination read_destination(const http::JsonValue& body, const BeneficiaryRules& rules,
                             const std::string& prefix, ValidationErrors& errors,
                             const Destination* present = nullptr);

/// Lists mask account numbers, IBANs, phone numbers and wallet addresses of destinations.
enum class Shown { whole, masked };

Json beneficiary_json(const store::BeneficiaryRow& beneficiary,
                      const std::vector<store::DestinationRow>& destinations, Shown shown);
Json destination_json(const store::DestinationRow& destination, Shown shown);
/// The members that a request can set, without the destinations. A PATCH is merged into them.
Json writable_json(const Beneficiary& beneficiary);

}  // namespace coffer::api
