#include "outbound/key_set.h"

#include <filesystem>
#include <fstream>

#include "base/telemetry/log.h"
#include "outbound/wire/address_trial.h"

namespace coffer::outbound {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFreshMs = 600'000;
constexpr std::int64_t kUsableMs = kDayMs;
constexpr std::size_t kBytesMax = 256 * 1024;

Unexpected not_in_time() {
  return unexpected(
      Slug::token_verification_timeout,
      "The signing keys of the token issuer could not be fetched in time. Retry later.");
}

bool is_remote(std::string_view source) {
  return source.starts_with("https://") || source.starts_with("http://");
}

/// Changes with the file, because a replaced file has another time or size.
std::string stamp_of(const std::string& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  if (error) return {};
  const auto size = fs::file_size(path, error);
  return error ? std::string() : std::to_string(time) + "/" + std::to_string(size);
}

std::optional<std::string> contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || text.size() > kBytesMax) return std::nullopt;
  return text;
}

}  // namespace

KeySet::KeySet(std::string source, int timeout_ms, const Clock& clock, http::Client& client,
               Resolver& resolver)
    : source_(std::move(source)),
      remote_(is_remote(source_)),
      timeout_ms_(timeout_ms),
      clock_(clock),
      client_(client),
      resolver_(resolver),
      fetcher_("key-set", [this] { return step(); }) {
  if (remote_) fetcher_.start();
}

Result<KeyDocument> KeySet::read(Need need) {
  const Lock lock(mutex_);
  if (!remote_) return read_file();
  const std::int64_t now_ms = clock_.monotonic_ms();
  if (!fetching_ && is_due(need, now_ms)) {
    fetching_ = true;
    asked_ms_ = now_ms;
    fetcher_.wake();
  }
  if (need == Need::other_key || !has_copy(now_ms)) wait_for_fetch();
  return copy(clock_.monotonic_ms());
}

void KeySet::wait_for_fetch() {
  const auto slot = waiting_.try_take();
  if (!slot) return;
  const Deadline deadline(timeout_ms_);
  while (fetching_ && deadline.left_ms() > 0) fetched_.wait_for_ms(mutex_, deadline.left_ms());
}

/// Runs on the fetcher's thread.
std::int64_t KeySet::step() {
  {
    const Lock lock(mutex_);
    if (!fetching_) return WorkerThread::kWhenWoken;
  }
  auto text = fetch();
  const Lock lock(mutex_);
  fetching_ = false;
  fetched_.notify_all();
  if (text) {
    keep(*std::move(text));
  } else {
    log_warning("auth", "signing keys of the external issuer could not be fetched",
                {{"source", source_}, {"problem", text.error().detail}});
  }
  return WorkerThread::kWhenWoken;
}

bool KeySet::is_due(Need need, std::int64_t now_ms) const {
  if (!asked_ms_) return true;
  const std::int64_t since_ms = now_ms - *asked_ms_;
  if (document_.version == 0) return since_ms >= kAskAgainWithoutCopyMs;
  const bool wanted = need == Need::other_key || now_ms - fetched_ms_ >= kFreshMs;
  return wanted && since_ms >= kAskAgainMs;
}

bool KeySet::has_copy(std::int64_t now_ms) const {
  return document_.version != 0 && now_ms - fetched_ms_ < kUsableMs;
}

Result<KeyDocument> KeySet::copy(std::int64_t now_ms) const {
  if (!has_copy(now_ms)) return not_in_time();
  return document_;
}

void KeySet::keep(std::string text) {
  fetched_ms_ = clock_.monotonic_ms();
  if (document_.version != 0 && text == document_.text) return;
  document_.text = std::move(text);
  ++document_.version;
}

Result<KeyDocument> KeySet::read_file() {
  const std::string stamp = stamp_of(source_);
  if (stamp.empty() || stamp != stamp_) {
    auto text = contents_of(source_);
    if (text) {
      keep(*std::move(text));
    } else {
      log_warning("auth", "signing keys of the external issuer could not be read",
                  {{"source", source_}, {"problem", "It cannot be read, or is over 256 KiB."}});
    }
    stamp_ = stamp;
  }
  if (document_.version == 0) return not_in_time();
  return document_;
}

Result<std::string> KeySet::fetch() const {
  const auto url = parse_url(source_);
  if (!url) return unexpected(Slug::provider_unavailable, "The URL is not valid.");
  http::ClientRequest request = request_to(*url);
  request.connect_timeout_ms = timeout_ms_;
  request.headers = {{"Accept", "application/json"}};
  request.response_bytes_max = kBytesMax;
  COFFER_TRY(auto response, send_to_host(std::move(request), client_, resolver_, timeout_ms_));
  if (response.status != 200 || response.truncated) {
    return unexpected(Slug::provider_error,
                      "Status " + std::to_string(response.status) +
                          (response.truncated ? ", incomplete response, or over 256 KiB." : "."));
  }
  return std::move(response.body);
}

std::string check_key_source(const std::string& source) {
  if (!is_remote(source)) {
    return contents_of(source) ? "" : source + " cannot be read, or is over 256 KiB";
  }
  const auto url = parse_url(source);
  if (!url) return "\"" + source + "\" is not a URL";
  if (!url->is_protected()) return "keys from plain http cannot be trusted; use https";
  return {};
}

}  // namespace coffer::outbound
