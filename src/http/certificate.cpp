#include "http/certificate.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

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

/// The first name or address. A wildcard is replaced by a name that it covers.
std::string name_of(X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    int type = 0;
    const auto* value = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(name, &type));
    const auto* bytes = ASN1_STRING_get0_data(value);
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(value));
    if (type == GEN_DNS) {
      const std::string text(reinterpret_cast<const char*>(bytes), size);
      return text.starts_with("*.") ? "any" + text.substr(1) : text;
    }
    char text[INET6_ADDRSTRLEN] = "";
    const bool six = size == sizeof(in6_addr);
    if (type == GEN_IPADD && (six || size == sizeof(in_addr)) &&
        ::inet_ntop(six ? AF_INET6 : AF_INET, bytes, text, sizeof text) != nullptr) {
      return text;
    }
  }
  return {};
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
    if (out.count++ == 0) {
      out.first_ends = end_of(certificate);
      out.first_name = name_of(certificate);
    }
    X509_free(certificate);
  }
  ERR_clear_error();
  return out;
}

}  // namespace coffer::http
