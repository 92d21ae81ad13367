#include "cli/webhooks/feed.h"

#include <sys/socket.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/platform/exit_code.h"
#include "cli/webhooks/events.h"
#include "cli/webhooks/webhooks.h"

namespace coffer::cli {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FeedEvent, sequence, id, type, body)

namespace {

using Json = nlohmann::json;

constexpr int kSendMs = 5'000;
constexpr int kSilenceMs = 10'000;  // the server sends something every second
constexpr std::int64_t kTryAgainMs = 500;

std::optional<Listener> read_listener(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    Listener out;
    out.secret = Secret(json.at("secret").get<std::string>());
    json.at("association").get_to(out.association);
    json.at("associationId").get_to(out.association_id);
    json.at("environment").get_to(out.environment);
    json.at("lastSequence").get_to(out.last_sequence);
    return out;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::optional<FeedEvent> read_event(const std::string& text) {
  try {
    return Json::parse(text, nullptr, false).get<FeedEvent>();
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

Feed::Feed(std::string database, std::map<std::string, std::string> choice, const Console& console)
    : database_(std::move(database)), choice_(std::move(choice)), console_(console) {}

std::optional<Listener> Feed::ask(int& exit_code, const Console& console) const {
  ControlRequest request{.command = std::string(kListenSecretCommand), .json = true};
  for (const char* name : {"association", "environment"}) {
    if (const auto given = choice_.find(name); given != choice_.end()) {
      request.arguments.insert(*given);
    }
  }
  std::ostringstream result;
  const auto code = run_in_server(database_, request, {result, console.err});
  exit_code = code.value_or(exit_code::kUnreachable);
  if (!code) {
    const std::string why = why_unreachable(database_);
    print_error(console, why.empty()
                             ? "no server runs on " + database_ +
                                   ". Start coffer demo, or choose the file of another server "
                                   "with --db"
                             : why);
    return std::nullopt;
  }
  return *code == exit_code::kDone ? read_listener(result.str()) : std::nullopt;
}

std::optional<Listener> Feed::begin(int& exit_code) {
  auto listener = ask(exit_code, console_);
  if (listener) after_ = listener->last_sequence;
  return listener;
}

void Feed::run(const std::function<void(FeedEvent)>& take) {
  bool away = false;
  do {
    std::ostringstream unseen;
    int code = 0;
    const auto listener = ask(code, {unseen, unseen});
    if (!listener) {
      if (!away) print_error(console_, "connection to the server lost; waiting for it");
      away = true;
      continue;
    }
    if (away) print_error(console_, "reconnected to the server");
    away = false;
    // In a new file, sequences start from the beginning.
    after_ = std::min(after_, listener->last_sequence);
    if (!follow(take)) return;
  } while (pause(kTryAgainMs));
}

/// Returns false after stop(), and true if the server closed the connection.
bool Feed::follow(const std::function<void(FeedEvent)>& take) {
  const int fd = open_control_socket(control_socket_path(database_), SocketRole::connect);
  if (fd < 0) return true;
  ControlStream stream(fd);
  if (!enter(fd)) return false;
  ControlRequest request{
      .command = std::string(kFollowCommand), .arguments = choice_, .json = true};
  request.arguments["after"] = std::to_string(after_);
  std::string text;
  bool going = stream.send(FrameKind::request, encode(request), kSendMs);
  while (going) {
    const auto frame = stream.receive(kSilenceMs);
    going = frame && frame->kind != FrameKind::exit;
    if (frame && frame->kind == FrameKind::err) complain(frame->content);
    if (!going || frame->kind != FrameKind::out) continue;
    text += frame->content;
    take_lines(text, take);
  }
  leave();
  return pause(0);
}

/// Prints a message, but not twice in a row.
void Feed::complain(const std::string& text) {
  if (text != complaint_) console_.err << text << std::flush;
  complaint_ = text;
}

/// Passes on every complete line of `text` and removes it.
void Feed::take_lines(std::string& text, const std::function<void(FeedEvent)>& take) {
  std::size_t begin = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    auto event = read_event(text.substr(begin, end - begin));
    begin = end + 1;
    if (!event) continue;
    after_ = event->sequence;
    complaint_.clear();
    take(*std::move(event));
  }
  text.erase(0, begin);
}

bool Feed::enter(int fd) {
  const Lock lock(mutex_);
  if (stopping_) return false;
  fd_ = fd;
  return true;
}

void Feed::leave() {
  const Lock lock(mutex_);
  fd_ = -1;
}

/// Returns false after stop().
bool Feed::pause(std::int64_t ms) {
  const Lock lock(mutex_);
  if (!stopping_ && ms > 0) stopped_.wait_for_ms(mutex_, ms);
  return !stopping_;
}

void Feed::stop() {
  const Lock lock(mutex_);
  stopping_ = true;
  if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
  stopped_.notify_all();
}

}  // namespace coffer::cli
