// The members of a noun of any type, each written once as a row of its table: the names in JSON,
// in the database and on the command line, the path to the member, and what may be done with it.
//
//   template <>
//   struct Members<ConnectorTerms> {
//     static constexpr std::tuple rows{
//         member<&ConnectorTerms::rate>("rate", "rate", changes, {...})};
//   };
//
// The store, its digests and the export (store/rows/members.h), the API, the command line and
// `coffer apply` go through these rows, with one function per type of member.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace coffer {

/// How a member is given on the command line.
struct MemberOption {
  std::string_view name = {};      // `fee-bps`; in upper case, positional; empty: it is not given
  std::string_view help = {};      // a noun phrase
  std::string_view label = {};     // of the field on the admin page
  std::string_view example = {};   // there
  std::string_view fallback = {};  // for a new noun
  std::string_view removal = {};   // the help of --no-NAME, which removes the value
};

enum class MemberFlag : unsigned {
  none = 0,
  in_api = 1,
  required = 2,      // for a new noun
  changes = 4,       // may change later
  upper_case = 8,    // accepted in any case
  may_be_zero = 16,  // an amount or number; removing it makes it zero
};
constexpr MemberFlag operator|(MemberFlag a, MemberFlag b) {
  return static_cast<MemberFlag>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// The data of a row, independent of the type of the member.
struct MemberFact {
  std::string_view name = {};    // in JSON; empty: internal
  std::string_view column = {};  // in the noun's table; of a rate, the beginning of two
  MemberFlag flags = MemberFlag::none;
  MemberOption option = {};
  std::int64_t max = 0;  // of an integer, which is at least 0
  int since = 0;         // the number of the upgrade that added the column

  constexpr bool is(MemberFlag flag) const { return (flags | flag) == flags; }
  /// Whether a declaration of the noun can contain it.
  constexpr bool is_declared() const { return !option.name.empty() || is(MemberFlag::changes); }
};

template <class Noun, class T>
Noun noun_of(T Noun::*);

/// The path leads from the noun to the member, through members of the noun.
template <auto kFirst, auto... kRest>
struct Member : MemberFact {
  using Noun = decltype(noun_of(kFirst));
  bool (Noun::*acts)() const = nullptr;  // whether the member is shown; nullptr: always

  bool is_shown(const Noun& noun) const { return acts == nullptr || (noun.*acts)(); }
  template <class Any>
  static constexpr auto& of(Any& noun) {
    return ((noun.*kFirst).*....*kRest);
  }
};

template <class T>
T value_of(const T&);
template <class T>
T value_of(const std::optional<T>&);
/// The type of a member, and of the value in an optional one.
template <auto... kPath>
using MemberType = std::remove_cvref_t<decltype(Member<kPath...>::of(
    std::declval<typename Member<kPath...>::Noun&>()))>;
template <auto... kPath>
using MemberValue = decltype(value_of(std::declval<MemberType<kPath...>>()));

template <auto... kPath>
constexpr Member<kPath...> member(std::string_view name, std::string_view column,
                                  MemberFlag flags = MemberFlag::none, MemberOption option = {},
                                  std::int64_t max = 0, int since = 0) {
  return {{name, column, flags, option, max, since}};
}
/// A row of a noun as a row of the noun that has it as a member.
template <auto kTo, auto... kPath>
constexpr Member<kTo, kPath...> inside(const Member<kPath...>& row, std::string_view column) {
  Member<kTo, kPath...> out{row};
  out.column = column;
  return out;
}
/// `row`, which is shown only if `acts` returns true.
template <class Row>
constexpr Row shown_if(bool (Row::Noun::*acts)() const, Row row) {
  row.acts = acts;
  return row;
}

/// The value of a member in JSON and for people.
using PlainValue = std::variant<std::monostate, std::string, std::int64_t, bool>;

/// The `rows` of a noun.
template <class Noun>
struct Members;

/// Calls `visit(row)` for each member, in order.
template <class Noun, class Visit>
void each_member(const Visit& visit) {
  std::apply([&](const auto&... rows) { (visit(rows), ...); }, Members<Noun>::rows);
}

/// The row of a member.
template <class Noun, auto... kPath>
constexpr const Member<kPath...>& member_row() {
  return std::get<Member<kPath...>>(Members<Noun>::rows);
}

/// Given values of some members: of a new noun, or new ones.
template <class Noun>
class Change {
 public:
  template <auto... kPath, class Value>
  Change& set(Value&& value) {
    Member<kPath...>::of(values_) = std::forward<Value>(value);
    given_.insert(member_row<Noun, kPath...>().name);
    return *this;
  }
  template <auto... kPath>
  bool has() const {
    return given_.contains(member_row<Noun, kPath...>().name);
  }
  /// The noun, with defaults for members that were not given.
  const Noun& values() const { return values_; }
  /// Sets the given members that may change.
  void apply_to(Noun& noun) const {
    each_member<Noun>([&](const auto& row) {
      if (row.is(MemberFlag::changes) && given_.contains(row.name)) row.of(noun) = row.of(values_);
    });
  }

 private:
  Noun values_ = {};
  std::set<std::string_view> given_;
};

}  // namespace coffer
