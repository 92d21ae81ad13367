// The fiber never leaves its thread, so every wait blocks the thread. The server has enough threads
// for this.
#include "base/fibers/fiber.h"

namespace coffer {

struct Fiber::Stack {};

Fiber::Fiber(std::function<void()> body, std::function<void()> on_ready)
    : body_(std::move(body)), on_ready_(std::move(on_ready)) {}

Fiber::~Fiber() = default;

bool Fiber::resume() {
  body_();
  return true;
}

Fiber* Fiber::movable() { return nullptr; }

void Fiber::leave(bool (*)(void*), void*) {}

}  // namespace coffer
