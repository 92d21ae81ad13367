// The events of a running server, over the control socket beside its file: one after the other,
// none left out, also over a restart of the server.
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
  std::string body;  // the bytes that are delivered
};

/// For whom a listener listens, as the server says.
struct Listener {
  Secret secret;
  std::string association;
  std::string association_id;
  std::string environment;
  std::int64_t last_sequence = 0;
};

class Feed {
 public:
  /// `choice` are the arguments of `events follow` that say whose events. Prints on the error
  /// stream of `console` when the server goes and comes back.
  Feed(std::string database, std::map<std::string, std::string> choice, const Console& console);

  /// Asks the server once. If no server runs or it refuses, prints the error and sets the exit
  /// code.
  std::optional<Listener> begin(int& exit_code);
  /// Hands on what happens after `begin`, on the calling thread, until stop().
  void run(const std::function<void(FeedEvent)>& take);
  /// From any thread; run() returns soon.
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
  std::string complaint_;  // of the server, the last one
  Mutex mutex_;
  Condition stopped_;
  bool stopping_ COFFER_GUARDED_BY(mutex_) = false;
  int fd_ COFFER_GUARDED_BY(mutex_) = -1;  // of the stream that run() waits on
};

}  // namespace coffer::cli
