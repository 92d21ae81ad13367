// JSON objects with a known number of members.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

namespace coffer::flows {

using Json = nlohmann::ordered_json;

namespace detail {

inline void add_members(Json::object_t&) {}

template <class Value, class... Rest>
void add_members(Json::object_t& out, const char* name, Value&& value, Rest&&... rest) {
  out.emplace_back(name, Json(std::forward<Value>(value)));
  add_members(out, std::forward<Rest>(rest)...);
}

}  // namespace detail

/// An object from alternating names and values. Names must be unique. It has room for `more`
/// further members.
///
/// For objects that are built for many requests. A braced list first builds an array for each
/// member, and an object that outgrows its room copies all members, because their names are const.
template <class... Members>
Json object_with_room(std::size_t more, Members&&... members) {
  static_assert(sizeof...(members) % 2 == 0);
  Json::object_t out;
  out.reserve(sizeof...(members) / 2 + more);
  detail::add_members(out, std::forward<Members>(members)...);
  return out;
}

}  // namespace coffer::flows
