#include "outbound/operations/mail.h"

#include <curl/curl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/platform/lease.h"
#include "base/text/ascii.h"
#include "domain/contact.h"
#include "outbound/operations/sendmail.h"
#include "outbound/wire/url.h"

namespace coffer::outbound {
namespace {

constexpr std::size_t kReasonMax = 300;

Unexpected failed(std::string detail) {
  return unexpected(Slug::provider_unavailable, std::move(detail));
}

bool is_plain(std::string_view text) {
  return text.find(' ') == std::string_view::npos && !ascii::has_control(text);
}

/// A date of RFC 5322, section 3.3.
std::string date_text() {
  const std::time_t now = static_cast<std::time_t>(SystemClock().now().ms / 1000);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S +0000", &parts)};
}

std::string mail_text(const Mail& mail, const std::string& from) {
  return "Date: " + date_text() + "\nFrom: " + from + "\nTo: " + mail.recipient +
         "\nSubject: " + mail.subject + "\nMessage-ID: <" + mail.id + from.substr(from.rfind('@')) +
         ">\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\n"
         "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n" +
         mail.text + "\n";
}

/// What a server or program said, as one line for the log, without the recipient's address.
std::string reason_of(std::string text, const std::string& recipient) {
  for (std::size_t at = 0; (at = text.find(recipient, at)) != std::string::npos;) {
    text.replace(at, recipient.size(), "(recipient)");
  }
  std::string line;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (line.size() > kReasonMax) line.resize(kReasonMax);
  while (line.ends_with(' ') || line.ends_with('.')) line.pop_back();
  return line;
}

struct SmtpServer {
  bool tls = false;  // from the first byte; else STARTTLS, except on this machine
  std::string host;
  int port = 0;
  bool local = false;
};

std::optional<SmtpServer> parse_smtp(std::string_view text) {
  const std::string scheme = ascii::to_lower(text.substr(0, text.find("//")));
  const bool tls = scheme == "smtps:";
  if (!tls && scheme != "smtp:") return std::nullopt;
  const std::string_view place = text.substr(scheme.size() + 2);
  if (place.find_first_of("/?#") != std::string_view::npos) return std::nullopt;
  // The rules of hosts and ports are those of web addresses; only the default of the port differs.
  const auto url = parse_url("http://" + std::string(place));
  if (!url) return std::nullopt;
  const auto mark = place.find_last_of(":]");
  const bool has_port = mark != std::string_view::npos && place[mark] == ':';
  return SmtpServer{tls, normal_host(url->host), has_port ? url->port : (tls ? 465 : 587),
                    url->is_protected()};
}

struct Upload {
  std::string text;
  std::size_t sent = 0;
};

std::size_t read_upload(char* out, std::size_t size, std::size_t count, void* target) {
  auto& upload = *static_cast<Upload*>(target);
  const std::size_t length = std::min(size * count, upload.text.size() - upload.sent);
  upload.text.copy(out, length, upload.sent);
  upload.sent += length;
  return length;
}

/// Keeps the last line of the server.
std::size_t keep_line(char* line, std::size_t size, std::size_t count, void* target) {
  static_cast<std::string*>(target)->assign(line, std::min(size * count, 2 * kReasonMax));
  return size * count;
}

/// Has the socket shut down at the end of the call.
int watch_socket(void* target, curl_socket_t socket, curlsocktype) {
  auto& call = *static_cast<http::CallDeadlines::Call*>(target);
  call.watch(socket);
  return call.is_over() ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

/// Covers what has no socket yet, or a second one: libcurl asks once a second.
int is_over(void* target, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const http::CallDeadlines::Call*>(target)->is_over() ? 1 : 0;
}

struct CurlDeleter {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlList = std::unique_ptr<curl_slist, CurlDeleter>;

/// "HOST:PORT:ADDRESS,...", with which libcurl asks no resolver of its own.
std::string pin_of(const SmtpServer& server, const std::vector<std::string>& addresses) {
  std::string out = server.host + ":" + std::to_string(server.port) + ":";
  for (const std::string& address : addresses) {
    if (out.back() != ':') out += ',';
    out += address.find(':') == std::string::npos ? address : "[" + address + "]";
  }
  return out;
}

void set_security(CURL* curl, const MailSettings& settings, const SmtpServer& server) {
  curl_easy_setopt(curl, CURLOPT_USE_SSL,
                   static_cast<long>(server.local ? CURLUSESSL_NONE : CURLUSESSL_ALL));
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!settings.ca_bundle.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, settings.ca_bundle.c_str());
  }
  if (settings.smtp_user.empty()) return;
  curl_easy_setopt(curl, CURLOPT_USERNAME, settings.smtp_user.c_str());
  curl_easy_setopt(curl, CURLOPT_PASSWORD, settings.smtp_password.reveal().c_str());
}

void set_end(CURL* curl, http::CallDeadlines::Call& call, int left_ms) {
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max(1, left_ms)));
  curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, watch_socket);
  curl_easy_setopt(curl, CURLOPT_SOCKOPTDATA, &call);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_over);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &call);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

