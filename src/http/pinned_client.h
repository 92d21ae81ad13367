// One cpp-httplib client: one host at one address, with at most one connection.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "http/call_deadlines.h"
#include "http/client.h"
#include "http/tls.h"

namespace httplib {
class ClientImpl;
struct Request;
}  // namespace httplib

namespace coffer::http {

/// For one thread at a time.
class PinnedClient {
 public:
  /// Creates a client for the host, port and address of `request`, with verified TLS or plain HTTP.
  /// It connects at the first request. `unexpected-error` if the CA bundle cannot be read. `trust`
  /// must outlive the client.
  static Result<std::unique_ptr<PinnedClient>> make(const ClientRequest& request, TlsTrust& trust,
                                                    bool keeps);
  ~PinnedClient();
  PinnedClient(const PinnedClient&) = delete;
  PinnedClient& operator=(const PinnedClient&) = delete;

  struct Sent {
    Result<ClientResponse> response;
    bool reusable = false;  // the connection can be used for another request
    // The request was sent, and the peer closed the connection without a response.
    bool hung_up = false;
  };
  /// Sends at most one request, like Client::send.
  Sent send(const ClientRequest& request, CallDeadlines::Call& call);

  /// Whether the idle connection has received neither data nor an end of stream, so that it can be
  /// reused.
  bool is_quiet() const;

 private:
  struct Attempt;
  PinnedClient(const ClientRequest& request, bool keeps);
  Result<void> secure(const std::string& host, TlsTrust& trust);
  Unexpected rejection(int error) const;
  void stop_reading();
  void follow(Attempt& attempt, httplib::Request& out);

  const bool keeps_;
  // Declared before the client, which uses them until its destruction.
  ssl_st* session_ = nullptr;   // of the present TLS connection
  long certificate_fault_ = 0;  // X509_V_ERR_... of the last handshake
  std::unique_ptr<httplib::ClientImpl> client_;
};

}  // namespace coffer::http
