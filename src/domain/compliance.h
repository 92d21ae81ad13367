// The compliance vocabularies of cash-outs (contract GET /v1/payments/enums): what a submission
// says of purpose, funds and relationship has to be one of these codes.
#pragma once

#include <span>
#include <string_view>

#include "domain/payment.h"

namespace coffer {

std::span<const Term> purpose_of_payment_terms();
std::span<const Term> source_of_funds_terms();
std::span<const Term> relationship_terms();
/// Suggestions for the `idType` of people; wallets take any text there.
std::span<const Term> id_type_terms();
std::span<const Term> entity_type_terms();

/// Exact: upper case, as the vocabulary has it.
bool is_purpose_of_payment(std::string_view code);
bool is_source_of_funds(std::string_view code);
bool is_relationship(std::string_view code);

}  // namespace coffer
