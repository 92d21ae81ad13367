// The pages the appliance serves about itself: what it is, what a problem means, the API reference.
// They work without a network of their own: every part comes from the binary, and the content
// security policy allows nothing else.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

/// A route of the group About: read by anyone.
Route about(std::string_view pattern, std::string_view operation, std::string_view summary,
            Handler handler, std::vector<DeclaredResponse> responses = {{200}});

}  // namespace coffer::api
