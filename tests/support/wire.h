// One request over a real socket to 127.0.0.1, one connection each.
#pragma once

#include <string_view>

#include "support/http_call.h"

namespace coffer::test {

/// Sends the call and reads to the end of the connection; decodes chunks. Status 0 without an HTTP
/// response.
Reply send_over_wire(int port, const HttpCall& call);
/// The same with exactly these bytes, which should request that the connection is closed.
Reply send_raw(int port, std::string_view bytes);

}  // namespace coffer::test
