// Where the settings place an archive (docs/operating.md).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "outbound/archive/aws_signature.h"
#include "outbound/wire/url.h"

namespace coffer::outbound {

/// As the operator wrote them; each has passed its check below.
struct ArchiveSettings {
  std::string url;       // file:///PATH or s3://BUCKET[/PREFIX]
  std::string endpoint;  // of a store other than AWS; empty: AWS
  AwsKeys keys;
};

struct ArchivePlace {
  std::string folder;  // absolute; empty for a bucket
  std::string bucket;
  std::string prefix;  // of all names: empty, or with a "/" at its end
};

/// `validation-failed` with what to write instead.
Result<ArchivePlace> parse_archive_url(std::string_view text);
/// The error in an endpoint, or an empty text: https://HOST[:PORT]; http only to this machine.
std::string check_archive_endpoint(const std::string& text);

/// Where requests for a bucket go.
struct BucketAddress {
  Url host;          // its path and query are not used
  std::string path;  // of the bucket, with a "/" at its end
};
/// At an endpoint, and for a name with dots, which a certificate does not cover, the bucket is in
/// the path; otherwise in the name of AWS's host.
BucketAddress bucket_address(const std::string& bucket, const ArchiveSettings& settings);

}  // namespace coffer::outbound
