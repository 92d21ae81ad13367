#include "http/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

namespace coffer::http {
namespace {

Timestamp end_of(const X509* certificate) {
  constexpr std::int64_t kMsPerDay = 86'400'000;
  const std::unique_ptr<ASN1_TIME, decltype(&ASN1_TIME_free)> epoch(ASN1_TIME_set(nullptr, 0),
                                                                    ASN1_TIME_free);
  int days = 0;
  int seconds = 0;
  const ASN1_TIME* end = X509_get0_notAfter(certificate);
  if (!epoch || ASN1_TIME_diff(&days, &seconds, epoch.get(), end) != 1) return {};
  return {days * kMsPerDay + seconds * std::int64_t{1000}};
}

}  // namespace

Result<CertificateFile> read_certificate_file(const std::string& path) {
  errno = 0;
  const std::unique_ptr<BIO, decltype(&BIO_free)> file(BIO_new_file(path.c_str(), "r"), BIO_free);
  if (!file) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "it cannot be read";
    ERR_clear_error();
    return unexpected(Slug::unexpected_error, path + ": " + reason);
  }
  CertificateFile out;
  // Also reads trusted certificates, because bundles may contain either form.
  while (X509* certificate = PEM_read_bio_X509_AUX(file.get(), nullptr, nullptr, nullptr)) {
    if (out.count++ == 0) out.first_ends = end_of(certificate);
    X509_free(certificate);
  }
  ERR_clear_error();
  return out;
}

}  // namespace coffer::http
