// Reads a PEM file of certificates, to find errors before a handshake does.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace coffer::http {

struct CertificateFile {
  int count = 0;
  // Expiry of the first certificate, which is the leaf of a chain; {0} without certificates.
  Timestamp first_ends;
  // A host name or numeric address that the first certificate is valid for; empty if it has none.
  std::string first_name;
};

/// The start of a failure reason when the peer's certificate was rejected.
inline constexpr std::string_view kCertificateRejected =
    "No connection: the certificate is not accepted";

/// A Problem contains the file and the reason. A file without certificates is not an error.
Result<CertificateFile> read_certificate_file(const std::string& path);

}  // namespace coffer::http
