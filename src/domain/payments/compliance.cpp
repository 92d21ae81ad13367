#include "domain/payments/compliance.h"

#include <algorithm>
#include <array>

namespace coffer {
namespace {

constexpr std::array<Term, 15> kPurposes{{
    {"FAMILY_SUPPORT", "Support of family"},
    {"EDUCATION", "School or university fees"},
    {"MEDICAL", "Medical treatment"},
    {"GIFT", "Gift"},
    {"SAVINGS", "Savings"},
    {"SALARY", "Wages and salaries"},
    {"GOODS", "Purchase of goods"},
    {"SERVICES", "Payment for services"},
    {"SUPPLIER_PAYMENT", "Payment of a supplier's invoice"},
    {"RENT", "Rent"},
    {"PROPERTY", "Purchase of property"},
    {"LOAN_REPAYMENT", "Repayment of a loan"},
    {"TAX", "Taxes and duties"},
    {"INVESTMENT", "Investment"},
    {"OTHER", "Other"},
}};

constexpr std::array<Term, 12> kSources{{
    {"SALARY", "Wages and salaries"},
    {"BUSINESS_INCOME", "Income of a business"},
    {"SAVINGS", "Savings"},
    {"PENSION", "Pension or benefits"},
    {"INVESTMENT_INCOME", "Interest, dividends or gains"},
    {"RENTAL_INCOME", "Rental income"},
    {"PROPERTY_SALE", "Sale of property"},
    {"LOAN", "Loan"},
    {"GIFT", "Gift"},
    {"INHERITANCE", "Inheritance"},
    {"GRANT", "Grant or donation"},
    {"OTHER", "Other"},
}};

constexpr std::array<Term, 14> kRelationships{{
    {"SELF", "The same person or company"},
    {"SPOUSE", "Spouse or partner"},
    {"PARENT", "Parent"},
    {"CHILD", "Child"},
    {"SIBLING", "Brother or sister"},
    {"RELATIVE", "Other relative"},
    {"FRIEND", "Friend"},
    {"EMPLOYEE", "Employee"},
    {"EMPLOYER", "Employer"},
    {"CUSTOMER", "Customer"},
    {"SUPPLIER", "Supplier or contractor"},
    {"BUSINESS_PARTNER", "Business partner"},
    {"SUBSIDIARY", "Company of the same group"},
    {"OTHER", "Other"},
}};

constexpr std::array<Term, 5> kIdTypes{{
    {"PASSPORT", "Passport"},
    {"NATIONAL_ID", "National identity card"},
    {"DRIVING_LICENCE", "Driving licence"},
    {"RESIDENCE_PERMIT", "Residence permit"},
    {"TAX_ID", "Tax number"},
}};

bool holds(std::span<const Term> terms, std::string_view code) {
  return std::ranges::any_of(terms, [&](const Term& term) { return term.code == code; });
}

}  // namespace

std::span<const Term> purpose_of_payment_terms() { return kPurposes; }
std::span<const Term> source_of_funds_terms() { return kSources; }
std::span<const Term> relationship_terms() { return kRelationships; }
std::span<const Term> id_type_terms() { return kIdTypes; }

bool is_purpose_of_payment(std::string_view code) { return holds(kPurposes, code); }
bool is_source_of_funds(std::string_view code) { return holds(kSources, code); }
bool is_relationship(std::string_view code) { return holds(kRelationships, code); }

}  // namespace coffer
