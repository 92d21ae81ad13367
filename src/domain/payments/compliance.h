// The compliance vocabularies of off-ramps (docs/contract.md#vocabularies): the codes for purpose,
// source of funds and relationship.
#pragma once

#include <span>
#include <string_view>

#include "domain/payments/payment.h"

namespace coffer {

std::span<const Term> purpose_of_payment_terms();
std::span<const Term> source_of_funds_terms();
std::span<const Term> relationship_terms();
/// Suggestions for the `idType` of people; wallets accept any text.
std::span<const Term> id_type_terms();

/// Exact: upper case, as in the vocabulary.
bool is_purpose_of_payment(std::string_view code);
bool is_source_of_funds(std::string_view code);
bool is_relationship(std::string_view code);

}  // namespace coffer
