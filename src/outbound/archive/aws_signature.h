// AWS Signature Version 4, in the header of a request.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/strong.h"
#include "http/client.h"

namespace coffer::outbound {

struct AwsKeys {
  std::string access_key;
  Secret secret_key;
  Secret session_token;  // of temporary keys; otherwise empty
  std::string region = "us-east-1";
  std::string service = "s3";
};

/// The value of `Authorization` for the request at `amz_date` (20130524T000000Z), which covers all
/// its headers and Host. Path and query are signed as they are, so they have to be encoded as the
/// service does: every byte except the unreserved characters. `payload_hash` is the SHA-256 of the
/// body in hex.
std::string aws_authorization(const http::ClientRequest& request, const AwsKeys& keys,
                              const std::string& amz_date, const std::string& payload_hash);
/// Adds the headers that S3 requires, and the signature.
void sign_for_s3(http::ClientRequest& request, const AwsKeys& keys, Timestamp now,
                 const std::string& payload_hash);

}  // namespace coffer::outbound
