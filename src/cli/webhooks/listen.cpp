#include <signal.h>
#include <unistd.h>

#include "base/platform/exit_code.h"
#include "base/platform/process.h"
#include "base/readable.h"
#include "base/thread.h"
#include "cli/choice.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "cli/paths.h"
#include "cli/settings.h"
#include "cli/table.h"
#include "cli/webhooks/event_line.h"
#include "cli/webhooks/feed.h"
#include "cli/webhooks/forwarder.h"
#include "http/client.h"

namespace coffer::cli {
namespace {

constexpr int kTimeoutMsMax = 600'000;

struct Target {
  std::string url;
  std::string ca_bundle;
  int timeout_ms = 0;
};

Result<Target> target_argument(const Arguments& arguments) {
  Target out;
  const auto url = arguments.find("forward-to");
  if (!url)
    return unexpected(Slug::malformed_request,
                      "--forward-to URL is missing. Set it to your receiver, such as "
                      "http://127.0.0.1:3000/hooks.");
  out.url = *url;
  if (out.url.find("://") == std::string::npos) out.url.insert(0, "http://");
  COFFER_TRY(out.timeout_ms, number_argument(arguments, "timeout-ms", 1, kTimeoutMsMax));
  if (!out.url.starts_with("https:")) return out;
  COFFER_TRY(out.ca_bundle, http::find_ca_bundle(arguments.find("ca-bundle").value_or("")));
  return out;
}

/// The local user may forward to any address.
Result<outbound::AllowedTargets> everything() {
  return outbound::AllowedTargets::parse({"0.0.0.0/0", "::/0"});
}

std::string outcome(const Forwarded& done) {
  std::string text =
      done.result.status != 0 ? std::to_string(done.result.status) : printable(done.result.fault);
  text += "  " + readable_duration(done.result.duration_ms);
  if (done.next.state == DeliveryState::dead) text += "  failed";
  if (done.next.state == DeliveryState::pending) {
    text += "  retry in " + readable_duration(done.next.delay_ms);
  }
  return text;
}

/// Prints the forwarded events, as text or as JSON.
class Display {
 public:
  Display(const Console& console, bool json) : console_(console), json_(json) {}

  void hello(const Listener& listener, const std::string& url) const {
    if (json_) {
      print({{"forwardTo", url},
             {"secret", listener.secret},
             {"association", listener.association},
             {"associationId", listener.association_id},
             {"environment", listener.environment}});
      return;
    }
    console_.out << "Events of " << printable(listener.association) << " (" << listener.environment
                 << ") go to " << url << "   (stop with Ctrl-C)\n"
                 << "Verify webhook-signature with " << listener.secret.reveal() << "\n\n"
                 << std::flush;
  }

  void attempt(const Forwarded& done) const {
    const EventLine line = event_line(done.event.body).value_or(EventLine());
    if (json_) {
      print(record_of(done, line));
      return;
    }
    std::string text = time_of_day(done.at.to_string()) + "  " + padded(done.event.type, 22) +
                       "  " + done.event.id + "  " + padded(line.amount, 14) + "  ";
    if (done.attempt > 1) text += "attempt " + std::to_string(done.attempt) + "  ";
    const bool good = done.next.state == DeliveryState::delivered;
    console_.out << text
                 << shaded(good ? Shade::green : Shade::red, outcome(done), console_.shades_out())
                 << (line.test ? "  test" : "") << '\n'
                 << std::flush;
  }

  void goodbye(const ForwardTotals& totals) const {
    if (json_) {
      print({{"events", totals.events},
             {"delivered", totals.delivered},
             {"dead", totals.dead},
             {"waiting", totals.waiting}});
      return;
    }
    console_.err << '\n'
                 << totals.events << (totals.events == 1 ? " event: " : " events: ")
                 << totals.delivered << " delivered, " << totals.dead << " failed, "
                 << totals.waiting << " pending\n";
  }

 private:
  static std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
  }

