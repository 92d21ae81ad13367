// HMAC with SHA-256 (RFC 2104) under a key that is prepared once.
#pragma once

#include <memory>
#include <string_view>

#include "base/digest.h"

struct evp_mac_ctx_st;

namespace coffer {

/// Computes digests under one key without preparing it again. Not thread-safe: one per connection.
/// The key is wiped when the instance is destroyed.
class KeyedDigest {
 public:
  explicit KeyedDigest(std::string_view key);
  /// The digest of `first` followed by `second`.
  Sha256 of(std::string_view first, std::string_view second = {}) const;

 private:
  struct FreeState {
    void operator()(evp_mac_ctx_st* state) const;
  };
  std::unique_ptr<evp_mac_ctx_st, FreeState> state_;
};

}  // namespace coffer
