// Renders a Problem as a response: application/problem+json (RFC 9457) with coffer's own members.
#pragma once

#include <string>
#include <string_view>

#include "base/problem.h"
#include "http/message.h"

namespace coffer::http {

/// `code` of a problem: its slug with underscores.
std::string problem_code(const SlugInfo& slug);

/// Body: type (urn:coffer:problem:<slug>), title, status, detail?, instance, requestId, code,
/// docUrl (`<base_url>/problems/<slug>`), leader?, errors[]?. Headers: Retry-After if set,
/// WWW-Authenticate on 401. `instance` is the request path; invalid UTF-8 is replaced. `base_url`
/// is scheme and host of the server without a trailing slash. If it is empty, docUrl is relative.
Response problem_response(const Problem& problem, std::string_view instance,
                          std::string_view request_id, std::string_view base_url = {});

/// The same Problem in the envelope of the business routes (docs/contract.md#associations):
/// {success:false, message:"CODE: text", data:null}, with the same status and headers.
Response envelope_problem_response(const Problem& problem, std::string_view request_id);

}  // namespace coffer::http
