// The HTML pages of the server: front page, problems, API reference. They work without internet
// access: all parts come from the binary, and the Content-Security-Policy allows nothing else.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

/// Whether the API reference offers to call operations. Off unless a demo, which is the only server
/// of its process, sets it before the first request.
void offer_trial(bool on);

/// A route of the group About, without authentication.
Route about(std::string_view pattern, std::string_view operation, std::string_view summary,
            Handler handler, std::vector<DeclaredResponse> responses = {{200}});

}  // namespace coffer::api
