#include "cli/serve/serving.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/app.h"
#include "app/service/supervisor.h"
#include "app/standby.h"
#include "base/files/folders.h"
#include "base/platform/exit_code.h"
#include "base/platform/process.h"
#include "base/telemetry/log.h"
#include "base/telemetry/log_file.h"
#include "base/thread.h"
#include "cli/admin/site.h"
#include "cli/run/dispatch.h"
#include "cli/serve/control_socket.h"
#include "cli/settings.h"
#include "config/secret_files.h"
#include "flows/identity/operators.h"
#include "store/file/foreign_file.h"
#include "store/identity/operators.h"
#include "store/ledger/catalog.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

std::string origin_of(const Config& config, int port) {
  return (config.tls_cert.empty() ? "http://" : "https://") +
         connectable(config.listen_http, port).to_string();
}

/// Raises the limit of open files for the maximum number of connections, as far as the system
/// permits. Beyond that, accepts fewer connections.
void fit_descriptor_limit(Config& config) {
  const auto wanted = static_cast<rlim_t>(descriptors_needed(config));
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  rlimit higher{std::min(wanted, limit.rlim_max), limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &higher) == 0) limit = higher;
  if (limit.rlim_cur >= wanted) return;
  config.max_connections =
      connections_within(config.max_connections, static_cast<long>(limit.rlim_cur));
  log_warning("serve",
              "fewer connections are accepted than max_connections, because the limit of open "
              "files is too low; raise it with LimitNOFILE in the unit or ulimit -n",
              {{"allowed", limit.rlim_cur},
               {"needed", wanted},
               {"max_connections", config.max_connections}});
}

void start_control(ControlSocket& control, const Config& config) {
  const auto started = control.start(config.db);
  if (started) return;
  // The server works without a control socket.
  log_warning("control", "the control socket is not available; commands cannot reach this server",
              {{"error", started.error().detail}});
}

void reload(App& app) {
  if (const auto log = reopen_log_file(); !log) {
    log_error("serve", "the log file could not be reopened; the old one stays in use",
              {{"error", log.error().detail}});
  }
  const auto done = app.listeners().reload_tls();
  if (done) {
    log_info("serve", "certificate reloaded");
  } else {
    log_error("serve", "the certificate could not be reloaded; the old one stays in use",
              {{"error", done.error().detail}});
  }
}

void wait_for_stop(App& app, const StopSignals& signals) {
  while (signals.wait() == StopSignals::Kind::reload) reload(app);
}

/// While another machine leads, responds at the address of the API.
std::function<store::FollowNext(const store::Following&)> follow_on(
    std::optional<Standby>& standby, const Config& config, const Clock& clock, Random& random,
    const std::function<bool()>& stops) {
  return [&, stops](const store::Following& state) {
    if (!standby && state.file == nullptr) return store::FollowNext::stop;
    if (!standby) {
      standby.emplace(config, clock, random);
      if (const auto started = standby->start(); !started) {
        log_warning("serve", "cannot listen while this machine follows",
                    {{"problem", started.error().detail}});
      }
    }
    standby->note(state);
    if (stops()) return store::FollowNext::stop;
    const bool is_promoted = ::access((config.db + kPromoteEnding).c_str(), F_OK) == 0;
    return is_promoted ? store::FollowNext::lead : store::FollowNext::follow;
  };
}

/// Adds to an address on which coffer cannot listen where it comes from and what to do.
StartError explained(const Config& config, StartError error) {
  if (error.setting.empty()) return error;
  const bool admin = error.setting == "admin_listen";
  const std::string& origin = config.origins.at(error.setting);
  const std::string address = (admin ? config.admin_listen : config.listen_http).to_string();
  // The name of a flag or of a variable is the name of the setting.
  const bool is_named = origin.starts_with("--") || origin.starts_with("COFFER_");
  error.message = (origin == "default" ? "" : origin + ": ") +
                  (is_named ? "" : error.setting + ": ") + error.message + ". " +
                  (error.exit_code == exit_code::kBusy ? "Free " + address + ", or set" : "Set") +
                  " another HOST:PORT (port 0 selects a free one)";
  if (error.exit_code != exit_code::kBusy) {
    error.exit_code = origin.starts_with("--") ? exit_code::kUsage : exit_code::kConfiguration;
  }
  return error;
}

