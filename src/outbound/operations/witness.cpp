#include "outbound/operations/witness.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/files/descriptor.h"
#include "base/files/folders.h"
#include "base/platform/durable.h"
#include "outbound/wire/address_trial.h"
#include "outbound/wire/url.h"

namespace coffer::outbound {
namespace {

constexpr int kTimeoutMs = 10'000;
constexpr std::size_t kFetchedBytesMax = 1024 * 1024;
constexpr mode_t kOwnerOnly = 0600;

Unexpected witness_failed(const std::string& target, const std::string& why) {
  return unexpected(Slug::unexpected_error, target + ": " + why);
}

/// Writes the line in one write, so that two gateways can share a file.
Result<void> append(const std::string& path, const std::string& line) {
  const Descriptor file(::open(path.c_str(),
                               O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                               kOwnerOnly));
  if (!file.is_open()) return witness_failed(path, std::strerror(errno));
  const std::string text = line + '\n';
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written < 0) return witness_failed(path, std::strerror(errno));
  if (static_cast<std::size_t>(written) < text.size())
    return witness_failed(path, "the disk is full");
  if (sync_file(file.get()) && sync_directory(directory_of(path))) return {};
  return witness_failed(path, std::strerror(errno));
}

/// `find` returns the addresses of the host.
template <class Find>
Result<http::ClientResponse> call(const std::string& target, http::ClientRequest request,
                                  http::Client& client, const Find& find) {
  request.connect_timeout_ms = kTimeoutMs;
  request.headers.emplace_back("User-Agent", "coffer-checkpoints/1");
  const Deadline deadline(kTimeoutMs);
  COFFER_TRY(const std::vector<std::string> addresses, find());
  COFFER_TRY(auto response,
             send_to_any(std::move(request), addresses, deadline,
                         [&](const http::ClientRequest& attempt) { return client.send(attempt); }));
  if (response.status >= 200 && response.status < 300) return response;
  return witness_failed(target, "the response has status " + std::to_string(response.status));
}

}  // namespace

bool is_web_address(std::string_view target) {
  return target.starts_with("https://") || target.starts_with("http://");
}

std::string check_witness(const std::string& target) {
  if (!is_web_address(target)) {
    return target.starts_with('/') ? ""
                                   : "\"" + target + "\" is neither an absolute path nor a URL";
  }
  const auto url = parse_url(target);
  if (!url) return "\"" + target + "\" is not a URL. Write https://HOST/PATH";
  if (!url->is_protected())
    return "\"" + target + "\" does not protect checkpoints from changes in transit. Use https";
  return {};
}

std::vector<std::string> Witnesses::write(const std::string& line) {
  std::vector<std::string> faults;
  for (const std::string& target : targets_) {
    const auto written = is_web_address(target) ? post(target, line) : append(target, line);
    if (!written) faults.push_back(written.error().detail);
  }
  return faults;
}

Result<void> Witnesses::post(const std::string& target, const std::string& line) {
  const auto url = parse_url(target);
  if (!url) return witness_failed(target, "it is not a URL");
  http::ClientRequest request = request_to(*url);
  request.method = "POST";
  request.headers = {{"Content-Type", "text/plain"}};
  request.body = line + '\n';
  COFFER_TRY_VOID(call(target, std::move(request), client_,
                       [&] { return resolver_.resolve(url->host, kTimeoutMs); }));
  return {};
}

Result<std::string> fetch_text(const std::string& target, http::Client& client,
                               const TargetGuard& guard) {
  if (const std::string fault = check_witness(target); !fault.empty()) {
    return unexpected(Slug::validation_failed, fault);
  }
  // check_witness() accepts http only to this machine, which the guard must permit.
  COFFER_TRY(const Url url, guard.check_url(target, Environment::sandbox));
  http::ClientRequest request = request_to(url);
  request.response_bytes_max = kFetchedBytesMax;
  COFFER_TRY(auto response, call(target, std::move(request), client,
                                 [&] { return guard.addresses(url, kTimeoutMs); }));
  if (response.truncated)
    return witness_failed(target, "the response is incomplete, or over 1 MiB");
  return std::move(response.body);
}

}  // namespace coffer::outbound
