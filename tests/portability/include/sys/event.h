// The part of kqueue(2) that coffer's macOS code uses, with macOS's numbers; stand_ins.cpp
// implements it with epoll.
#pragma once
#pragma GCC system_header  // a struct and a function of one name

#include <cstdint>
#include <ctime>

struct kevent {
  std::uintptr_t ident;
  std::int16_t filter;
  std::uint16_t flags;
  std::uint32_t fflags;
  std::intptr_t data;
  void* udata;
};

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_CLEAR 0x0020
#define EV_ERROR 0x4000
#define EV_EOF 0x8000

#define EV_SET(event, a, b, c, d, e, f)                                          \
  (*(event) = {(a), static_cast<std::int16_t>(b), static_cast<std::uint16_t>(c), \
               static_cast<std::uint32_t>(d), static_cast<std::intptr_t>(e), (f)})

extern "C" {
int kqueue();
int kevent(int queue, const struct kevent* changes, int change_count, struct kevent* events,
           int room, const struct timespec* timeout);
}
