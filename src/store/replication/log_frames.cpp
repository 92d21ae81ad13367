#include "store/replication/log_frames.h"

#include <algorithm>

#include "base/check.h"
#include "base/digest.h"

namespace coffer::store {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{16} << 20;

}  // namespace

std::uint32_t log_number_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(from_big_endian(bytes.substr(at, 4)));
}

void LogFrames::write(std::string_view bytes, std::int64_t at) {
  if (at == 0) {  // the log begins again
    begin_ = kLogHeadBytes;
    bytes_.clear();
    commit_at_ = 0;
    return;
  }
  if (bytes.size() == kFrameHeadBytes) {
    commit_at_ = log_number_at(bytes, kFileSizeAt) == 0 ? 0 : at;
  } else {
    page_size_ = bytes.size();
  }
  if (begin_ == 0) begin_ = at;
  if (at < begin_ || at > begin_ + static_cast<std::int64_t>(bytes_.size())) {
    is_complete_ = false;
    begin_ = at;
    bytes_.clear();
  }
  const auto place = static_cast<std::size_t>(at - begin_);
  bytes_.resize(std::max(bytes_.size(), place + bytes.size()));
  std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(place));
}

CommitPages LogFrames::commit() const {
  COFFER_CHECK(holds_commit());
  const std::string_view all(bytes_);
  const auto last = static_cast<std::size_t>(commit_at_ - begin_);
  CommitPages out{page_size_, log_number_at(all.substr(last), kFileSizeAt), {}};
  const std::size_t frame_bytes = kFrameHeadBytes + page_size_;
  for (std::size_t at = 0; at <= last; at += frame_bytes) {
    const std::uint32_t number = log_number_at(all.substr(at), 0);
    // A page that left the cache may lie beyond the end that the file has now.
    if (number > out.file_pages) continue;
    out.pages.push_back({number, all.substr(at + kFrameHeadBytes, page_size_)});
  }
  // Of several frames of a page, the last one counts.
  std::ranges::stable_sort(out.pages, {}, &PageImage::number);
  const auto later = [](const PageImage& a, const PageImage& b) { return a.number == b.number; };
  const auto kept = std::unique(out.pages.rbegin(), out.pages.rend(), later);
  out.pages.erase(out.pages.begin(), kept.base());
  return out;
}

void LogFrames::begin_next() {
  begin_ = commit_at_ + static_cast<std::int64_t>(kFrameHeadBytes + page_size_);
  // The buffer of a very large transaction is not kept.
  if (bytes_.capacity() > kKeptBytes) std::string().swap(bytes_);
  bytes_.clear();
  commit_at_ = 0;
}

}  // namespace coffer::store
