// Reads the events of a running server through its control socket: in order and without gaps, even
// across a server restart.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/strong.h"
#include "cli/command_result.h"
#include "cli/control_wire.h"

namespace coffer::cli {

struct FeedEvent {
  std::int64_t sequence = 0;
  std::string id;
  std::string type;
  std::string body;  // the delivered bytes
};

/// The tenant of the listener, as reported by the server.
struct Listener {
  Secret secret;
  std::string association;
  std::string association_id;
  std::string environment;
  std::int64_t last_sequence = 0;
};

class Feed {
 public:
  /// `choice` contains the arguments of `events follow` that select the tenant. Prints to the error
  /// stream of `console` when the server stops or returns.
  Feed(std::string database, std::map<std::string, std::string> choice, const Console& console);

  /// Connects to the server. If no server runs or it rejects the request, prints the error and sets
  /// the exit code.
  std::optional<Listener> begin(int& exit_code);
  /// Passes on events after `begin`, on the calling thread, until stop().
  void run(const std::function<void(FeedEvent)>& take);
  /// Thread-safe; run() returns shortly afterwards.
  void stop();

 private:
  std::optional<Listener> ask(int& exit_code, const Console& console) const;
  bool follow(const std::function<void(FeedEvent)>& take);
  void take_lines(std::string& text, const std::function<void(FeedEvent)>& take);
  void complain(const std::string& text);
  bool enter(int fd);
  void leave();
  bool pause(std::int64_t ms);

  const std::string database_;
  const std::map<std::string, std::string> choice_;
  const Console& console_;
  std::int64_t after_ = 0;
  std::string complaint_;  // the last message about the server
  Mutex mutex_;
  Condition stopped_;
  bool stopping_ COFFER_GUARDED_BY(mutex_) = false;
  int fd_ COFFER_GUARDED_BY(mutex_) = -1;  // the stream on which run() waits
};

}  // namespace coffer::cli
