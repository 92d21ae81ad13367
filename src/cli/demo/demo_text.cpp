#include "cli/demo/demo_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "base/files/descriptor.h"
#include "base/files/durable_file.h"
#include "base/platform/exit_code.h"
#include "base/text/shell_word.h"
#include "cli/paths.h"
#include "cli/settings.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kStartText = R"text(coffer demo: @origin@   (Ctrl-C stops it)
  data     @database@
  secrets  @secrets@
@env@  API      @origin@/v1/openapi.json
  docs     @origin@/docs
@admin@  events   coffer listen --forward-to http://127.0.0.1:3000/hooks@db@

Paste into another terminal, one command after another:

1. A token:

  KEY=@api_key@
  TOKEN=$(@curl@ @origin@/v1/auth/token -H 'Content-Type: application/json' \
    -d '{"clientId":"@client_id@","clientSecret":"@client_secret@"}' \
    | sed -n 's/.*"accessToken" *: *"\([^"]*\)".*/\1/p')

2. Send 12.50 USDC from @from_name@ to @to_name@:

  @curl@ @origin@/v1/payments/p2p/own \
    -H "x-svc-auth: $KEY" -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' \
    -d '{"transactionId":"@transaction@","sendingAssetCode":"USDC","amount":"12.50",
        "sourceWalletId":"@from_id@",
        "destinationWalletId":"@to_id@"}'

3. See it settled:

  @curl@ '@origin@/v1/transactions?transactionId=@transaction@' \
    -H "x-svc-auth: $KEY" -H "Authorization: Bearer $TOKEN"

)text";

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

std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string out;
  for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@')) {
    const auto end = text.find('@', at + 1);
    COFFER_CHECK(end != std::string_view::npos);
    const auto value = values.find(text.substr(at + 1, end - at - 1));
    COFFER_CHECK(value != values.end());
    out.append(text.substr(0, at)).append(value->second);
    text.remove_prefix(end + 1);
  }
  return out.append(text);
}

std::string demo_start_text(const Demo& demo, const DemoPlace& place,
                            const std::string& transaction) {
  const store::WalletRow& from = demo.world.wallets.at(0);
  const store::WalletRow& to = demo.world.wallets.at(1);
  const bool own_place = demo_database() != place.database;
  const std::string trust =
      place.certificate.empty() ? "" : " --cacert " + shell_word(place.certificate);
  const std::string admin = place.admin.empty() ? ""
                                                : "  admin    " + place.admin + "   user " +
                                                      std::string(kDemoOperator) + ", password " +
                                                      demo.secrets.admin_password.reveal() + "\n";
  return filled(kStartText, {{"origin", place.origin},
                             {"admin", admin},
                             {"database", place.database},
                             {"secrets", demo_secrets_path(place.database)},
                             {"env", place.env.empty() ? "" : "  env      " + place.env + "\n"},
                             {"db", own_place ? " --db " + shell_word(place.database) : ""},
                             {"curl", "curl -s" + trust},
                             {"api_key", demo.secrets.api_key.reveal()},
                             {"client_id", demo.secrets.client_id},
                             {"client_secret", demo.secrets.client_secret.reveal()},
                             {"transaction", transaction},
                             {"from_name", from.name},
                             {"from_id", from.id.to_string()},
                             {"to_name", to.name},
                             {"to_id", to.id.to_string()}});
}

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
