// The pages of a commit as bytes, in parts that fit into an entry of the log.
//
// A page is the difference to its last image where the leader has one; most of it is zero. Page 1
// is always whole: SQLite writes counters into it that differ from file to file.
//
// A part, before its compression with zstd: format (1), flags (1 is the last part of the commit),
// page size (4), pages of the file after the commit (4), time of the commit (8), pages in this part
// (4), sum over their images (8); then number (4) and kind (0 whole, 1 difference) of each page;
// then their bytes. All numbers are in network byte order. The head up to the sum is not
// compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "store/replication/page_bases.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace coffer::store {

/// Page numbers begin with 1, as in SQLite.
struct PageImage {
  std::uint32_t number = 0;
  std::string_view bytes;
};

/// What a commit changed. Each page occurs once, and none is beyond the end of the file.
struct CommitPages {
  std::size_t page_size = 0;
  std::uint32_t file_pages = 0;  // size of the file after the commit
  std::vector<PageImage> pages;
  Timestamp at = {};  // when it was made
};

/// A part is smaller, before and after compression.
constexpr std::size_t kPartBytesMax = 1'000'000;

/// Encodes the commits of a leader, in order. Not thread-safe.
class PageEncoder {
 public:
  /// `base_bytes`: of the images that are kept.
  explicit PageEncoder(std::size_t base_bytes);
  /// The parts of a commit, at least one. The next commit is encoded against these images, so a
  /// commit that does not become part of the log ends the use of this object.
  std::vector<std::string> encode(const CommitPages& commit);

 private:
  std::string encode_part(const CommitPages& commit, std::size_t from, std::size_t to);

  PageBases bases_;
  std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> zstd_;
  std::string plain_;  // buffer of encode_part()
};

/// What a part says about its commit.
struct PartHead {
  bool is_last = false;
  std::size_t page_size = 0;
  std::uint32_t file_pages = 0;  // size of the file after the commit
  Timestamp at;
};
/// nullopt if the bytes cannot be a part.
std::optional<PartHead> read_part_head(std::string_view part);

/// Where a follower reads and writes its pages.
struct FollowerPages {
  /// The present image; of another size if the file does not have the page.
  std::function<std::string(std::uint32_t page)> read;
  std::function<void(const PageImage& image)> write;
};

/// Decodes the parts of commits, in order. Not thread-safe.
class PageDecoder {
 public:
  PageDecoder();
  /// Returns false if the bytes are no part, or if the images do not have the sum of the leader's:
  /// the follower's file then differs from the leader's. Pages may have been written by then, so
  /// the caller rolls back.
  bool decode(std::string_view part, const FollowerPages& pages);

 private:
  std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> zstd_;
  std::string plain_;
};

/// A sum over the image of a page, without the bytes of page 1 that differ from file to file. For
/// finding damage; anyone can make another page with the same sum.
std::uint64_t page_sum(const PageImage& image);

}  // namespace coffer::store
