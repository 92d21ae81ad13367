// Every request passes here: request id, route, identity, limits, body, handler, problem.
#pragma once

#include <memory>

#include "api/pipeline/route.h"
#include "api/pipeline/services.h"
#include "api/pipeline/traffic.h"
#include "http/message.h"
#include "http/router.h"

namespace coffer::api {

class Pipeline {
 public:
  /// `services` outlives the pipeline.
  explicit Pipeline(Services& services);
  /// Never throws. Called on worker threads.
  http::Response handle(http::Request& request) const;
  /// Cap of a request body for the listener's gate, from the route table.
  static std::size_t body_bytes_max(std::string_view path);
  /// A problem in the shape that errors have at this path; also for what the listener refuses
  /// before there is a `request`.
  http::Response render(const Problem& problem, std::string_view path, std::string_view request_id,
                        const http::Request* request = nullptr) const;

 private:
  http::Response answer(const Problem& problem, const http::Request& request) const;
  http::Response unexpected_fault(const char* what, const http::Request& request) const;
  http::Response route(http::Request& request, const Route*& matched) const;
  Result<http::Response> run(const Route& route, const http::Request& request,
                             const http::PathParams& params,
                             std::vector<std::pair<std::string, std::string>>& headers) const;
  Result<Caller> identify(const Route& route, const http::Request& request,
                          std::vector<std::pair<std::string, std::string>>& headers) const;

  Services& services_;
  http::Router router_;
  Traffic traffic_;
};

}  // namespace coffer::api
