// A Problem on the wire: application/problem+json (RFC 9457) with coffer's own members.
#pragma once

#include <string>
#include <string_view>

#include "base/problem.h"
#include "http/message.h"

namespace coffer::http {

/// `code` of a problem: its slug with underscores.
std::string problem_code(const SlugInfo& slug);

/// Body: type (urn:coffer:problem:<slug>), title, status, detail?, instance, requestId, code,
/// docUrl (`<base_url>/problems/<slug>`), errors[]?. Headers: Retry-After where set,
/// WWW-Authenticate on 401. `instance` is the request path; text that is not valid UTF-8 is shown
/// with replacement marks. `base_url` is scheme and host of the server without a trailing slash;
/// left out where the server does not know them, which makes docUrl relative.
Response problem_response(const Problem& problem, std::string_view instance,
                          std::string_view request_id, std::string_view base_url = {});

/// The same Problem in the envelope of the business routes (docs/contract.md#associations):
/// {success:false, message:"CODE: text", data:null}, same status and headers.
Response envelope_problem_response(const Problem& problem, std::string_view request_id);

}  // namespace coffer::http
