// What holds for every object store. `a` and `b` are open at one empty place.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/object_store.h"

namespace coffer::store::test {

struct StoreCase {
  const char* name;
  void (*run)(ObjectStore& a, ObjectStore& b);
};

inline std::vector<std::string> names_of(ObjectStore& store, const std::string& prefix,
                                         const std::string& after = {}) {
  const auto listed = store.list(prefix, after);
  REQUIRE(listed);
  std::vector<std::string> out;
  for (const StoredObject& object : *listed) out.push_back(object.name);
  return out;
}

inline void put_all(ObjectStore& store, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    INFO(name);
    CHECK(store.put(name, name).value() == PutResult::stored);
  }
}

inline const auto kStoreCases = std::to_array<StoreCase>({
    {"an object is stored once, and never changed",
     [](ObjectStore& a, ObjectStore& b) {
       const std::string all_bytes = [] {
         std::string out;
         for (int byte = 0; byte < 256; ++byte) out += static_cast<char>(byte);
         return out;
       }();
       CHECK(a.put("segments/1-2.bin", all_bytes).value() == PutResult::stored);
       CHECK(b.put("segments/1-2.bin", "other").value() == PutResult::exists);
       CHECK(a.put("segments/1-2.bin", "another").value() == PutResult::exists);
       CHECK(b.get("segments/1-2.bin", 256).value() == all_bytes);
     }},
    {"a call whose answer was lost can be repeated",
     [](ObjectStore& a, ObjectStore& b) {
       REQUIRE(a.put("x/y", "content"));
       CHECK(a.put("x/y", "content").value() == PutResult::stored);
       CHECK(b.put("x/y", "content").value() == PutResult::stored);
       for (const char* other : {"", "conten", "Content", "contents"}) {
         CHECK(b.put("x/y", other).value() == PutResult::exists);
       }
     }},
    {"reading is bounded, and the bound itself may be reached",
     [](ObjectStore& a, ObjectStore&) {
       REQUIRE(a.put("empty", ""));
       REQUIRE(a.put("large", std::string(100'000, 'x')));
       CHECK(a.get("empty", 0).value().empty());
       CHECK(a.get("large", 100'000).value().size() == 100'000);
       const auto refused = a.get("large", 99'999);
       REQUIRE_FALSE(refused);
       CHECK(refused.error().slug == Slug::validation_failed);
     }},
    {"what is not there is not found, and its removal has no effect",
     [](ObjectStore& a, ObjectStore&) {
       REQUIRE(a.put("there", "x"));
       for (const char* name : {"a", "a/b", "ther"}) {
         INFO(name);
         const auto missing = a.get(name, 100);
         REQUIRE_FALSE(missing);
         CHECK(missing.error().slug == Slug::not_found);
         CHECK(a.remove(name));
       }
       CHECK(names_of(a, "") == std::vector<std::string>{"there"});
     }},
    {"a removed name is free",
     [](ObjectStore& a, ObjectStore& b) {
       REQUIRE(a.put("x/y", "1"));
       REQUIRE(b.remove("x/y"));
       CHECK(names_of(a, "").empty());
       CHECK(a.put("x/y", "2").value() == PutResult::stored);
       CHECK(b.get("x/y", 10).value() == "2");
     }},
    {"names are listed in byte order, whatever folders they imply",
     [](ObjectStore& a, ObjectStore& b) {
       const std::vector<std::string> sorted{"A/b",  "a-b", "a.b", "a/0",  "a/b/c",     "a/b/c-d",
                                             "a/b0", "a0",  "b",   "b_/x", "heads/2026"};
       put_all(a, {sorted.rbegin(), sorted.rend()});
       CHECK(names_of(b, "") == sorted);
       for (std::size_t from = 0; from < sorted.size(); ++from) {
         INFO(sorted[from]);
         const std::vector<std::string> rest(sorted.begin() + static_cast<long>(from) + 1,
                                             sorted.end());
         CHECK(names_of(b, "", sorted[from]) == rest);
       }
       const auto of = [&](const char* prefix, const char* after = "") {
         return names_of(b, prefix, after);
       };
       using Names = std::vector<std::string>;
       CHECK(of("a/") == Names{"a/0", "a/b/c", "a/b/c-d", "a/b0"});
       CHECK(of("a/b") == Names{"a/b/c", "a/b/c-d", "a/b0"});
       CHECK(of("a/b/c") == Names{"a/b/c", "a/b/c-d"});
       CHECK(of("a/b", "a/b/c-") == Names{"a/b/c-d", "a/b0"});
       CHECK(of("b", "a") == Names{"b", "b_/x"});
       CHECK(of("b_", "c").empty());
       CHECK(of("heads", "heads") == Names{"heads/2026"});
       CHECK(of("none/").empty());
       CHECK(of("../").empty());
     }},
    {"hostile names are refused",
     [](ObjectStore& a, ObjectStore&) {
       const std::string longest(512, 'n');
       REQUIRE(a.put("x/" + std::string(250, 'n') + "/" + std::string(250, 'n'), "x"));
       for (const std::string& name :
            {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"),
             std::string("."), std::string(".."), std::string("../a"), std::string("a/../b"),
             std::string("a/.b"), std::string("a b"), std::string("a\\b"), std::string("a?b"),
             std::string("a%2fb"), std::string("a\nb"), std::string("a\0b", 3),
             std::string("\xc3\xa4"), longest + "n"}) {
         INFO(name);
         const auto put = a.put(name, "x");
         const auto get = a.get(name, 10);
         const auto removed = a.remove(name);
         REQUIRE_FALSE(put);
         REQUIRE_FALSE(get);
         REQUIRE_FALSE(removed);
         CHECK(put.error().slug == Slug::malformed_request);
         CHECK(get.error().slug == Slug::malformed_request);
         CHECK(removed.error().slug == Slug::malformed_request);
       }
       CHECK(names_of(a, "").size() == 1);
     }},
});

/// A list of this many objects has their sizes, in answers of at most 1,000.
inline void check_pages(ObjectStore& store, int many) {
  std::vector<std::string> names;
  for (int number = 10'000; number < 10'000 + many; ++number) {
    names.push_back("n/" + std::to_string(number / 100) + "/" + std::to_string(number));
  }
  put_all(store, names);
  std::vector<std::string> found;
  for (;;) {
    const auto page = store.list("n/", found.empty() ? "" : found.back());
    REQUIRE(page);
    CHECK(page->size() <= 1'000);
    if (page->empty()) break;
    for (const StoredObject& object : *page) {
      CHECK(object.bytes == static_cast<std::int64_t>(object.name.size()));
      found.push_back(object.name);
    }
  }
  CHECK(found == names);
}

}  // namespace coffer::store::test
