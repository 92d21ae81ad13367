// Targets outside the database file that keep its checkpoints (docs/operating.md#checkpoints).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/client.h"
#include "outbound/wire/resolver.h"
#include "outbound/wire/target_guard.h"

namespace coffer::outbound {

/// Whether the text is a URL rather than a path.
bool is_web_address(std::string_view target);
/// The error in the target, or an empty text. A target is a path or an https URL; http only to this
/// machine.
std::string check_witness(const std::string& target);

/// Blocks up to ten seconds for each URL. Not thread-safe.
class Witnesses {
 public:
  /// The targets have passed check_witness(). `client` and `resolver` must outlive this object.
  Witnesses(std::vector<std::string> targets, http::Client& client, Resolver& resolver)
      : targets_(std::move(targets)), client_(client), resolver_(resolver) {}

  /// Durably appends the line to each file, and posts it to each URL as `text/plain`; any 2xx is
  /// success. Returns a sentence for each target that did not store the line.
  std::vector<std::string> write(const std::string& line);

 private:
  Result<void> post(const std::string& target, const std::string& line);

  const std::vector<std::string> targets_;
  http::Client& client_;
  Resolver& resolver_;
};

/// Fetches the text at a URL whose addresses `guard` permits, at most 1 MiB. Blocks up to ten
/// seconds. Also `webhook-target-refused`.
Result<std::string> fetch_text(const std::string& target, http::Client& client,
                               const TargetGuard& guard);

}  // namespace coffer::outbound
