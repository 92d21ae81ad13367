#include "http/tls.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <climits>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "base/platform/durable.h"

namespace coffer::http {
namespace {

// TLS 1.2 only with forward secrecy and authenticated encryption; 1.3 offers nothing else.
constexpr const char* kTls12Ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

/// RFC 7301: a client that offers only other protocols is rejected.
int select_alpn(SSL*, const unsigned char** out, unsigned char* out_size,
                const unsigned char* offered, unsigned int offered_size, void*) {
  constexpr std::string_view kProtocol = "http/1.1";
  for (unsigned int at = 0; at < offered_size;) {
    const unsigned int size = offered[at];
    if (at + 1 + size > offered_size) break;
    const std::string_view name(reinterpret_cast<const char*>(offered) + at + 1, size);
    if (name == kProtocol) {
      *out = offered + at + 1;
      *out_size = static_cast<unsigned char>(size);
      return SSL_TLSEXT_ERR_OK;
    }
    at += 1 + size;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// A key with a passphrase must fail instead of asking on a terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

std::string first_reason() {
  const unsigned long code = ERR_peek_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  // OpenSSL's table has no text for errors of the operating system (no such file, permission
  // denied).
  if (reason == nullptr && code != 0) reason = std::strerror(ERR_GET_REASON(code));
  return reason != nullptr ? reason : "unknown reason";
}

/// `content`: what the file must contain, for a message that says what to do.
Unexpected rejected(const std::string& what, const std::string& name,
                    const std::string& content = {}) {
  std::string detail = what + " " + name + " cannot be used: " + first_reason();
  if (!content.empty()) detail += ". The file must contain " + content + ", in PEM format";
  ERR_clear_error();
  return unexpected(Slug::validation_failed, std::move(detail));
}

/// Stores the reason before the handshake is discarded.
int note_fault(int accepted, X509_STORE_CTX* chain) {
  const auto* session =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* fault = static_cast<long*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(session)));
  if (accepted != 1) *fault = X509_STORE_CTX_get_error(chain);
  return accepted;
}

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

void configure(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, kTls12Ciphers);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Idle connections return their 34 KiB of buffers. A write may be partial, and its rest may be at
  // another address in the next attempt.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  SSL_CTX_set_alpn_select_cb(context, select_alpn, nullptr);
  // Sessions are resumed with tickets, which need no memory on the server.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/// Requests a certificate from clients, but does not require one.
Result<void> request_certificates(SSL_CTX* context, const std::string& ca_file) {
  STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(ca_file.c_str());
  if (names == nullptr || SSL_CTX_load_verify_file(context, ca_file.c_str()) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    return rejected("The CA file for client certificates", ca_file,
                    "the certificates that issue those of the clients");
  }
  SSL_CTX_set_client_CA_list(context, names);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  // OpenSSL resumes a session with a certificate only within the context that has verified it.
  constexpr unsigned char kSessions[] = "coffer";
  SSL_CTX_set_session_id_context(context, kSessions, sizeof kSessions - 1);
  return {};
}

}  // namespace

TlsSession::~TlsSession() { SSL_free(session_); }

TlsSession::TlsSession(TlsSession&& other) noexcept
    : session_(std::exchange(other.session_, nullptr)) {}

TlsSession& TlsSession::operator=(TlsSession&& other) noexcept {
  if (this != &other) {
    SSL_free(session_);
    session_ = std::exchange(other.session_, nullptr);
  }
  return *this;
}

IoResult TlsSession::outcome(int result) {
  switch (SSL_get_error(session_, result)) {
    case SSL_ERROR_WANT_READ:
      return {IoState::want_read};
    case SSL_ERROR_WANT_WRITE:
      return {IoState::want_write};
    case SSL_ERROR_ZERO_RETURN:
      return {IoState::closed};
  }
  ERR_clear_error();
  return {IoState::failed};
}

IoResult TlsSession::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_);
  return result == 1 ? IoResult{IoState::done} : outcome(result);
}

IoResult TlsSession::read(char* out, std::size_t room) {
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(session_, out, room, &bytes);
  return result == 1 ? IoResult{IoState::done, bytes} : outcome(result);
}

IoResult TlsSession::write(const char* data, std::size_t size) {
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_write_ex(session_, data, size, &bytes);
  return result == 1 ? IoResult{IoState::done, bytes} : outcome(result);
}

