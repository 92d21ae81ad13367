#include "base/platform/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <charconv>

#include "base/environment.h"

namespace coffer {
namespace {

constexpr int kUsualColumns = 80;
constexpr int kColumnsMax = 10'000;

std::atomic<bool> forbidden{false};

int columns_in_environment() {
  const auto text = environment_variable("COLUMNS").value_or("");
  int columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns);
  return columns > 0 && columns <= kColumnsMax ? columns : kUsualColumns;
}

}  // namespace

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

int terminal_columns(int fd) {
  if (!is_terminal(fd)) return 0;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return columns_in_environment();
}

bool colours_allowed() {
  if (forbidden) return false;
  const auto no_color = environment_variable("NO_COLOR");
  return (!no_color || no_color->empty()) && environment_variable("TERM") != "dumb";
}

void forbid_colours() { forbidden = true; }

bool reader_is_gone(int fd) {
  pollfd wanted{fd, POLLOUT, 0};
  // A pipe without a reader reports an error on Linux and a hang-up on macOS.
  return ::poll(&wanted, 1, 0) == 1 && (wanted.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace coffer
