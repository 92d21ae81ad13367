// The last images of the pages that commits change most, against which the next images are encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace coffer::store {

/// Keeps the images that were used last. A random eviction would drop pages that every commit
/// changes. Not thread-safe.
class PageBases {
 public:
  explicit PageBases(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// The image that was put last; empty if it was not kept. Valid until the next put().
  std::string_view find(std::uint32_t page);
  void put(std::uint32_t page, std::string_view bytes);
  /// Forgets all pages beyond the end of the file. If the file grows again, a follower has other
  /// bytes at their places.
  void forget_beyond(std::uint32_t last_page);

 private:
  struct Base {
    std::uint32_t page = 0;
    std::string bytes;
  };
  using Bases = std::list<Base>;
  void drop(Bases::iterator base);

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::uint32_t end_ = 0;  // no page beyond it is kept
  Bases bases_;            // the one used last comes first
  std::unordered_map<std::uint32_t, Bases::iterator> places_;
};

}  // namespace coffer::store