  static Record record_of(const Forwarded& done, const EventLine& line) {
    Record record{{"at", done.at},
                  {"sequence", done.event.sequence},
                  {"eventId", done.event.id},
                  {"type", done.event.type},
                  {"about", line.subject},
                  {"amount", line.amount},
                  {"attempt", done.attempt},
                  {"responseStatus", done.result.status},
                  {"durationMs", done.result.duration_ms},
                  {"state", name(done.next.state)}};
    if (done.result.status == 0) record.emplace_back("error", done.result.fault);
    if (done.next.state == DeliveryState::pending) {
      record.emplace_back("againInMs", done.next.delay_ms);
    }
    return record;
  }

  void print(const Record& record) const {
    console_.out << to_json(record, console_.terminal) << '\n' << std::flush;
  }

  const Console& console_;
  const bool json_;
};

int forward(const Console& console, Feed& feed, const Listener& listener, const Target& target,
            const Display& display) {
  const StopSignals signals;  // before any thread starts
  auto allowed = everything();
  COFFER_CHECK(allowed.has_value());
  const SystemClock clock;
  OsRandom random;
  outbound::CaresResolver resolver;
  outbound::WebhookSender sender(clock, resolver, *std::move(allowed), target.ca_bundle,
                                 target.timeout_ms);
  if (const auto good = sender.check_target(target.url, Environment::sandbox); !good) {
    print_error(console, "--forward-to " + target.url + " cannot be used: " + good.error().detail);
    return exit_code::kUsage;
  }
  display.hello(listener, target.url);
  Forwarder forwarder(sender, random, target.url, listener.secret, [&](const Forwarded& done) {
    display.attempt(done);
    // The reader of the pipe has exited (`| head`): stop the main thread, as Ctrl-C would.
    if (!console.out) ::kill(::getpid(), SIGTERM);
  });
  {
    const Thread sending("forward", [&] { forwarder.run(); });
    const Thread feeding(
        "feed", [&] { feed.run([&](FeedEvent event) { forwarder.add(std::move(event)); }); });
    while (signals.wait() == StopSignals::Kind::reload) {
    }
    signals.end_at_once();
    feed.stop();
    forwarder.stop();
  }
  display.goodbye(forwarder.totals());
  return exit_code::kDone;
}

/// The arguments of `events follow` that select tenant and types.
std::map<std::string, std::string> choice_of(const Arguments& arguments) {
  std::map<std::string, std::string> out;
  for (const char* name : {"events", "association", "environment"}) {
    if (const auto value = arguments.find(name)) out[name] = *value;
  }
  return out;
}

int listen(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = 0;
  const auto config = read_file_settings(console, flags, code);
  if (!config) return code;
  if (const auto types = event_types_argument(arguments, "events"); !types) {
    return print_problem(console, types.error(), {});
  }
  Feed feed(config->db, choice_of(arguments), console);
  if (arguments.has("print-secret")) {
    const auto listener = feed.begin(code);
    if (listener) console.out << listener->secret.reveal() << '\n';
    return code;
  }
  const auto target = target_argument(arguments);
  if (!target) return print_problem(console, target.error(), {});
  const auto listener = feed.begin(code);
  if (!listener) return code;
  return forward(console, feed, *listener, *target, Display(console, arguments.json));
}

}  // namespace

std::vector<Command> listen_commands() {
  return {{.path = "listen",
           .summary = "Forward events to a webhook receiver under development",
           .run = listen,
           .arguments = joined(
               {naming(Argument::Value::url,
                       option("forward-to", "URL",
                              "URL of the receiver, such as http://127.0.0.1:3000/hooks")),
                option("events", "TYPE,...", "Event types to forward; all by default")},
               tenant_arguments(),
               std::vector{option("timeout-ms", "MS", "Timeout of a response", "15000"),
                           path_option("ca-bundle", "Trusted root certificates for an https URL"),
                           toggle("print-secret", "Print the signing secret and exit")}),
           .details =
               "The command follows the events of the server that runs on the database (by "
               "default, coffer demo's).\nIt registers no webhook, but sends the same bytes and "
               "headers with the same retries, signed with a\nseparate secret that never "
               "changes. It misses no event when the server restarts."}};
}

}  // namespace coffer::cli
