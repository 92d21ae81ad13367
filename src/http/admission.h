// The decision about a request, made when its header is complete and its body has not been read.
#pragma once

#include <cstddef>

#include "base/limits/lane.h"
#include "http/router.h"

namespace coffer::http {

struct Admission {
  Lane lane = Lane::system;
  LaneCaller caller;
  std::size_t body_bytes_max = 64 * 1024;
  RouteMatch route;  // set if the admission function has a table of routes
};

}  // namespace coffer::http
