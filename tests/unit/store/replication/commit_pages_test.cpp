// The pages of commits, from a leader's encoder to a follower's file.
#include "store/replication/commit_pages.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

using namespace coffer;
using namespace coffer::store;

namespace commit_pages_test {
namespace {

constexpr std::size_t kPage = 2'048;

/// A file as its pages, each of which exists.
struct PagedFile {
  std::vector<std::string> pages;

  void cut_or_grow(std::size_t count) { pages.resize(count, std::string(kPage, '\0')); }
};

/// Decodes all parts into `file`. Returns false at the first that is rejected.
bool apply(PageDecoder& decoder, const std::vector<std::string>& parts, PagedFile& file) {
  for (const std::string& part : parts) {
    const FollowerPages pages{[&](std::uint32_t page) {
                                return page <= file.pages.size() ? file.pages[page - 1]
                                                                 : std::string();
                              },
                              [&](const PageImage& image) {
                                if (image.number > file.pages.size())
                                  file.cut_or_grow(image.number);
                                file.pages[image.number - 1] = image.bytes;
                              }};
    const auto head = read_part_head(part);
    REQUIRE(head);
    CHECK(head->page_size == kPage);
    CHECK(head->is_last == (&part == &parts.back()));
    if (!decoder.decode(part, pages)) return false;
    if (head->is_last) file.cut_or_grow(head->file_pages);
  }
  return true;
}

/// A leader's file that random commits change, as those of a database do.
class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {}

  /// The changed pages by number; `file` has them already.
  std::map<std::uint32_t, std::string> commit(std::size_t changes) {
    std::map<std::uint32_t, std::string> out;
    if (below(8) == 0) file.cut_or_grow(1 + below(file.pages.size() + 1));
    for (std::size_t i = 0; i < changes; ++i) {
      const auto number = static_cast<std::uint32_t>(1 + below(file.pages.size() + 1));
      if (number > file.pages.size()) file.cut_or_grow(number);
      std::string& page = file.pages[number - 1];
      const std::size_t at = below(kPage - 64);
      page.replace(at, 64, random_.bytes(64));
      out[number] = page;
    }
    return out;
  }

  std::size_t below(std::size_t bound) { return random_.next_u64() % bound; }
  PagedFile file;

 private:
  SeededRandom random_;
};

CommitPages as_commit(const std::map<std::uint32_t, std::string>& changed, std::size_t file_pages) {
  CommitPages out{kPage, static_cast<std::uint32_t>(file_pages), {}};
  for (const auto& [number, bytes] : changed) out.pages.push_back({number, bytes});
  return out;
}

std::size_t bytes_of_parts(const std::vector<std::string>& parts) {
  std::size_t out = 0;
  for (const std::string& part : parts) out += part.size();
  return out;
}

}  // namespace

TEST_CASE("commit pages: a follower's file equals the leader's after every commit") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  const std::size_t base_bytes = GENERATE(0, 20 * kPage, 1 << 20);
  Model leader(seed);
  PagedFile follower;
  PageEncoder encoder(base_bytes);
  PageDecoder decoder;
  for (int i = 0; i < 300; ++i) {
    const auto changed = leader.commit(1 + leader.below(12));
    REQUIRE(apply(decoder, encoder.encode(as_commit(changed, leader.file.pages.size())), follower));
    REQUIRE(follower.pages == leader.file.pages);
  }
}

TEST_CASE("commit pages: a page that was cut off and grows again is sent whole") {
  PageEncoder encoder(1 << 20);
  PageDecoder decoder;
  PagedFile follower;
  const std::string old(kPage, 'a');
  REQUIRE(apply(decoder, encoder.encode({kPage, 3, {{1, old}, {2, old}, {3, old}}}), follower));
  REQUIRE(apply(decoder, encoder.encode({kPage, 2, {{1, old}}}), follower));
  CHECK(follower.pages.size() == 2);
  const std::string fresh(kPage, 'b');
  REQUIRE(apply(decoder, encoder.encode({kPage, 3, {{3, fresh}}}), follower));
  CHECK(follower.pages[2] == fresh);
}

TEST_CASE("commit pages: a small change of a kept page takes few bytes") {
  SeededRandom random(5);
  std::map<std::uint32_t, std::string> pages;
  for (std::uint32_t i = 2; i < 30; ++i) pages[i] = random.bytes(kPage);
  PageEncoder encoder(1 << 20);
  CHECK(bytes_of_parts(encoder.encode(as_commit(pages, 40))) > pages.size() * kPage);
  for (auto& [number, page] : pages) page[100] = static_cast<char>(page[100] + 1);
  CHECK(bytes_of_parts(encoder.encode(as_commit(pages, 40))) < 600);
}

