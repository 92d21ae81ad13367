// What a PEM file of certificates holds, for whoever wants to know before a handshake does.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace coffer::http {

struct CertificateFile {
  int count = 0;
  Timestamp first_ends;  // of the first, which is the own one in a chain; {0} without any
};

/// A Problem names the file and says why it cannot be read; a file without certificates is none.
Result<CertificateFile> read_certificate_file(const std::string& path);

}  // namespace coffer::http
