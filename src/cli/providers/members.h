// The arguments of the members of a noun (domain/tables/member.h), by their types.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/text/ascii.h"
#include "cli/command.h"
#include "cli/ledger/market.h"
#include "cli/providers/connectors.h"
#include "domain/providers/connector.h"
#include "domain/tables/member.h"

namespace coffer::cli {

/// The argument of a member, by its type.
template <class T>
Result<T> member_value(Session& session, const Arguments& arguments, const MemberFact& row) {
  const std::string name(row.option.name);
  if constexpr (std::is_same_v<T, std::string>) {
    const std::string& text = arguments.text(name);
    return row.is(MemberFlag::upper_case) ? ascii::to_upper(text) : text;
  }
  if constexpr (std::is_same_v<T, Asset>) {
    COFFER_TRY(const AssetCode code, asset_argument(arguments, name));
    return registered_asset(session, code);
  }
  if constexpr (std::is_same_v<T, Amount>) {
    if (row.is(MemberFlag::may_be_zero)) return fee_value(arguments, name);
    return parse_amount_of("--" + name, arguments.text(name), Amount::kScale,
                           ": at most 7 are permitted.");
  }
  if constexpr (std::is_same_v<T, bool>) return true;
  if constexpr (std::is_same_v<T, PayMethod>) return *parse_pay_method(arguments.text(name));
  if constexpr (Vocabulary<T>) return *parse_term_in_any_case<T>(arguments.text(name));
  if constexpr (std::is_same_v<T, Rate>) return rate_argument(arguments, name);
  if constexpr (std::is_same_v<T, TransactionTypes>) return types_argument(arguments, name);
  if constexpr (std::is_signed_v<T>) return number_argument<T>(arguments, name);
  if constexpr (std::is_same_v<T, std::vector<Requirement::Choice>>)
    return choices_argument(arguments, name);
  throw InternalError("no argument has this type");
}

/// Reads the argument of a member, or --no-NAME, if it is given.
template <class Noun, auto... kPath>
Result<void> read_member(Session& session, const Arguments& arguments, const Member<kPath...>& row,
                         Change<Noun>& out) {
  using Type = MemberType<kPath...>;
  if (row.option.name.empty()) return {};
  const auto read = [&](const Arguments&, const std::string&) {
    return member_value<MemberValue<kPath...>>(session, arguments, row);
  };
  COFFER_TRY(const auto value, removable(arguments, std::string(row.option.name), read));
  if (value) out.template set<kPath...>(*value ? Type(**value) : Type());
  return {};
}

/// The members that are given. The flow checks decimal places and ranges.
template <class Noun>
Result<Change<Noun>> given_members(Session& session, const Arguments& arguments) {
  Change<Noun> out;
  Result<void> read;
  each_member<Noun>([&](const auto& row) {
    if (read) read = read_member(session, arguments, row, out);
  });
  COFFER_TRY_VOID(read);
  return out;
}

template <class T>
constexpr std::string_view placeholder_of(const MemberFact& row) {
  if (std::is_same_v<T, Amount>) return "AMOUNT";
  if (std::is_same_v<T, Rate>) return "RATE";
  if (std::is_unsigned_v<T> || std::is_same_v<T, std::vector<Requirement::Choice>>) return "LIST";
  if (std::is_same_v<T, Asset> || row.is(MemberFlag::upper_case)) return "CODE";
  return std::is_same_v<T, std::string> ? "TEXT" : "N";
}

/// The argument of a member. Only that of a new connector can be required and have a default.
template <auto... kPath>
Argument argument_of(const Member<kPath...>& row, bool is_new) {
  using Type = MemberValue<kPath...>;
  const MemberOption& about = row.option;
  Argument out = option(about.name, placeholder_of<Type>(row), about.help);
  if constexpr (Vocabulary<Type>) out = choice_of<Type>(about.name, about.help);
  if constexpr (std::is_same_v<Type, TransactionTypes>) {
    out = chosen_among(terms<TransactionType>(), out, ',');
  }
  if (std::is_same_v<Type, bool>) out = toggle(about.name, about.help);
  if (is_new) out.required = row.is(MemberFlag::required);
  if (ascii::is_upper(about.name.front())) out = positional(about.name, about.help);
  if (is_new) out.fallback = about.fallback;
  return on_page(member_of(row.name, out), about.label, about.example);
}

/// --no-NAME.
template <auto... kPath>
Argument removal_of(const Member<kPath...>& row) {
  static const std::string name = "no-" + std::string(row.option.name);
  return toggle(name, row.option.removal);
}

template <class Noun>
std::vector<Argument> arguments_of(bool is_new) {
  std::vector<Argument> out;
  each_member<Noun>([&](const auto& row) {
    if (!row.option.name.empty()) out.push_back(argument_of(row, is_new));
  });
  return out;
}

/// The value in a record. An amount has `decimals`.
template <class Row, class Noun>
void put_member(Record& record, const Row& row, const Noun& noun, int decimals) {
  Field& field = record.emplace_back(std::string(row.name), std::string());
  std::visit([&](auto value) { field.value = std::move(value); },
             shown_member(row.of(noun), decimals));
}

}  // namespace coffer::cli
