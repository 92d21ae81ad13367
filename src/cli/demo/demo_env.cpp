#include "cli/demo/demo_env.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/files/descriptor.h"
#include "base/files/durable_file.h"
#include "base/platform/exit_code.h"
#include "base/text/shell_word.h"
#include "cli/paths.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kFirstLine =
    "# Written by coffer demo, which replaces this file. To keep it, delete this line.\n";

/// Whether the file at `path`, which exists, starts with the line of a demo. Follows no link,
/// because another user may have placed it.
bool is_from_demo(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return false;
  }
  std::string start(kFirstLine.size(), '\0');
  const ssize_t size = ::read(file.get(), start.data(), start.size());
  return size == static_cast<ssize_t>(start.size()) && start == kFirstLine;
}

Result<void> check_replaceable(const std::string& path) {
  if (check_unused(path) || is_from_demo(path)) return {};
  return unexpected(
      Problem(Slug::conflict, path + " exists and was not written by coffer demo, so it was not "
                                     "changed. Choose another file with --env=FILE, or remove this "
                                     "one.")
          .exits_with(exit_code::kCannotCreate));
}

}  // namespace

std::string demo_env_text(const Demo& demo, const DemoPlace& place) {
  const DemoSecrets& secrets = demo.secrets;
  const std::array<std::pair<std::string_view, std::string>, 10> variables = {{
      {"BASE_URL", place.origin},
      {"ASSOCIATION_ID", demo.world.association.to_string()},
      {"APPLICATION_ID", secrets.application.to_string()},
      {"CLIENT_ID", secrets.client_id},
      {"CLIENT_SECRET", secrets.client_secret.reveal()},
      {"API_KEY", secrets.api_key.reveal()},
      {"CONNECT_SECRET", secrets.connect_secret.reveal()},
      {"PUBLIC_KEY", secrets.public_key},
      {"SECRET_SEED", secrets.secret_seed.reveal()},
      {"SIGN_IN_SECRET", secrets.sign_in_secret.reveal()},
  }};
  std::string text(kFirstLine);
  for (const auto& [name, value] : variables) {
    text.append(name).append("=").append(shell_word(value)).append("\n");
  }
  return text;
}

Result<void> check_demo_env(const std::string& path, const std::string& database) {
  COFFER_TRY_VOID(check_not_beside(database, path));
  return check_replaceable(path);
}

Result<void> write_demo_env(const std::string& path, const Demo& demo, const DemoPlace& place) {
  COFFER_TRY_VOID(check_replaceable(path));
  return write_durably(path, demo_env_text(demo, place));
}

}  // namespace coffer::cli