Result<void> check_secret_files(const Config& config) {
  for (const auto& [setting, path, found, remedy] : secret_file_faults(config)) {
    if (!found.fault.empty()) {
      return unexpected(Slug::forbidden, "The file " + path + " (" + setting +
                                             ") is not used: " + found.fault + ". " + remedy);
    }
    log_warning("serve", "a file with a secret: " + found.warning,
                {{"setting", setting}, {"file", path}});
  }
  return {};
}

/// With a misspelt code, the intended asset would have no limit, and every amount would require
/// approval.
void warn_of_unknown_assets(App& app) {
  const auto checked = app.flows().read([&](store::Connection& db) -> Result<void> {
    for (const AssetCode& code : app.config().four_eyes.assets()) {
      if (store::find_asset(db, code)) continue;
      log_warning("serve", "four_eyes has a limit for an asset that is not registered",
                  {{"asset", code.value()}});
    }
    return {};
  });
  (void)checked;  // a failed read only omits the warnings
}

/// A slow disk does not justify a restart; a writer that makes no progress does.
bool writer_moves(App& app, const Clock& clock) {
  constexpr std::int64_t kStuckMs = 25'000;
  const std::int64_t since = app.queue().stats().busy_since_ms;
  return since == 0 || clock.monotonic_ms() - since < kStuckMs;
}

Result<bool> has_operators(App& app) {
  return app.flows().read([](store::Connection& db) { return store::has_operators(db); });
}

/// Creates the first operator if the settings contain a password. An existing operator is not
/// changed.
Result<void> prepare_operator(App& app) {
  const Config& config = app.config();
  if (config.admin_off || config.admin_password.empty()) return {};
  COFFER_TRY(const bool there, has_operators(app));
  if (there) return {};
  constexpr bool kOtpRequired = true;
  const auto made = flows::ensure_administrator(app.flows(), config.admin_user,
                                                config.admin_password, kOtpRequired);
  if (!made) return unexpected(made.error());
  return {};
}

int fail_to_prepare_operator(const Console& console, const Problem& problem) {
  if (problem.fields.empty()) return print_problem(console, problem, {});
  for (const FieldError& fault : problem.fields) {
    const std::string option = fault.field == "name" ? "admin_user" : "admin_password";
    print_error(console, option + ": " + fault.message);
  }
  return exit_code::kConfiguration;
}

/// Prints how to sign in if no operator exists. The link is a secret, so it is printed only on a
/// terminal; elsewhere, the log names the command that prints one.
void welcome_operator(const Console& console, App& app) {
  const auto there = has_operators(app);
  if (app.config().admin_off || !there || *there) return;
  if (!console.progress) {
    log_info("admin",
             "no operator exists yet; run coffer admin link to get a one-time sign-in link",
             {{"url", app.listeners().admin_origin() + "/admin/"}});
    return;
  }
  const auto link = flows::administrator_link(app.flows());
  if (!link) return;
  console.err << "\nOpen this one-time link to become the administrator of the admin page (for a "
                 "new link: coffer admin link):\n  "
              << app.listeners().admin_origin() << "/admin/#claim=" << link->reveal() << "\n"
              << std::endl;
}

}  // namespace

// For the database, workers, logs, connections that are rejected, and a margin.
constexpr long kOwnDescriptors = 2'048;

long descriptors_needed(const Config& config) { return config.max_connections + kOwnDescriptors; }

int connections_within(int wanted, long allowed) {
  const long own = std::min(kOwnDescriptors, allowed / 2);
  return static_cast<int>(std::clamp(allowed - own, 1L, static_cast<long>(wanted)));
}

