// Every request passes through the pipeline: request ID, route, identity, limits, body, handler,
// problem.
#pragma once

#include <vector>

#include "api/pipeline/request_log.h"
#include "api/pipeline/route.h"
#include "api/pipeline/services.h"
#include "api/pipeline/traffic.h"
#include "http/message.h"
#include "http/router.h"

namespace coffer::api {

class Pipeline {
 public:
  /// `services` must outlive the pipeline.
  explicit Pipeline(Services& services);
  /// Never throws. Called on worker threads.
  http::Response handle(http::Request& request) const;
  /// Lane, caller and body limit of a request, from the route table. `not-found` for a body that no
  /// route of this path would read; the result of authentication for a large body without valid
  /// credentials, so that unauthenticated clients cannot occupy memory for large bodies.
  Result<http::Admission> admit(const http::Request& head, std::uint64_t body_bytes) const;
  /// A problem in the format of the request's path, for the listener's rejections. The request is
  /// as far as it could be read.
  http::Response render(const Problem& problem, const http::Request& request) const;

 private:
  http::Response respond(const Problem& problem, const http::Request& request) const;
  http::Response unexpected_fault(const char* what, const http::Request& request) const;
  http::Response route(http::Request& request, RequestTrace& trace) const;
  Result<http::Response> run(RequestTrace& trace, const http::Request& request,
                             const http::PathParams& params,
                             std::vector<std::pair<std::string, std::string>>& headers) const;
  Result<Caller> identify(RequestTrace& trace, const http::Request& request,
                          std::vector<std::pair<std::string, std::string>>& headers) const;

  /// Reads the body and calls the handler.
  Result<http::Response> answer(const Route& route, const http::Request& request, Call& call) const;

  http::Admission place(const http::Request& head) const;
  Lane lane_of(std::size_t route, const http::Request& head) const;

  Services& services_;
  http::Router router_;
  Traffic traffic_;
};

}  // namespace coffer::api
