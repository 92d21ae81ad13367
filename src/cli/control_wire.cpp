#include "cli/control_wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/digest.h"
#include "base/files/descriptor.h"
#include "base/files/side_files.h"
#include "base/platform/descriptors.h"
#include "base/platform/short_name.h"

namespace coffer::cli {

// `columns` is absent in other versions; `uid` is never sent.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ControlRequest, command, arguments, json, terminal, progress,
                                   colour)

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 5;
constexpr int kBacklog = 16;

bool is_kind(char c) {
  constexpr std::string_view kKinds = "raoex";
  return kKinds.find(c) != std::string_view::npos;
}

bool try_again() { return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK; }

/// False if `path` is too long.
bool fill_address(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

int bind_or_connect(int fd, const sockaddr_un& address, SocketRole role) {
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  if (role == SocketRole::connect) return ::connect(fd, name, sizeof address);
  if (::bind(fd, name, sizeof address) != 0) return -1;
  // The umask has excluded others since bind; this removes the owner's execute bit.
  if (::chmod(address.sun_path, 0600) != 0) return -1;
  return ::listen(fd, kBacklog);
}

}  // namespace

ControlStream::~ControlStream() {
  if (fd_ >= 0) ::close(fd_);
}

ControlStream::ControlStream(ControlStream&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

bool ControlStream::ready(short events, int timeout_ms) const {
  pollfd wanted{fd_, events, 0};
  int count = 0;
  do {
    count = ::poll(&wanted, 1, timeout_ms);
  } while (count < 0 && errno == EINTR);
  return count > 0;
}

bool ControlStream::send(FrameKind kind, std::string_view content, int timeout_ms) {
  std::string frame(1, static_cast<char>(kind));
  frame.append(to_big_endian(content.size(), kHeadBytes - 1)).append(content);
  std::string_view rest = frame;
  while (!rest.empty()) {
    const ssize_t sent = ::send(fd_, rest.data(), rest.size(), kNoSignal);
    if (sent > 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (!try_again() || !ready(POLLOUT, timeout_ms)) {
      return false;
    }
  }
  return true;
}

bool ControlStream::read_exactly(std::string& out, std::size_t size, int timeout_ms) {
  out.resize(size);
  std::size_t got = 0;
  while (got < size) {
    const ssize_t count = ::recv(fd_, out.data() + got, size - got, 0);
    if (count > 0) {
      got += static_cast<std::size_t>(count);
    } else if (count == 0 || !try_again() || !ready(POLLIN, timeout_ms)) {
      return false;
    }
  }
  return true;
}

std::optional<Frame> ControlStream::receive(int timeout_ms) {
  std::string head;
  if (!read_exactly(head, kHeadBytes, timeout_ms)) return std::nullopt;
  const std::size_t size = from_big_endian(std::string_view(head).substr(1));
  if (!is_kind(head[0]) || size > kFrameBytesMax) return std::nullopt;
  Frame frame{static_cast<FrameKind>(head[0]), {}};
  if (!read_exactly(frame.content, size, timeout_ms)) return std::nullopt;
  return frame;
}

std::string encode(const ControlRequest& request) {
  nlohmann::json json = request;
  json["columns"] = request.columns;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<ControlRequest> decode_request(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  try {
    auto request = json.get<ControlRequest>();
    request.columns = json.value("columns", 0);  // absent in other versions
    return request;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::string control_socket_path(const std::string& database) { return database + kSocketEnding; }

int open_control_socket(const std::string& path, SocketRole role) {
  Descriptor fd(open_socket(AF_UNIX, SOCK_STREAM));
  if (fd.get() < 0) return -1;
  sockaddr_un address{};
  if (fill_address(path, address)) {
    return bind_or_connect(fd.get(), address, role) == 0 ? fd.release() : -1;
  }
  const fs::path folder = fs::path(path).parent_path();
  const ShortName name(folder.empty() ? "." : folder.string());
  if (name.path().empty()) return -1;
  if (!fill_address(name.path() + "/" + fs::path(path).filename().string(), address)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return bind_or_connect(fd.get(), address, role) == 0 ? fd.release() : -1;
}

}  // namespace coffer::cli