/// `line` is the last one of the server, and `text` what libcurl says.
std::string reason_for(CURL* curl, CURLcode code, const std::string& line, const char* text) {
  // A response of 4xx or 5xx says more than libcurl's text about it.
  if (line.starts_with('4') || line.starts_with('5')) return line;
  // So does the system's reason for a failed connection, unless it is that of the address family
  // that this machine lacks, which is tried last.
  long error = 0;
  curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &error);
  const bool is_family = error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == ENETUNREACH;
  if (code == CURLE_COULDNT_CONNECT && error != 0 && !is_family) {
    return std::strerror(static_cast<int>(error));
  }
  return *text != '\0' ? text : curl_easy_strerror(code);
}

Result<void> submit(const MailSettings& settings, const Mail& mail, Resolver& resolver,
                    http::CallDeadlines::Call& call) {
  const auto server = parse_smtp(settings.smtp_url);
  if (!server) return failed("The URL of the SMTP server is not valid.");
  const auto began_ms = SystemClock().monotonic_ms();
  COFFER_TRY(const auto addresses, resolver.resolve(server->host, settings.timeout_ms));
  const auto left_ms = settings.timeout_ms - (SystemClock().monotonic_ms() - began_ms);
  const std::unique_ptr<CURL, CurlDeleter> curl(curl_easy_init());
  const CurlList pin(curl_slist_append(nullptr, pin_of(*server, addresses).c_str()));
  const CurlList recipients(curl_slist_append(nullptr, mail.recipient.c_str()));
  if (!curl || !pin || !recipients) return failed("The message could not be prepared.");
  const bool numeric6 = server->host.find(':') != std::string::npos;
  const std::string place =
      (numeric6 ? "[" + server->host + "]" : server->host) + ":" + std::to_string(server->port);
  const std::string url = (server->tls ? "smtps://" : "smtp://") + place;
  Upload upload{mail_text(mail, settings.from)};
  std::string line;
  char error[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_RESOLVE, pin.get());
  curl_easy_setopt(curl.get(), CURLOPT_MAIL_FROM, settings.from.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_MAIL_RCPT, recipients.get());
  curl_easy_setopt(curl.get(), CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CRLF, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_READFUNCTION, read_upload);
  curl_easy_setopt(curl.get(), CURLOPT_READDATA, &upload);
  curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, keep_line);
  curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &line);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, error);
  set_security(curl.get(), settings, *server);
  set_end(curl.get(), call, static_cast<int>(left_ms));
  require_lease();
  const CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_OK) return {};
  const std::string reason = reason_for(curl.get(), code, line, error);
  return failed(place + ": " + reason_of(reason, mail.recipient) + ".");
}

}  // namespace

Result<void> send_mail(const MailSettings& settings, const Mail& mail, Resolver& resolver,
                       http::CallDeadlines& deadlines) {
  const std::string& to = mail.recipient;
  if (!is_email(to) || !is_plain(to)) return failed("The recipient is not an e-mail address.");
  http::CallDeadlines::Call call(deadlines, settings.timeout_ms);
  if (!settings.smtp_url.empty()) return submit(settings, mail, resolver, call);
  std::string output;
  auto sent = run_sendmail({settings.sendmail, "-i", "-f", settings.from, "--", to},
                           mail_text(mail, settings.from), call, output);
  const std::string reason = reason_of(output, to);
  if (!sent && !reason.empty())
    return failed(sent.error().detail + " It reported: " + reason + ".");
  return sent;
}

std::string check_smtp_url(const std::string& text) {
  if (parse_smtp(text)) return {};
  return "\"" + text +
         "\" is not the address of a mail server. Write smtps://HOST:465 or smtp://HOST:587, and "
         "set the "
         "user and the password in notify_smtp_user and notify_smtp_password_file";
}

std::string smtp_host(const std::string& url) {
  const auto server = parse_smtp(url);
  return server ? server->host : std::string();
}

std::string libcurl_version() { return curl_version_info(CURLVERSION_NOW)->version; }

}  // namespace coffer::outbound
