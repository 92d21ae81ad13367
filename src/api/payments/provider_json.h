// Connectors and quotes as JSON.
#pragma once

#include <span>

#include "api/json/json.h"
#include "domain/providers/connector.h"
#include "flows/payments/make_quote.h"

namespace coffer::api {

/// Omits fees, which only quotes show (docs/contract.md#connectors).
Json connector_json(const ConnectorTerms& connector);
/// The steps of a payment through the connector, for the single read.
Json steps_json(std::span<const ExecutionStep> steps);
Json quote_json(const flows::Quoted& quoted, Timestamp now);
/// Each as {code, label}.
Json terms_json(std::span<const Term> terms);

/// The fields of `additionalFields`, and an equivalent JSON Schema (2020-12) of a submission.
Json requirement_fields_json(std::span<const Requirement> requirements);
Json requirement_schema_json(std::span<const Requirement> requirements);

}  // namespace coffer::api