store::LockWait wait_for_commands(int max_ms, std::function<bool()> stops) {
  constexpr int kLookEveryMs = 50;
  const std::int64_t end_ms = SystemClock().monotonic_ms() + max_ms;
  return [max_ms, end_ms, stops = std::move(stops), seen = std::string(),
          announced = std::string()](const store::LockState& holder) mutable {
    // A process names itself just after it has locked the file, and a look at the lock locks it for
    // an instant. Until the second try, the name may be that of an earlier process.
    const std::string who = store::described(holder);
    const bool is_certain = std::exchange(seen, who) == who;
    const bool is_server = holder.process != 0 && holder.command.empty();
    if (is_certain && is_server) return false;
    if (SystemClock().monotonic_ms() >= end_ms || stops()) return false;
    if (is_certain && std::exchange(announced, who) != who) {
      log_info("serve", "waiting for the program that has locked the database",
               {{"program", who}, {"max_ms", max_ms}});
      notify_supervisor("STATUS=Waiting for " + who);
    }
    rest(kLookEveryMs);
    return true;
  };
}

StartError why_not_listening(const Config& config) {
  StartError error;
  return can_serve(config, error) ? StartError() : explained(config, std::move(error));
}

int check_new_server(const Console& console, const Config& config) {
  if (const auto safe = check_secret_files(config); !safe) {
    return print_problem(console, safe.error(), {});
  }
  if (store::holds_tables(config.db)) return exit_code::kDone;
  const StartError error = why_not_listening(config);
  return error.message.empty() ? exit_code::kDone : print_error(console, error);
}

int run_server(const Console& console, const Config& given, const Serving& serving) {
  const StopSignals signals;
  release_other_sockets(given.listen_http);
  Config config = given;
  if (const auto log = apply_log_settings(config); !log) {
    print_error(console, log.error().detail);
    return exit_code::kCannotCreate;
  }
  fit_descriptor_limit(config);
  const SystemClock clock;
  OsRandom random;
  StartError error;
  if (const int code = check_new_server(console, config); code != exit_code::kDone) return code;
  const NewFolders folders(directory_of(config.db));
  const auto stops = [&] { return signals.is_stopping(); };
  std::optional<Standby> standby;
  const std::string promote = config.db + kPromoteEnding;
  ::unlink(promote.c_str());  // for a server that has ended
  const auto app = App::open(config, clock, random, error, serving.missing, {},
                             {.waits = wait_for_commands(kCommandWaitMs, stops),
                              .follow = follow_on(standby, config, clock, random, stops)});
  standby.reset();
  ::unlink(promote.c_str());
  if (!app && error.exit_code == exit_code::kBusy && stops()) {
    while (signals.wait() == StopSignals::Kind::reload) {
    }
    log_info("serve", "stopped before the start");
    stop_log_file();
    return exit_code::kDone;
  }
  if (!app) return print_error(console, error);
  if (const auto ready = serving.prepare(*app); !ready) {
    app->database().discard();
    return print_problem(console, ready.error(), {});
  }
  if (const auto ready = prepare_operator(*app); !ready) {
    app->database().discard();
    return fail_to_prepare_operator(console, ready.error());
  }
  warn_of_unknown_assets(*app);
  AdminSite admin(*app);
  const AdminPages pages{[&](http::Request& request) { return admin.handle(request); },
                         [&](const http::Request& head, std::uint64_t body_bytes) {
                           return admin.admit(head, body_bytes);
                         },
                         AdminSite::owns};
  if (!app->serve(error, pages)) return print_error(console, explained(config, error));
  ControlSocket control([&](const ControlRequest& request, std::ostream& out, std::ostream& err,
                            Interruption& interruption) {
    return run_request(*app, request, out, err, interruption);
  });
  start_control(control, config);
  const std::string origin = origin_of(config, app->listeners().port());
  log_info("serve", "listening", {{"url", origin}, {"database", config.db}});
  notify_supervisor("READY=1\nSTATUS=Serving " + origin);
  Watchdog watchdog([&] { return writer_moves(*app, clock); });
  watchdog.start();
  serving.announce(*app, origin);
  welcome_operator(console, *app);

  wait_for_stop(*app, signals);
  signals.end_at_once();
  log_info("serve", "stopping; a second signal stops immediately");
  notify_supervisor("STOPPING=1");
  admin.stop();
  app->stop([&] { control.stop(); });
  log_info("serve", "stopped");
  stop_log_file();
  return exit_code::kDone;
}

}  // namespace coffer::cli
