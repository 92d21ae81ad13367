#include "store/replication/commit_pages.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "base/numbers.h"

namespace coffer::store {
namespace {

constexpr std::uint8_t kPartFormat = 1;
constexpr std::uint8_t kLastPart = 1;
constexpr std::size_t kCountAt = 1 + 1 + 4 + 4 + 8;
constexpr std::size_t kPartHeadBytes = kCountAt + 4 + 8;
constexpr std::size_t kPageHeadBytes = 4 + 1;
constexpr char kWhole = 0;
constexpr char kDifference = 1;
constexpr std::size_t kPageBytesMin = 512;
constexpr std::size_t kPageBytesMax = 65'536;
constexpr int kZstdLevel = 1;

/// Bytes of page 1 that SQLite changes in each file alone: the change counter, the version that it
/// is valid for, and the version of the library.
struct Masked {
  std::size_t at;
  std::size_t size;
};
constexpr std::array<Masked, 2> kMasked{{{24, 4}, {92, 8}}};

/// Pages of this size in one part.
std::size_t pages_per_part(std::size_t page_size) {
  // zstd needs at most 1/256 and 512 bytes more than its input has.
  constexpr std::size_t kRoom = kPartBytesMax - kPartBytesMax / 128 - 1'024;
  return kRoom / (page_size + kPageHeadBytes);
}

void combine(std::string_view base, std::string_view image, char* out) {
  for (std::size_t i = 0; i < image.size(); ++i) out[i] = static_cast<char>(image[i] ^ base[i]);
}

/// Reads numbers one after the other.
class Head {
 public:
  explicit Head(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t next(std::size_t size) {
    const std::uint64_t value = from_big_endian(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }

 private:
  std::string_view bytes_;
};

std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// Mixes 16 bytes at a time, as wyhash does. The loops that XOR and sum a page take less than zstd.
std::uint64_t sum_of(std::uint64_t seed, std::string_view bytes) {
  constexpr std::uint64_t kOdd1 = 0xa0761d6478bd642f;
  constexpr std::uint64_t kOdd2 = 0xe7037ed1a0b428db;
  std::uint64_t sum = folded(seed ^ kOdd1, bytes.size() ^ kOdd2);
  for (std::size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    std::uint64_t words[2];
    std::memcpy(words, bytes.data() + at, sizeof words);
    sum = folded(words[0] ^ sum, words[1] ^ kOdd2);
  }
  return sum;
}

}  // namespace

std::uint64_t page_sum(const PageImage& image) {
  if (image.number != 1) return sum_of(image.number, image.bytes);
  std::string first(image.bytes);
  for (const Masked& masked : kMasked) first.replace(masked.at, masked.size, masked.size, '\0');
  return sum_of(image.number, first);
}

PageEncoder::PageEncoder(std::size_t base_bytes)
    : bases_(base_bytes), zstd_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
  COFFER_CHECK(zstd_ != nullptr);
}

std::vector<std::string> PageEncoder::encode(const CommitPages& commit) {
  COFFER_CHECK(commit.page_size >= kPageBytesMin && commit.page_size <= kPageBytesMax);
  const std::size_t count = pages_per_part(commit.page_size);
  std::vector<std::string> out;
  std::size_t from = 0;
  do {
    const std::size_t to = std::min(from + count, commit.pages.size());
    out.push_back(encode_part(commit, from, to));
    from = to;
  } while (from < commit.pages.size());
  bases_.forget_beyond(commit.file_pages);
  return out;
}

std::string PageEncoder::encode_part(const CommitPages& commit, std::size_t from, std::size_t to) {
  const std::size_t count = to - from;
  plain_.resize(count * (kPageHeadBytes + commit.page_size));
  char* kind_at = plain_.data();
  char* bytes_at = plain_.data() + count * kPageHeadBytes;
  std::uint64_t sum = 0;
  for (std::size_t i = from; i < to; ++i) {
    const PageImage& page = commit.pages[i];
    COFFER_CHECK(page.bytes.size() == commit.page_size && page.number >= 1 &&
                 page.number <= commit.file_pages);
    const std::string_view base = page.number == 1 ? std::string_view() : bases_.find(page.number);
    const bool differs = base.size() == page.bytes.size();
    std::memcpy(kind_at, to_big_endian(page.number, 4).data(), 4);
    kind_at[4] = differs ? kDifference : kWhole;
    if (differs) {
      combine(base, page.bytes, bytes_at);
    } else {
      std::memcpy(bytes_at, page.bytes.data(), page.bytes.size());
    }
    sum += page_sum(page);
    if (page.number != 1) bases_.put(page.number, page.bytes);
    kind_at += kPageHeadBytes;
    bytes_at += commit.page_size;
  }
  std::string out;
  out += static_cast<char>(kPartFormat);
  out += static_cast<char>(to == commit.pages.size() ? kLastPart : 0);
  out += to_big_endian(commit.page_size, 4) + to_big_endian(commit.file_pages, 4) +
         eight_bytes(commit.at.ms) + to_big_endian(count, 4) + to_big_endian(sum, 8);
  out.resize(kPartHeadBytes + ZSTD_compressBound(plain_.size()));
  const std::size_t size =
      ZSTD_compressCCtx(zstd_.get(), out.data() + kPartHeadBytes, out.size() - kPartHeadBytes,
                        plain_.data(), plain_.size(), kZstdLevel);
  COFFER_CHECK(ZSTD_isError(size) == 0);
  out.resize(kPartHeadBytes + size);
  COFFER_CHECK(out.size() < kPartBytesMax);
  return out;
}

std::optional<PartHead> read_part_head(std::string_view part) {
  if (part.size() < kPartHeadBytes || part.size() >= kPartBytesMax) return {};
  Head head(part);
  if (head.next(1) != kPartFormat) return {};
  PartHead out;
  out.is_last = head.next(1) == kLastPart;
  out.page_size = head.next(4);
  out.file_pages = static_cast<std::uint32_t>(head.next(4));
  out.at.ms = static_cast<std::int64_t>(head.next(8));
  if (out.page_size < kPageBytesMin || out.page_size > kPageBytesMax) return {};
  return out;
}

PageDecoder::PageDecoder() : zstd_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
  COFFER_CHECK(zstd_ != nullptr);
}

bool PageDecoder::decode(std::string_view part, const FollowerPages& pages) {
  const auto out = read_part_head(part);
  if (!out) return false;
  Head head(part.substr(kCountAt));
  const std::size_t count = head.next(4);
  const std::uint64_t sum = head.next(8);
  if (count > pages_per_part(out->page_size)) return false;
  plain_.resize(count * (kPageHeadBytes + out->page_size));
  part.remove_prefix(kPartHeadBytes);
  if (ZSTD_decompressDCtx(zstd_.get(), plain_.data(), plain_.size(), part.data(), part.size()) !=
      plain_.size()) {
    return false;
  }
  Head heads(plain_);
  const char* bytes_at = plain_.data() + count * kPageHeadBytes;
  std::uint64_t found = 0;
  std::string image;
  for (std::size_t i = 0; i < count; ++i, bytes_at += out->page_size) {
    const auto number = static_cast<std::uint32_t>(heads.next(4));
    const auto kind = static_cast<char>(heads.next(1));
    if (number < 1 || number > out->file_pages || (kind != kWhole && kind != kDifference)) {
      return false;
    }
    image.assign(bytes_at, out->page_size);
    if (kind == kDifference) {
      const std::string base = pages.read(number);
      if (base.size() != image.size()) return false;
      combine(base, image, image.data());
    }
    const PageImage result{number, image};
    found += page_sum(result);
    pages.write(result);
  }
  return found == sum;
}

}  // namespace coffer::store
