#include "base/thread.h"

#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <utility>

namespace coffer {
namespace {

// Linux rejects a longer name instead of truncating it.
constexpr std::size_t kNameMax = 15;

void name_this_thread(const std::string& name) {
#if defined(__APPLE__)
  pthread_setname_np(name.substr(0, kNameMax).c_str());
#else
  pthread_setname_np(pthread_self(), name.substr(0, kNameMax).c_str());
#endif
}

}  // namespace

Thread::Thread(std::string name, std::function<void()> body)
    : thread_([name = std::move(name), body = std::move(body)] {
        name_this_thread(name);
        body();
      }) {}

Thread::~Thread() { join(); }

void Thread::join() {
  if (thread_.joinable()) thread_.join();
}

void wake_without_preempting() {
#if defined(SCHED_BATCH)
  const sched_param none{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
#endif
}

void yield_processor() { std::this_thread::yield(); }

void rest(std::int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace coffer
