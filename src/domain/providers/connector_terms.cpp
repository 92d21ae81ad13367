// Checks the terms of a connector at registration.
#include <algorithm>
#include <set>

#include "base/text/ascii.h"
#include "domain/country.h"
#include "domain/providers/connector.h"
#include "domain/tables/text_field.h"

namespace coffer {
namespace {

constexpr std::size_t kRequirementsMax = 50;
constexpr int kBasisPointsMax = 10'000;
constexpr int kTimeoutMsMax = 60'000;

void wrong(ValidationErrors& errors, std::string field, std::string message) {
  errors.add(Slug::validation_failed, std::move(field), std::move(message));
}

void check_text(const char* field, const std::string& value, ValidationErrors& errors) {
  std::string fault = name_fault(value);
  if (!fault.empty()) wrong(errors, field, std::move(fault));
}

void check_amount(const ConnectorTerms& terms, std::string_view name, Amount value,
                  ValidationErrors& errors) {
  const std::string field(name);
  const int decimals = terms.send_decimals();
  if (!value.is_positive()) {
    errors.add(Slug::amount_out_of_range, field, "must be greater than 0");
  } else if (truncate_to(value, decimals) != value) {
    errors.add(Slug::amount_precision, field, decimals_rule(terms.send_code(), decimals));
  }
}

void check_corridor(const ConnectorTerms& terms, ValidationErrors& errors) {
  if (!is_country_alpha2(terms.country)) {
    wrong(errors, "countryIsoCode2", "must be the code of a country in ISO 3166-1");
  }
  if (!is_currency_alpha3(terms.currency)) {
    wrong(errors, "currencyIsoCode3", "must be the code of a currency in ISO 4217");
  }
}

void check_amounts(const ConnectorTerms& terms, ValidationErrors& errors) {
  each_limit([&](const auto& row) {
    const std::optional<Amount> amount = row.of(terms);
    if (amount) check_amount(terms, row.name, *amount, errors);
  });
  if (terms.max_amount < terms.min_amount) {
    wrong(errors, "maxAmount", "must not be less than the minimum amount");
  }
}

/// Adds an error to each part of a price that is present and would not act.
void reject_price(bool rate, bool fee_fixed, bool fee_basis_points, ValidationErrors& errors) {
  for (const auto& [field, present] : {std::pair("rate", rate), std::pair("fixed", fee_fixed),
                                       std::pair("basisPoints", fee_basis_points)}) {
    if (!present) continue;
    wrong(errors, field,
          "has no effect: with the driver " + drivers_that_call_out() +
              ", the provider sets the price. Omit it, or set a tolerance to limit the provider's "
              "price");
  }
}

void check_price(const ConnectorTerms& terms, ValidationErrors& errors) {
  if (!terms.has_price()) {
    return reject_price(terms.rate.has_value(), !terms.fee.fixed.is_zero(),
                        terms.fee.basis_points != 0, errors);
  }
  if (!terms.rate) {
    wrong(errors, "rate", "is required");
  } else if (terms.rate->numerator < 1 || terms.rate->denominator < 1) {
    wrong(errors, "rate", "must be positive");
  }
  check_fee(terms, terms.fee, errors);
  if (!terms.tolerance_bps) return;
  if (!terms.is_priced_by_provider()) {
    wrong(errors, "toleranceBasisPoints",
          "limits the price of a provider, so it requires the driver " + drivers_that_call_out() +
              " and the flow QUOTED");
  } else if (*terms.tolerance_bps < 0 || *terms.tolerance_bps > kBasisPointsMax) {
    wrong(errors, "toleranceBasisPoints", "must be 0 to 10000");
  }
}

/// The checks of everything that can change.
void check_changing(const ConnectorTerms& terms, ValidationErrors& errors) {
  if (terms.currency_decimals < 0 || terms.currency_decimals > Amount::kScale) {
    wrong(errors, "currencyDecimals", "must be 0 to 7");
    return;
  }
  check_amounts(terms, errors);
  check_price(terms, errors);
}

void check_kind(const ConnectorTerms& terms, ValidationErrors& errors) {
  if (terms.types == 0 || terms.types > kAllTransactionTypes) {
    wrong(errors, "transactionTypes", "must contain at least one of C2C, C2B, B2C, B2B");
  }
  if (terms.flow == ConnectorFlow::bespoke && terms.direction == Direction::off_ramp) {
    wrong(errors, "flow",
          "BESPOKE is for on-ramp connectors, whose payments the provider initiates");
  }
  if (terms.issues_references && terms.flow != ConnectorFlow::bespoke) {
    wrong(errors, "issuesReferences", "must be false unless `flow` is BESPOKE");
  }
  if (!driver_info(terms.driver).moves_money && terms.environment == Environment::production) {
    wrong(errors, "driver",
          std::string(name(terms.driver)) + " moves no money and cannot be used in production");
  }
}

bool is_field_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 &&
         std::ranges::all_of(name, [](char c) { return ascii::is_letter_or_digit(c) || c == '_'; });
}

std::string fault_of(const Requirement& requirement) {
  if (!is_field_name(requirement.name)) {
    return "must have a name of 1 to 64 letters, digits or underscores";
  }
  if (requirement.label.empty()) return "must have a label";
  if (requirement.types == 0 || requirement.types > kAllTransactionTypes) {
    return "must be for at least one transaction type";
  }
  const bool shaped = requirement.pattern || requirement.min_length || requirement.max_length ||
                      !requirement.choices.empty();
  if (shaped && requirement.type != Requirement::Type::text) {
    return "must be a string to have a pattern, lengths or choices";
  }
  if (requirement.pattern && !is_requirement_pattern(*requirement.pattern)) {
    return "has an unsupported pattern; use a regular expression of at most 200 characters without"
           " look-around, back-references, inline flags or POSIX classes";
  }
  const int least = requirement.min_length.value_or(1);
  const int most = requirement.max_length.value_or(kRequirementLengthMax);
  if (least < 1 || most > kRequirementLengthMax || least > most) {
    return "must have a minimum and a maximum length from 1 to 200, with the minimum not above the "
           "maximum";
  }
  return {};
}

}  // namespace

