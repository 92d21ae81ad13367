// E-mail to recipients of payments and to operators: to an SMTP server, or through the machine's
// `sendmail`.
#pragma once

#include <string>

#include "base/result.h"
#include "base/strong.h"
#include "http/call_deadlines.h"
#include "outbound/wire/resolver.h"

namespace coffer::outbound {

/// At most one of `smtp_url` and `sendmail` is set.
struct MailSettings {
  std::string smtp_url;  // has passed check_smtp_url(); empty: not SMTP
  std::string smtp_user;
  Secret smtp_password;  // required with a user
  std::string sendmail;  // path of the program; empty: not sendmail
  std::string from;      // the sender's address
  std::string ca_bundle;
  int timeout_ms = 10'000;  // for one message

  bool is_set() const { return !smtp_url.empty() || !sendmail.empty(); }
};

/// Subject and ID contain only texts of coffer, no names, references or other client input.
struct Mail {
  std::string recipient;
  std::string subject;
  std::string id;  // identical on every attempt; the left part of Message-ID
  std::string text;
};

/// Blocks until the server or the program has accepted the message, at most until the calls of
/// `deadlines` are cut. Thread-safe. The Problem's
/// detail has the reason that the server or the program gave, without the recipient and the
/// password.
///
/// SMTP (RFC 5321, RFC 6409): connects to the addresses that `resolver` returns. Unless the host is
/// a loopback address, the connection uses TLS with a verified certificate; a server that does not
/// offer it gets neither the password nor the message. sendmail: `sendmail -i -f FROM -- RECIPIENT`
/// without a shell and with a clean environment, with the message and its headers on standard
/// input; exit status 0 is success.
Result<void> send_mail(const MailSettings& settings, const Mail& mail, Resolver& resolver,
                       http::CallDeadlines& deadlines);

/// The error in the setting, or an empty text. Requires smtp://HOST[:PORT] or smtps://HOST[:PORT].
std::string check_smtp_url(const std::string& url);
/// Host of a URL that has passed check_smtp_url(), an IPv6 address without brackets.
std::string smtp_host(const std::string& url);

/// Version of the SMTP library, such as "8.14.1".
std::string libcurl_version();

}  // namespace coffer::outbound
