// The HTML pages of the server: front page, problems, API reference. They work without internet
// access: all parts come from the binary, and the Content-Security-Policy allows nothing else.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

/// A route of the group About, without authentication.
Route about(std::string_view pattern, std::string_view operation, std::string_view summary,
            Handler handler, std::vector<DeclaredResponse> responses = {{200}});

}  // namespace coffer::api
