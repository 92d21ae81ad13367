// One request over a real socket to 127.0.0.1, one connection each.
#pragma once

#include <string_view>

#include "support/http_call.h"

namespace coffer::test {

/// Sends the call and reads to the end of the connection; takes chunks apart. Status 0 when nothing
/// that looks like HTTP came back.
Reply send_over_wire(int port, const HttpCall& call);
/// The same with these very bytes; they should ask for the connection to be closed.
Reply send_raw(int port, std::string_view bytes);

}  // namespace coffer::test
