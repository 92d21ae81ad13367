// A request body, and every number in it as an amount: exact, canonical, and unchanged by a round
// trip.
#include <cmath>
#include <cstdlib>

#include "domain/ledger/money.h"
#include "fuzz/property.h"
#include "http/json_body.h"

namespace coffer::fuzz {
namespace {

using http::JsonValue;

void check_amount(const std::string& text) {
  ParsedAmount before;
  for (int decimals = 0; decimals <= Amount::kScale; ++decimals) {
    const ParsedAmount parsed = parse_amount(text, decimals, Exponent::accepted);
    if (parsed.fault != AmountFault::none) {
      // A text that is valid stays valid with more decimals.
      HOLDS(decimals == 0 || before.fault != AmountFault::none);
    } else {
      HOLDS(parsed.amount.is_positive());
      HOLDS(before.fault != AmountFault::none || decimals == 0 || before.amount == parsed.amount);
      const std::string canonical = parsed.amount.to_string(decimals);
      const ParsedAmount again = parse_amount(canonical, decimals);
      HOLDS(again.fault == AmountFault::none && again.amount == parsed.amount);
      HOLDS(again.amount.to_string(decimals) == canonical);
      HOLDS(canonical.find_first_of("eE+-") == std::string::npos);
      const ParsedAmount plain = parse_amount(text, decimals);
      const bool has_exponent = text.find_first_of("eE") != std::string::npos;
      HOLDS(plain.fault == (has_exponent ? AmountFault::not_a_number : AmountFault::none));
      const long double seen = std::strtold(text.c_str(), nullptr) * Amount::kUnitsPerWhole;
      const auto units = static_cast<long double>(parsed.amount.units());
      HOLDS(std::fabs(seen - units) <= units * 1e-15L);
    }
    before = parsed;
  }
}

/// The value as JSON. Checks that members are unique and that numbers convert to amounts.
void write(const JsonValue& value, int depth, std::string& out) {
  HOLDS(depth <= 33);
  if (const auto* text = value.string()) {
    HOLDS(text->find('\0') == std::string::npos && text->size() <= 4096);
    out += quoted(*text);
  } else if (const auto* number = value.number()) {
    check_amount(number->text);
    HOLDS(parse_amount(number->text, Amount::kScale, Exponent::accepted).fault !=
          AmountFault::not_a_number);
    out += number->text;
  } else if (const auto* list = value.array()) {
    out += '[';
    for (const JsonValue& one : *list) {
      if (&one != list->data()) out += ',';
      write(one, depth + 1, out);
    }
    out += ']';
  } else if (const auto* members = value.object()) {
    out += '{';
    bool first = true;
    for (const auto& [name, member] : *members) {
      HOLDS(value.find(name) == &member);
      if (!std::exchange(first, false)) out += ',';
      out += quoted(name);
      out += ':';
      write(member, depth + 1, out);
    }
    out += '}';
  } else {
    out += value.is_null() ? "null" : *value.scalar_text();
  }
}

void check_body(std::string_view text) {
  const auto parsed = http::parse_json(text);
  if (!parsed) {
    HOLDS(parsed.error().slug == Slug::malformed_request && !parsed.error().detail.empty());
    return;
  }
  std::string written, written_again;
  write(*parsed, 0, written);
  const auto again = http::parse_json(written);
  HOLDS(again.has_value());
  write(*again, 0, written_again);
  HOLDS(written == written_again);
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = coffer::fuzz::text_of(data, size);
  coffer::fuzz::check_body(text);
  coffer::fuzz::check_amount(std::string(text));
  return 0;
}
