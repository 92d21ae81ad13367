// TLS with OpenSSL 3: versions 1.2 and 1.3, ALPN http/1.1. For the listener, sessions over
// non-blocking sockets; for the client, the trusted roots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;
struct x509_store_st;

namespace coffer::http {

/// The result of one non-blocking operation on a socket.
enum class IoState {
  done,        // `bytes` were moved; for a handshake: it is complete
  want_read,   // no data; continue when something arrives
  want_write,  // no space; continue when the socket is writable
  closed,      // the peer has closed its side properly
  failed,      // the connection is unusable
};

struct IoResult {
  IoState state = IoState::failed;
  std::size_t bytes = 0;
};

/// TLS state of one connection over a non-blocking socket that it does not own. Not thread-safe:
/// only the owner of the connection uses it.
class TlsSession {
 public:
  TlsSession() = default;
  explicit TlsSession(ssl_st* session) : session_(session) {}
  ~TlsSession();
  TlsSession(TlsSession&& other) noexcept;
  TlsSession& operator=(TlsSession&& other) noexcept;

  explicit operator bool() const { return session_ != nullptr; }
  IoResult handshake();
  IoResult read(char* out, std::size_t room);
  IoResult write(const char* data, std::size_t size);
  /// SHA-256 fingerprint, in lower-case hex, of the client's certificate, whose key the client
  /// proved to own in this handshake or in that of the resumed session. Empty without a
  /// certificate, or if it has expired since. Call it after the handshake.
  std::string client_certificate() const;
  /// Sends close_notify, so that the peer can distinguish the end of the stream from an
  /// interruption.
  void close_notify();

 private:
  IoResult outcome(int result);
  ssl_st* session_ = nullptr;
};

/// Certificate and key of the listener. Thread-safe.
class TlsIdentity {
 public:
  TlsIdentity() = default;
  ~TlsIdentity();
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;

  /// Loads the files (PEM, certificate with its chain, key without passphrase) and uses them for
  /// new connections. With `client_ca_file`, sessions request a certificate from the client, and
  /// one that is not issued by these CAs ends the handshake. On a Problem, which contains the file,
  /// the previous certificate and key stay in use.
  Result<void> load(const std::string& cert_file, const std::string& key_file,
                    const std::string& client_ca_file);
  /// A server session over `fd`; empty if OpenSSL is out of memory.
  TlsSession accept(int fd);

 private:
  Mutex mutex_;
  ssl_ctx_st* context_ COFFER_GUARDED_BY(mutex_) = nullptr;
};

/// The trusted roots of the client from one CA bundle, read once for all connections. Thread-safe.
class TlsTrust {
 public:
  explicit TlsTrust(std::string ca_bundle) : ca_bundle_(std::move(ca_bundle)) {}
  ~TlsTrust();
  TlsTrust(const TlsTrust&) = delete;
  TlsTrust& operator=(const TlsTrust&) = delete;

  /// Sessions of this client context accept only a certificate for `host` (a name or an address)
  /// that is issued by one of the roots. The reason for a failed verification is written to `fault`
  /// (X509_V_ERR_...), which must outlive the context's sessions. Reads the bundle at the first
  /// call, and again after the file has changed.
  Result<void> protect(ssl_ctx_st* context, const std::string& host, long* fault);

 private:
  Result<void> refresh() COFFER_REQUIRES(mutex_);

  const std::string ca_bundle_;
  Mutex mutex_;
  x509_store_st* roots_ COFFER_GUARDED_BY(mutex_) = nullptr;
  std::int64_t loaded_version_ COFFER_GUARDED_BY(mutex_) = 0;  // change time of the file, ns
};

}  // namespace coffer::http
