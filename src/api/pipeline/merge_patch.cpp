#include "api/pipeline/merge_patch.h"

#include <algorithm>

namespace coffer::api {

http::JsonValue merge_patch(http::JsonValue target, const http::JsonValue& patch) {
  if (patch.object() == nullptr) return patch;
  if (target.object() == nullptr) target = http::JsonValue(http::JsonValue::Object{});
  auto& members = std::get<http::JsonValue::Object>(target.data());
  for (const auto& [name, value] : *patch.object()) {
    const auto it =
        std::ranges::find_if(members, [&](const auto& member) { return member.first == name; });
    if (value.is_null()) {
      if (it != members.end()) members.erase(it);
    } else if (it != members.end()) {
      it->second = merge_patch(std::move(it->second), value);
    } else {
      members.emplace_back(name, merge_patch({}, value));
    }
  }
  return target;
}

}  // namespace coffer::api
