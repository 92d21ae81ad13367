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
  /// A problem in the format of this path, for the listener's rejections.
  http::Response render(const Problem& problem, std::string_view path,
                        std::string_view request_id) const;

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

  /// A query parameter or Accept header that moves a request to a lane other than its route's.
  struct LaneChange {
    std::string_view parameter;
    std::string_view value;       // empty: any
    std::string_view media_type;  // empty: none
    Lane lane;
  };

  Services& services_;
  http::Router router_;
  std::vector<std::vector<LaneChange>> lane_changes_;  // in the order of the routes
  Traffic traffic_;
};

}  // namespace coffer::api
