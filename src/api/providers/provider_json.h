// Connectors and quotes as the contract shows them.
#pragma once

#include <span>

#include "api/json.h"
#include "domain/providers/connector.h"
#include "flows/payments/make_quote.h"

namespace coffer::api {

/// Without fees: they show in quotes only (docs/contract.md#connectors).
Json connector_json(const ConnectorTerms& connector);
/// The steps of a payment by it, for the single read.
Json steps_json(std::span<const ExecutionStep> steps);
Json quote_json(const flows::Quoted& quoted, Timestamp now);
/// Each {code, label}.
Json terms_json(std::span<const Term> terms);

/// The fields of `additionalFields`, and a JSON Schema (2020-12) of a submission that says the
/// same.
Json requirement_fields_json(std::span<const Requirement> requirements);
Json requirement_schema_json(std::span<const Requirement> requirements);

}  // namespace coffer::api
