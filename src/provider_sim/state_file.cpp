#include "provider_sim/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/platform/durable.h"

namespace coffer::provider_sim {
namespace {

constexpr mode_t kOwnerOnly = 0600;

Unexpected reject_file(const std::string& path, const std::string& why) {
  return unexpected(Slug::unexpected_error, path + ": " + why);
}

bool read_all(int fd, std::string& out) {
  std::array<char, 64 * 1024> chunk;
  for (;;) {
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count == 0) return true;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    out.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

StateFile::~StateFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::vector<Json>> StateFile::open(const std::string& path) {
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOwnerOnly);
  std::string text;
  if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    return reject_file(path, "another process uses the file");
  }
  if (fd_ < 0 || !read_all(fd_, text)) return reject_file(path, std::strerror(errno));
  std::vector<Json> out;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    Json event = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                             text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!event.is_object() || !event.contains("event")) {
      return reject_file(path, "the file does not belong to a simulated provider");
    }
    out.push_back(std::move(event));
  }
  // Removes an incomplete last line, whose event was never confirmed.
  if (::ftruncate(fd_, static_cast<off_t>(begin)) != 0)
    return reject_file(path, std::strerror(errno));
  return out;
}

void StateFile::append(const Json& event) {
  if (fd_ < 0) return;
  const std::string line = event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = ::write(fd_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw InternalError("the file of the provider cannot be written");
    done += static_cast<std::size_t>(count);
  }
  if (!sync_content(fd_)) throw InternalError("the file of the provider cannot be synchronised");
}

}  // namespace coffer::provider_sim