std::string TlsSession::client_certificate() const {
  // Part of the session, so it is the same after a resumption, whose ticket contains it.
  const X509* certificate = SSL_get0_peer_certificate(session_);
  if (certificate == nullptr || SSL_get_verify_result(session_) != X509_V_OK) return {};
  // A resumption does not verify the certificate again, and each one extends the session.
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0) return {};
  Sha256 digest{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
  return to_hex(digest);
}

void TlsSession::close_notify() {
  if (session_ == nullptr || SSL_in_init(session_)) return;
  ERR_clear_error();
  SSL_shutdown(session_);
  ERR_clear_error();
}

TlsIdentity::~TlsIdentity() { SSL_CTX_free(context_); }

Result<void> TlsIdentity::load(const std::string& cert_file, const std::string& key_file,
                               const std::string& client_ca_file) {
  ERR_clear_error();
  Context fresh(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!fresh) return rejected("TLS with certificate", cert_file);
  configure(fresh.get());
  if (SSL_CTX_use_certificate_chain_file(fresh.get(), cert_file.c_str()) != 1) {
    return rejected("The certificate file", cert_file,
                    "the certificate of the server, followed by those of its issuers");
  }
  if (SSL_CTX_use_PrivateKey_file(fresh.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(fresh.get()) != 1) {
    return rejected(
        "The key file", key_file,
        "the private key of the certificate in " + cert_file + ", without a passphrase");
  }
  if (!client_ca_file.empty()) {
    COFFER_TRY_VOID(request_certificates(fresh.get(), client_ca_file));
  }
  const Lock lock(mutex_);
  SSL_CTX_free(context_);  // sessions that use the old context have their own reference
  context_ = fresh.release();
  return {};
}

TlsSession TlsIdentity::accept(int fd) {
  SSL* session = nullptr;
  {
    const Lock lock(mutex_);
    if (context_ == nullptr) return TlsSession();
    session = SSL_new(context_);
  }
  if (session == nullptr || SSL_set_fd(session, fd) != 1) {
    SSL_free(session);
    return TlsSession();
  }
  SSL_set_accept_state(session);
  return TlsSession(session);
}

TlsTrust::~TlsTrust() { X509_STORE_free(roots_); }

Result<void> TlsTrust::refresh() {
  struct stat file {};
  if (::stat(ca_bundle_.c_str(), &file) != 0) {
    return unexpected(Slug::unexpected_error, "The CA bundle `" + ca_bundle_ +
                                                  "` cannot be read. Without it, no certificate "
                                                  "can be verified, so no connection is made.");
  }
  const std::int64_t version = changed_ns(file);
  if (roots_ != nullptr && version == loaded_version_) return {};
  ERR_clear_error();
  std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> fresh(X509_STORE_new(), X509_STORE_free);
  if (!fresh || X509_STORE_load_file(fresh.get(), ca_bundle_.c_str()) != 1) {
    return rejected("The CA bundle", ca_bundle_, "trusted root certificates");
  }
  X509_STORE_free(roots_);
  roots_ = fresh.release();
  loaded_version_ = version;
  return {};
}

Result<void> TlsTrust::protect(SSL_CTX* context, const std::string& host, long* fault) {
  if (context == nullptr) return rejected("TLS", "for " + host);
  {
    const Lock lock(mutex_);
    COFFER_TRY_VOID(refresh());
    SSL_CTX_set1_cert_store(context, roots_);
  }
  SSL_CTX_set_app_data(context, fault);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, note_fault);
  constexpr unsigned char kAlpn[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX_set_alpn_protos(context, kAlpn, sizeof kAlpn);
  X509_VERIFY_PARAM* verify = SSL_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_hostflags(verify, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // Each certificate in the file is trusted, also one that another authority issued.
  X509_VERIFY_PARAM_set_flags(verify, X509_V_FLAG_PARTIAL_CHAIN);
  const bool known = X509_VERIFY_PARAM_set1_ip_asc(verify, host.c_str()) == 1 ||
                     X509_VERIFY_PARAM_set1_host(verify, host.c_str(), host.size()) == 1;
  return known ? Result<void>() : rejected("The server name", host);
}

}  // namespace coffer::http
