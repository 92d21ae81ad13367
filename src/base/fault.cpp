#include "base/fault.h"

#ifdef COFFER_FAULTS

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "base/mutex.h"
#include "base/text/next_part.h"

namespace coffer::fault {
namespace {

struct Armed {
  long at = 1;
  long seen = 0;
  std::string action = "kill";
};

struct Registry {
  Mutex mutex;
  std::map<std::string, Armed, std::less<>> points COFFER_GUARDED_BY(mutex);
  std::atomic<bool> any{false};  // makes passes cheap while no fault point is active

  Registry() {
    if (const char* spec = std::getenv("COFFER_FAULT")) arm(spec);
  }

  void arm(std::string_view spec) {
    const Lock lock(mutex);
    points.clear();
    while (!spec.empty()) add(next_part(spec, ','));
    any = !points.empty();
  }

  void add(std::string_view item) COFFER_REQUIRES(mutex) {
    Armed armed;
    if (const auto equals = item.find('='); equals != std::string_view::npos) {
      armed.action = item.substr(equals + 1);
      item = item.substr(0, equals);
    }
    if (const auto colon = item.find(':'); colon != std::string_view::npos) {
      armed.at = std::strtol(std::string(item.substr(colon + 1)).c_str(), nullptr, 10);
      item = item.substr(0, colon);
    }
    if (!item.empty()) points[std::string(item)] = armed;
  }
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void arm(const char* spec) { registry().arm(spec); }

bool pass(const char* name) {
  Registry& r = registry();
  if (!r.any.load(std::memory_order_relaxed)) return false;
  std::string action;
  {
    const Lock lock(r.mutex);
    const auto it = r.points.find(std::string_view(name));
    // `at` 0 means every pass: a permanent fault.
    if (it == r.points.end() || (++it->second.seen != it->second.at && it->second.at != 0)) {
      return false;
    }
    action = it->second.action;
  }
  if (action == "kill") {
    ::kill(::getpid(), SIGKILL);
    ::pause();
  }
  if (action == "throw") throw InternalError(std::string("fault point ") + name);
  if (action == "stall") std::this_thread::sleep_for(std::chrono::seconds(3));
  return action == "fail";
}

}  // namespace coffer::fault

#endif
