// One cpp-httplib client: one host at one address, and at most one connection.
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

/// Belongs to one thread at a time.
class PinnedClient {
 public:
  /// For the host, port and address of `request`, with TLS verified or none. Connects at the first
  /// request. `unexpected-error` when the CA bundle cannot be read. `trust` outlives the client.
  static Result<std::unique_ptr<PinnedClient>> make(const ClientRequest& request, TlsTrust& trust,
                                                    bool keeps);
  ~PinnedClient();
  PinnedClient(const PinnedClient&) = delete;
  PinnedClient& operator=(const PinnedClient&) = delete;

  struct Sent {
    Result<ClientResponse> response;
    bool reusable = false;  // the next request may follow
    bool hung_up = false;   // the request was sent, and no response came before the end
  };
  /// At most one request on the wire, as Client::send says.
  Sent send(const ClientRequest& request, CallDeadlines::Call& call);

  /// Nothing came while it was idle, not even an end: worth another request.
  bool is_quiet() const;

 private:
  struct Attempt;
  PinnedClient(const ClientRequest& request, bool keeps);
  Result<void> secure(const std::string& host, TlsTrust& trust);
  Unexpected refusal(int error) const;
  void stop_reading();
  void follow(Attempt& attempt, httplib::Request& out);

  const bool keeps_;
  // Before the client, which uses them until its end.
  ssl_st* session_ = nullptr;   // of the present TLS connection
  long certificate_fault_ = 0;  // X509_V_ERR_..., of the last handshake
  std::unique_ptr<httplib::ClientImpl> client_;
};

}  // namespace coffer::http
