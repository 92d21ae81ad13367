#include <nlohmann/json.hpp>

#include "app/opening.h"
#include "app/standby.h"
#include "base/files/durable_file.h"
#include "base/platform/exit_code.h"
#include "base/thread.h"
#include "cli/command_groups.h"
#include "cli/doctor/checks.h"
#include "cli/settings.h"

namespace coffer::cli {
namespace {

constexpr int kTimeoutMs = 5'000;
constexpr int kPromotionMs = 60'000;
constexpr int kLookEveryMs = 100;

struct Role {
  bool follows = false;
  Record record = {};
};

/// What the server with these settings says about its role.
Result<Role> read_role(const Config& config) {
  if (config.replicate.empty() || config.listen_http.port == 0) {
    return unexpected(Slug::validation_failed,
                      "Set replicate and listen_http, with its port, as the server on this machine "
                      "has them.");
  }
  const HealthTarget target = health_target(config.listen_http, config.tls_cert);
  const auto response = ask_health(target, kTimeoutMs);
  if (!response) {
    return unexpected(Problem(Slug::provider_unavailable,
                              target.text + " cannot be reached: " + response.error().detail)
                          .exits_with(exit_code::kUnreachable));
  }
  const auto body = nlohmann::json::parse(response->body, nullptr, false);
  const std::string role = body.is_object() ? body.value("role", "") : "";
  if (role.empty()) {
    return unexpected(Slug::not_found, target.text + " is not the server of a replicated ledger.");
  }
  Role out{role == "follower", {{"url", target.text}, {"role", role}}};
  if (out.follows) out.record.emplace_back("leader", body.value("leader", ""));
  for (const char* figure : {"position", "epoch", "lagMs"}) {
    out.record.emplace_back(figure, body.value(figure, std::int64_t{0}));
  }
  return out;
}

int status(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = exit_code::kDone;
  const auto config = read_ledger_settings(console, flags, code);
  if (!config) return code;
  const auto role = read_role(*config);
  if (!role) return print_problem(console, role.error(), {});
  return print_result(console, {.records = {role->record}}, arguments.json);
}

Result<Role> promoted(const Config& config) {
  COFFER_TRY(const Role role, read_role(config));
  if (!role.follows) return unexpected(Slug::conflict, "This machine leads already.");
  COFFER_TRY_VOID(write_durably(config.db + kPromoteEnding, ""));
  for (int waited_ms = 0; waited_ms < kPromotionMs; waited_ms += kLookEveryMs) {
    rest(kLookEveryMs);
    auto now = read_role(config);  // fails while the server of the leader starts
    if (now && !now->follows) return now;
  }
  return unexpected(Slug::overloaded, "The server has not become the leader. See its log.");
}

/// The file of a machine that is stopped.
Result<Record> left(const Config& config) {
  const SystemClock clock;
  store::OpenError fault;
  const auto database = store::Database::open({.path = config.db,
                                               .link = config.db_link,
                                               .command = "replica leave",
                                               .creates = false,
                                               .leaves_log = true},
                                              clock, fault);
  if (!database) return unexpected(open_problem(fault));
  return Record{{"database", config.db}};
}

int leave(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = exit_code::kDone;
  const auto config = read_ledger_settings(console, flags, code);
  if (!config) return code;
  const auto done = left(*config);
  if (!done) return print_problem(console, done.error(), {});
  return print_result(
      console,
      {.records = {*done},
       .note = "\nThe file stands alone: remove the setting replicate, and start one "
               "server. Never serve the file of\nanother machine beside it."},
      arguments.json);
}

int promote(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = exit_code::kDone;
  const auto config = read_ledger_settings(console, flags, code);
  if (!config) return code;
  const auto role = promoted(*config);
  if (!role) return print_problem(console, role.error(), {});
  return print_result(console, {.records = {role->record}}, arguments.json);
}

}  // namespace

std::vector<Command> replica_commands() {
  return {{.path = "replica leave",
           .summary = "Make the file of a replicated ledger stand alone",
           .run = leave,
           .details = "For the machine whose file is the most advanced one, after all servers have "
                      "stopped: that of the\nlast leader, or of a follower whose lag was 0 when "
                      "the leader had stopped. The log does not change."},
          {.path = "replica promote",
           .summary = "Make the follower on this machine the leader of its ledger",
           .run = promote,
           .settings = Settings::server,
           .details = "The present leader, if there is one, exits with 70 within a second. No "
                      "acknowledged payment is lost."},
          {.path = "replica status",
           .summary = "Show the role of the server on this machine in a replicated ledger",
           .run = status,
           .settings = Settings::server}};
}

}  // namespace coffer::cli
