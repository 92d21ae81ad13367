#include "store/operations/newest.h"

namespace coffer::store {

KeyPage page_of(KeyWalk::Found found, const NewestAt& at) {
  KeyPage out{std::move(found.keys), found.cut_at, found.cut_at.has_value()};
  if (out.keys.size() > static_cast<std::size_t>(at.limit)) {
    out.keys.pop_back();
    out.next = out.keys.back();
    out.cut_short = false;
  }
  return out;
}

KeyPage newest_keys(const KeyWalk& walk, const KeySets& sets, const NewestAt& at,
                    const std::function<bool(std::int64_t)>& wanted) {
  return page_of(walk.read(sets, {.beyond = at.before, .limit = at.limit + 1}, wanted), at);
}

}  // namespace coffer::store
