#include "base/result.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

using namespace coffer;

namespace result_test {
namespace {

/// Counts the objects that exist.
struct Counted {
  explicit Counted(std::string given) : text(std::move(given)) { ++alive; }
  Counted(const Counted& other) : text(other.text) { ++alive; }
  Counted(Counted&& other) noexcept : text(std::move(other.text)) { ++alive; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) noexcept = default;
  ~Counted() { --alive; }

  std::string text;
  static inline int alive = 0;
};

using Counting = Result<Counted>;

// Longer than the buffer of a std::string, so that the address sanitizer sees a lost one.
const std::string kLong(100, 'x');

Counting found() { return Counted(kLong); }
Counting missing() { return unexpected(Slug::not_found, kLong); }

}  // namespace

TEST_CASE("result: copies, moves and assignments between value and problem") {
  {
    const Counting value = found();
    const Counting problem = missing();
    for (const Counting* first : {&value, &problem}) {
      for (const Counting* second : {&value, &problem}) {
        Counting changed = *first;
        changed = *second;
        CHECK(changed.has_value() == second->has_value());
        CHECK((changed ? changed->text : changed.error().detail) == kLong);
        Counting moved = std::move(changed);
        CHECK((moved ? moved->text : moved.error().detail) == kLong);
        moved = Counting(*first);
        CHECK(moved.has_value() == first->has_value());
        const Counting& same = moved;
        moved = same;
        CHECK((moved ? moved->text : moved.error().detail) == kLong);
      }
    }
    CHECK(Counted::alive == 1);
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("result: a value that cannot be copied is moved out") {
  using Owner = Result<std::unique_ptr<std::string>>;
  static_assert(!std::is_copy_constructible_v<Owner>);
  Owner owner = std::make_unique<std::string>(kLong);
  const std::unique_ptr<std::string> text = *std::move(owner);
  CHECK(*text == kLong);
}

TEST_CASE("result: the wrong one of value and problem is an internal error") {
  CHECK_THROWS_AS(missing().value(), InternalError);
  CHECK_THROWS_AS(*missing(), InternalError);
  CHECK_THROWS_AS(found().error(), InternalError);
  const auto first_word = [](Counting text) -> Result<std::string> {
    COFFER_TRY(const Counted given, std::move(text));
    return given.text;
  };
  CHECK(first_word(found()).value() == kLong);
  CHECK(first_word(missing()).error().slug == Slug::not_found);
}

}  // namespace result_test
