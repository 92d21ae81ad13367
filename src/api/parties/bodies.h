// Beneficiaries and destinations as JSON, both ways (docs/contract.md#beneficiaries,
// docs/contract.md#destinations).
#pragma once

#include <string>
#include <vector>

#include "api/json.h"
#include "api/pipeline/fields.h"
#include "flows/parties/beneficiary_changes.h"
#include "http/json_body.h"
#include "store/parties/beneficiaries.h"

namespace coffer::api {

/// Everything that is wrong with `body` joins `faults`; the result means nothing unless that is
/// empty. `destinations` is empty when there is no `paymentDestinations`.
flows::BeneficiaryChange read_beneficiary(const http::JsonValue& body,
                                          const BeneficiaryRules& rules, ValidationErrors& errors);
Destination read_destination(const http::JsonValue& body, const BeneficiaryRules& rules,
                             const std::string& prefix, ValidationErrors& errors);

/// Lists mask account numbers, IBANs, phone numbers and wallet addresses of destinations.
enum class Shown { whole, masked };

Json beneficiary_json(const store::BeneficiaryRow& beneficiary,
                      const std::vector<store::DestinationRow>& destinations, Shown shown);
Json destination_json(const store::DestinationRow& destination, Shown shown);
/// The members that a request can set, without the destinations: what a PATCH is merged into.
Json writable_json(const Beneficiary& beneficiary);

}  // namespace coffer::api
