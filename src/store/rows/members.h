// The columns of a noun with a table of members (domain/tables/member.h).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/ledger/money.h"
#include "domain/tables/member.h"
#include "store/rows/columns.h"

namespace coffer::store {

/// The names of the columns of a row: two of a rate, otherwise at most one.
template <auto... kPath>
std::vector<std::string> names_of(const Member<kPath...>& row) {
  if (row.column.empty()) return {};
  std::string name(row.column);
  if constexpr (std::is_same_v<MemberType<kPath...>, std::optional<Rate>>) {
    return {name + "_numerator", name + "_denominator"};
  }
  return {std::move(name)};
}

/// The columns of a noun, which the path leads to from a row, in the order of its table. `alias`
/// precedes their names in statements.
template <class Row, auto... kTo>
std::vector<Column<Row>> member_columns(const std::string& alias) {
  using Noun = std::remove_cvref_t<decltype((std::declval<Row&>().*....*kTo))>;
  std::vector<Column<Row>> out;
  each_member<Noun>([&]<auto... kPath>(const Member<kPath...>& row) {
    const auto names = names_of(row);
    const auto add = [&](Column<Row> (*make)(std::string_view), const std::string& name) {
      out.push_back(make(kept(alias + name)));
      out.back().changes = row.is(MemberFlag::changes);
    };
    using Type = MemberType<kPath...>;
    if constexpr (std::is_same_v<Type, std::optional<Rate>>) {
      add(column<kTo..., kPath..., &Rate::numerator>, names.at(0));
      add(column<kTo..., kPath..., &Rate::denominator>, names.at(1));
    } else if constexpr (std::is_same_v<Type, Asset>) {
      add(column<kTo..., kPath..., &Asset::key>, names.at(0));
    } else if constexpr (requires(const Query& q, Type& value) { columns::read(q, 0, value); }) {
      add(column<kTo..., kPath...>, names.at(0));
    }
  });
  return out;
}

/// The columns of a noun for GuardedTable: those of the first release in the order of its table,
/// then later ones in the order of their upgrades. `before`: names of columns that precede them.
struct GuardedNames {
  std::string names;
  int later = 0;
};
template <class Noun>
GuardedNames guarded_names(std::string before = "") {
  std::vector<std::pair<int, std::string>> all;
  each_member<Noun>([&](const auto& row) {
    for (std::string& name : names_of(row)) all.emplace_back(row.since, std::move(name));
  });
  std::ranges::stable_sort(all, {}, [](const auto& one) { return one.first; });
  GuardedNames out{std::move(before)};
  for (const auto& [since, name] : all) {
    out.names += (out.names.empty() ? "" : ", ") + name;
    if (since > 0) ++out.later;
  }
  return out;
}

}  // namespace coffer::store
