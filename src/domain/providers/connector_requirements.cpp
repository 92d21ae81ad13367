// Checks `additionalFields` against the requirements of a connector.
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/text/characters.h"
#include "domain/providers/connector.h"

namespace coffer {
namespace {

bool is_decimal(std::string_view text) {
  // Unlike amounts, numbers may be zero or negative.
  return parse_amount(text, Amount::kScale, Exponent::accepted).fault != AmountFault::not_a_number;
}

bool is_choice(const Requirement& requirement, std::string_view value) {
  return std::ranges::any_of(
      requirement.choices, [&](const Requirement::Choice& choice) { return choice.code == value; });
}

/// RE2 matches in linear time for every pattern and limits its memory, so an operator's pattern
/// cannot block a thread.
RE2 compiled(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(256 << 10);
  return RE2(pattern, options);
}

/// Whether the pattern has the same meaning in JSON Schema validators (ECMA-262) as in RE2, which
/// also has inline flags, POSIX classes and more escapes.
bool is_common_syntax(std::string_view pattern) {
  constexpr std::string_view kCommonEscapes = "dDsSwWbBnrtfv";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = pattern.substr(i);
    if (rest.starts_with("(?") && !rest.starts_with("(?:")) return false;
    if (rest.starts_with("[[:")) return false;
    if (rest[0] != '\\' || rest.size() < 2) continue;
    const bool is_class = std::isalnum(static_cast<unsigned char>(rest[1])) != 0;
    if (is_class && kCommonEscapes.find(rest[1]) == std::string_view::npos) return false;
    ++i;
  }
  return true;
}

/// The error in a text, or empty. Checks the length first, which limits the input of the pattern.
std::string fault_of_text(const Requirement& requirement, const std::string& value) {
  const int size = static_cast<int>(character_count(value));
  const int least = std::max(1, requirement.min_length.value_or(1));
  const int most = requirement.max_length.value_or(kRequirementLengthMax);
  if (size < least) return "must have at least " + std::to_string(least) + " characters";
  if (size > most) return "must have at most " + std::to_string(most) + " characters";
  if (!requirement.choices.empty() && !is_choice(requirement, value)) {
    return "is not one of the choices in GET /v1/payments/requirements";
  }
  if (requirement.pattern && !RE2::FullMatch(value, compiled(*requirement.pattern))) {
    return "must match " + *requirement.pattern;
  }
  return {};
}

std::string fault_of(const Requirement& requirement, const std::string& value) {
  switch (requirement.type) {
    case Requirement::Type::text:
      return fault_of_text(requirement, value);
    case Requirement::Type::number:
      return is_decimal(value) ? "" : "must be a decimal number";
    case Requirement::Type::boolean:
      return value == "true" || value == "false" ? "" : "must be true or false";
  }
  throw InternalError("unknown requirement type");
}

}  // namespace

Pattern::Pattern(const std::string& text) : form_(std::make_unique<const RE2>(text, RE2::Quiet)) {}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;

bool Pattern::is_in(const std::string& text) const { return RE2::PartialMatch(text, *form_); }

bool is_requirement_pattern(const std::string& pattern) {
  return !pattern.empty() && pattern.size() <= 200 && is_common_syntax(pattern) &&
         compiled(pattern).ok();
}

void change_requirement(std::vector<Requirement>& requirements, const RequirementChange& change) {
  const std::string& name = change.values().name;
  auto found = std::ranges::find(requirements, name, &Requirement::name);
  if (found == requirements.end()) {
    requirements.push_back({.name = name, .label = name});
    found = requirements.end() - 1;
  }
  change.apply_to(*found);
}

std::vector<Requirement> applicable(std::span<const Requirement> requirements,
                                    std::optional<TransactionType> type) {
  std::vector<Requirement> out;
  std::copy_if(
      requirements.begin(), requirements.end(), std::back_inserter(out),
      [&](const Requirement& requirement) { return !type || contains(requirement.types, *type); });
  return out;
}

void check_requirements(std::span<const Requirement> requirements, TransactionType type,
                        const AdditionalFields& values, ValidationErrors& errors) {
  const std::vector<Requirement> asked = applicable(requirements, type);
  for (const Requirement& requirement : asked) {
    const std::string field = "additionalFields." + requirement.name;
    const auto value = values.find(requirement.name);
    if (value == values.end()) {
      if (requirement.required) {
        errors.add(Slug::requirement_missing, field, "is required: " + requirement.label);
      }
      continue;
    }
    if (std::string wrong = fault_of(requirement, value->second); !wrong.empty()) {
      errors.add(Slug::validation_failed, field, std::move(wrong));
    }
  }
  for (const auto& [name, value] : values) {
    const auto same = [&wanted = name](const Requirement& one) { return one.name == wanted; };
    if (std::ranges::none_of(asked, same)) {
      errors.add(Slug::validation_failed, "additionalFields." + name,
                 "is not a field of this connector");
    }
  }
}

}  // namespace coffer
