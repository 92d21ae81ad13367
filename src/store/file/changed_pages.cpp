#include "store/file/changed_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "base/digest.h"

namespace coffer::store {
namespace {

constexpr std::int64_t kHeaderBytes = 32;
constexpr std::int64_t kPageSizeAt = 8;
constexpr std::int64_t kSaltAt = 16;
constexpr std::int64_t kFrameHeaderBytes = 24;

template <std::size_t N>
bool read_at(int fd, std::int64_t offset, std::uint64_t& value) {
  std::array<unsigned char, N> bytes{};
  if (::pread(fd, bytes.data(), N, static_cast<off_t>(offset)) != static_cast<ssize_t>(N)) {
    return false;
  }
  value = from_big_endian(as_text(bytes));
  return true;
}

}  // namespace

ChangedPages::Watch::Watch(ChangedPages& owner) : owner_(owner) {
  const Lock lock(owner_.mutex_);
  owner_.watches_.push_back(this);
  // The log may have restarted meanwhile, so the next commit reads all of it.
  owner_.known_frames_ = 0;
  if (owner_.fd_ < 0) owner_.fd_ = ::open(owner_.log_.c_str(), O_RDONLY | O_CLOEXEC);
  lost_ = owner_.fd_ < 0;
}

ChangedPages::Watch::~Watch() {
  const Lock lock(owner_.mutex_);
  std::erase(owner_.watches_, this);
  if (owner_.watches_.empty() && owner_.fd_ >= 0) ::close(std::exchange(owner_.fd_, -1));
}

std::vector<std::uint32_t> ChangedPages::Watch::take() {
  const Lock lock(owner_.mutex_);
  if (lost_) throw InternalError("the write-ahead log cannot be read");
  std::vector<std::uint32_t> out(pages_.begin(), pages_.end());
  pages_.clear();
  return out;
}

ChangedPages::ChangedPages(std::string log) : log_(std::move(log)) {}

ChangedPages::~ChangedPages() = default;

void ChangedPages::note(int frames) {
  const Lock lock(mutex_);
  if (watches_.empty()) return;
  std::vector<std::uint32_t> pages;
  const bool read = read_new_frames(frames, pages);
  for (Watch* watch : watches_) {
    watch->pages_.insert(pages.begin(), pages.end());
    watch->lost_ = watch->lost_ || !read;
  }
}

bool ChangedPages::read_new_frames(int frames, std::vector<std::uint32_t>& pages) {
  std::uint64_t salt = 0;
  std::uint64_t page_bytes = 0;
  if (!read_at<8>(fd_, kSaltAt, salt) || !read_at<4>(fd_, kPageSizeAt, page_bytes)) return false;
  const std::int64_t frame_bytes = kFrameHeaderBytes + static_cast<std::int64_t>(page_bytes);
  if (salt != std::exchange(salt_, salt) || frames < known_frames_) known_frames_ = 0;
  for (; known_frames_ < frames; ++known_frames_) {
    std::uint64_t page = 0;
    if (!read_at<4>(fd_, kHeaderBytes + known_frames_ * frame_bytes, page)) return false;
    pages.push_back(static_cast<std::uint32_t>(page));
  }
  return true;
}

}  // namespace coffer::store
