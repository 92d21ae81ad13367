// Blocks the writer, so that a test determines which commands share a batch.
#pragma once

#include "base/mutex.h"
#include "base/thread.h"
#include "store/commit_queue.h"

namespace coffer::store::test {

/// Keeps the writer in one command until it is opened, so that other commands queue up.
class BusyWriter {
 public:
  explicit BusyWriter(CommitQueue& queue)
      : queue_(queue), thread_("busy", [this] {
          static_cast<void>(queue_.run([this](WriteTx&) -> Result<void> {
            const Lock lock(mutex_);
            entered_ = true;
            changed_.notify_all();
            while (!open_) changed_.wait(mutex_);
            return {};
          }));
        }) {
    const Lock lock(mutex_);
    while (!entered_) changed_.wait(mutex_);
  }
  ~BusyWriter() { open(); }
  void open() {
    {
      const Lock lock(mutex_);
      open_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  /// Returns when `count` commands wait.
  void gathered(std::size_t count) const {
    while (queue_.stats().queued < count) {
      Mutex mutex;
      Condition never;
      const Lock lock(mutex);
      never.wait_for_ms(mutex, 1);
    }
  }

 private:
  CommitQueue& queue_;
  Mutex mutex_;
  Condition changed_;
  bool entered_ COFFER_GUARDED_BY(mutex_) = false;
  bool open_ COFFER_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

/// Runs all commands in one batch, in this order and with one mode. Returns their results.
inline std::vector<Result<void>> run_in_one_batch(CommitQueue& queue,
                                                  const std::vector<CommitQueue::Command>& commands,
                                                  const std::vector<CommitQueue::Mode>& modes = {
                                                      CommitQueue::Mode::commit}) {
  std::vector<Result<void>> verdicts(commands.size());
  BusyWriter busy(queue);
  std::vector<Thread> threads;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto mode = modes.size() == 1 ? modes.front() : modes[i];
    threads.emplace_back("caller", [&, i, mode] { verdicts[i] = queue.run(commands[i], mode); });
    busy.gathered(i + 1);
  }
  busy.open();
  for (Thread& thread : threads) thread.join();
  return verdicts;
}

}  // namespace coffer::store::test
