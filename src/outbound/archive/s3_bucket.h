// A bucket of a store with S3's interface, as the store of an archive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files/object_store.h"
#include "http/client.h"
#include "outbound/archive/archive_place.h"
#include "outbound/archive/s3_answers.h"
#include "outbound/wire/resolver.h"

namespace coffer::outbound {

/// What calls to the bucket use. All must outlive it.
struct ArchiveWire {
  http::Client& client;
  Resolver& resolver;
  const Clock& clock;       // its machine_now() is signed
  int timeout_ms = 30'000;  // of one request, and more for the time of its bytes at 128 KB/s
  std::function<void(int ms)> wait = {};  // before a repetition; empty: until the client is cut
};

/// The connections of one user of archives, which are kept, and can be cut.
class ArchiveLink {
 public:
  /// `clock` must outlive it.
  ArchiveLink(const std::string& ca_bundle, const Clock& clock)
      : client_(ca_bundle, http::Client::Connections::keep), clock_(clock) {}
  ArchiveWire wire() { return {.client = client_, .resolver = resolver_, .clock = clock_}; }
  /// Ends every present and future call after a time. Permanent; thread-safe.
  void cut_after(int ms) {
    client_.cut_after(ms);
    resolver_.cut_after(ms);
  }

 private:
  http::Client client_;
  CaresResolver resolver_;
  const Clock& clock_;
};

/// A request that the store may serve later is sent up to four times within three seconds: after
/// 429, 5xx, a conflict with a request in progress, or without an answer. Redirects are not
/// followed, because they would have to be signed for another host.
///
/// Calls block, until the client is cut. Problems name the bucket, the object, the status and S3's
/// code, and no secret. `provider-unavailable` without an answer that helps, `forbidden` if the
/// store refuses the key.
class S3Bucket final : public ObjectStore {
 public:
  S3Bucket(const ArchiveSettings& settings, const ArchivePlace& place, ArchiveWire wire);

  Result<PutResult> put(const std::string& name, std::string_view bytes) override;
  Result<std::string> get(const std::string& name, std::size_t bytes_max) override;
  /// Objects with names that coffer does not give are left out.
  Result<std::vector<StoredObject>> list(const std::string& prefix,
                                         const std::string& after) override;
  Result<void> remove(const std::string& name) override;

 private:
  struct Call;
  Result<http::ClientResponse> send(const Call& call);
  Unexpected fault(const Call& call, const std::string& why,
                   Slug slug = Slug::provider_unavailable) const;
  Unexpected fault(const Call& call, const http::ClientResponse& response) const;
  Result<Call> call_for(const char* method, const std::string& name) const;

  const std::string bucket_;
  const std::string prefix_;
  const BucketAddress address_;
  const AwsKeys keys_;
  const ArchiveWire wire_;
};

}  // namespace coffer::outbound
