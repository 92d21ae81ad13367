// What is decided about a request when its header is complete, before its body is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/limits/lane.h"
#include "base/result.h"
#include "http/gate.h"
#include "http/message.h"

namespace coffer::http {

struct Admission {
  Lane lane = Lane::system;
  LaneCaller caller;
  std::size_t body_bytes_max = 64 * 1024;
};

/// What an admission can depend on: method, path, query, peer, and the fields X-Svc-Auth,
/// Authorization, Accept, Cookie and X-Forwarded-For. `input` begins with the header that `head`
/// was read from.
Request request_to_admit(std::string_view input, const RequestHead& head, const std::string& peer);

/// `head` is as `request_to_admit` makes it. `body_bytes` is what the body takes: 0 while it is not
/// known, for a chunked one; asked again when that turns out to be large. A Problem refuses the
/// request and closes its connection. Called on workers and on the acceptor: waits for nothing that
/// others can hold.
using Admit = std::function<Result<Admission>(const Request& head, std::uint64_t body_bytes)>;

}  // namespace coffer::http