TEST_CASE("commit pages: a large commit has parts below the limit") {
  SeededRandom random(6);
  std::map<std::uint32_t, std::string> pages;
  for (std::uint32_t i = 1; i <= 2'000; ++i) pages[i] = random.bytes(kPage);
  PageEncoder encoder(1 << 20);
  const auto parts = encoder.encode(as_commit(pages, 2'000));
  CHECK(parts.size() >= 5);
  for (const std::string& part : parts) CHECK(part.size() < kPartBytesMax);
  PagedFile follower;
  PageDecoder decoder;
  REQUIRE(apply(decoder, parts, follower));
  for (const auto& [number, page] : pages) CHECK(follower.pages[number - 1] == page);
}

TEST_CASE("commit pages: a follower whose page differs from the leader's finds out") {
  PageEncoder encoder(1 << 20);
  PageDecoder decoder;
  PagedFile follower;
  const std::string old(kPage, 'a');
  std::string changed = old;
  changed[5] = 'b';
  REQUIRE(apply(decoder, encoder.encode({kPage, 2, {{1, old}, {2, old}}}), follower));
  const auto parts = encoder.encode({kPage, 2, {{2, changed}}});
  const std::size_t at = GENERATE(0, 5, 1'000, 2'047);
  PagedFile damaged = follower;
  damaged.pages[1][at] = 'x';
  CHECK_FALSE(apply(decoder, parts, damaged));
  PagedFile shorter = follower;
  shorter.pages.pop_back();
  CHECK_FALSE(apply(decoder, parts, shorter));
  CHECK(apply(decoder, parts, follower));
}

TEST_CASE("commit pages: damaged parts are rejected, or change nothing that the sum covers") {
  PageEncoder encoder(1 << 20);
  PageDecoder decoder;
  const std::string page(kPage, 'a');
  const auto parts = encoder.encode({kPage, 2, {{1, page}, {2, page}}});
  REQUIRE(parts.size() == 1);
  for (std::size_t bit = 0; bit < parts[0].size() * 8; ++bit) {
    auto changed = parts;
    changed[0][bit / 8] = static_cast<char>(changed[0][bit / 8] ^ 1 << bit % 8);
    PagedFile follower;
    const FollowerPages pages{[](std::uint32_t) { return std::string(); },
                              [&](const PageImage& image) {
                                REQUIRE(image.number <= (1U << 31));
                                REQUIRE(image.bytes.size() >= 512);
                              }};
    decoder.decode(changed[0], pages);
  }
  for (std::size_t size = 0; size < parts[0].size(); ++size) {
    const FollowerPages none{[](std::uint32_t) { return std::string(); }, [](const PageImage&) {}};
    CHECK_FALSE(decoder.decode(std::string_view(parts[0]).substr(0, size), none));
  }
}

TEST_CASE("commit pages: the sum of page 1 leaves out what SQLite writes into it") {
  std::string page(kPage, 'a');
  const std::uint64_t sum = page_sum({1, page});
  for (const std::size_t at : {24U, 27U, 92U, 95U, 96U, 99U}) {
    std::string other = page;
    other[at] = 'b';
    CHECK(page_sum({1, other}) == sum);
    CHECK(page_sum({2, other}) != page_sum({2, page}));
  }
  for (const std::size_t at : {0U, 23U, 28U, 91U, 100U, 2'047U}) {
    std::string other = page;
    other[at] = 'b';
    CHECK(page_sum({1, other}) != sum);
  }
  CHECK(page_sum({3, page}) != page_sum({2, page}));
}

TEST_CASE("page bases: the images used last are kept, within the limit") {
  PageBases bases(3 * kPage);
  const std::string page(kPage, 'p');
  for (std::uint32_t number = 2; number <= 4; ++number) bases.put(number, page);
  CHECK(bases.find(2) == page);  // now used after 3
  bases.put(5, page);
  CHECK(bases.find(3).empty());
  CHECK(bases.find(2) == page);
  bases.put(2, std::string(kPage, 'q'));
  CHECK(bases.find(2) == std::string(kPage, 'q'));
  const auto kept = [&] {
    std::string out;
    for (std::uint32_t number = 2; number <= 5; ++number)
      out += bases.find(number).empty() ? '-' : '+';
    return out;
  };
  CHECK(kept() == "+-++");
  bases.forget_beyond(4);
  CHECK(kept() == "+-+-");
  bases.put(5, page);
  CHECK(kept() == "+-++");
  bases.forget_beyond(1);
  CHECK(kept() == "----");
}

}  // namespace commit_pages_test
