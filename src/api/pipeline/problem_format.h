// The form of a problem on each path (docs/contract.md#errors).
#pragma once

#include <string_view>

#include "api/pipeline/services.h"
#include "base/problem.h"
#include "http/message.h"

namespace coffer::api {

/// The path of the route table: without the second mount (docs/contract.md#addresses).
std::string_view canonical_path(std::string_view path);

enum class ProblemFormat {
  problem,   // application/problem+json
  envelope,  // of the business routes, application/json
  // problem+json with the error members that OAuth or SEP-10 clients read. application/json if
  // `Accept` names that and not application/problem+json.
  oauth,
  sep10,
};
/// The format of a path of the route table.
ProblemFormat problem_format(std::string_view canonical_path);

/// `request` may be nullptr: the listener rejects some requests before they are read. Without a
/// request, the Content-Type is always application/problem+json or that of the envelope.
http::Response format_problem(const Services& services, const Problem& problem,
                              std::string_view path, std::string_view request_id,
                              const http::Request* request);

/// Permits web pages of any origin to read every response of the SEP-1 and SEP-10 paths, including
/// errors, and to send the requests of these paths (CORS). `allow` lists the methods of the path in
/// the response to OPTIONS, and is empty in other responses.
void permit_any_origin(std::string_view path, std::string_view allow, http::Response& response);

}  // namespace coffer::api