void change_terms(ConnectorTerms& terms, const ConnectorChange& change, ValidationErrors& errors) {
  change.apply_to(terms);
  if (!terms.has_price()) {
    terms.rate.reset();
    terms.fee = FeeRule();
    reject_price(change.has<&ConnectorTerms::rate>(),
                 change.has<&ConnectorTerms::fee, &FeeRule::fixed>(),
                 change.has<&ConnectorTerms::fee, &FeeRule::basis_points>(), errors);
  }
  check_changing(terms, errors);
}

void check_terms(const ConnectorTerms& terms, ValidationErrors& errors) {
  check_text("name", terms.name, errors);
  check_text("provider", terms.provider, errors);
  check_corridor(terms, errors);
  check_kind(terms, errors);
  check_endpoint(terms, errors);
}

void check_fee(const ConnectorTerms& terms, const FeeRule& fee, ValidationErrors& errors) {
  if (!fee.fixed.is_zero()) check_amount(terms, "fixed", fee.fixed, errors);
  if (fee.basis_points < 0 || fee.basis_points > kBasisPointsMax) {
    wrong(errors, "basisPoints", "must be 0 to 10000");
  }
}

void check_endpoint(const ConnectorTerms& terms, ValidationErrors& errors) {
  if (terms.calls_out() != terms.endpoint.has_value()) {
    wrong(errors, "baseUrl",
          terms.endpoint ? "must be omitted unless `driver` is " + drivers_that_call_out()
                         : "is required");
  }
  if (!terms.endpoint) return;
  const std::string& url = terms.endpoint->base_url;
  if (!url.starts_with("https://") && !url.starts_with("http://")) {
    wrong(errors, "baseUrl", "must begin with https:// or http://");
  } else if (terms.environment == Environment::production && !url.starts_with("https://")) {
    wrong(errors, "baseUrl", "must begin with https:// in production");
  }
  if (terms.endpoint->timeout_ms < 1 || terms.endpoint->timeout_ms > kTimeoutMsMax) {
    wrong(errors, "timeoutMs", "must be 1 to 60000");
  }
}

void check_requirement_list(std::span<const Requirement> requirements, ValidationErrors& errors) {
  std::set<std::string> names;
  for (const Requirement& requirement : requirements) {
    if (std::string fault = fault_of(requirement); !fault.empty()) {
      wrong(errors, requirement.name, std::move(fault));
    } else if (!names.insert(requirement.name).second) {
      wrong(errors, requirement.name, "is repeated");
    }
  }
  if (requirements.size() > kRequirementsMax) wrong(errors, "requirements", "must be at most 50");
}

}  // namespace coffer
