// Self-signed certificates for tests, in a folder of their own.
#pragma once

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace coffer::http::test {

class Certificates {
 public:
  Certificates() {
    char name[] = "/tmp/coffer-tls-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  std::string cert() const { return folder_ + "/cert.pem"; }
  std::string key() const { return folder_ + "/key.pem"; }

  /// Replaces both files. `names` as in "DNS:pay.example,IP:127.0.0.1".
  void make(const std::string& names, long serial) const {
    EVP_PKEY* pair = EVP_EC_gen("P-256");
    X509* cert = X509_new();
    X509_set_version(cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3'600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3'600);
    X509_NAME* subject = X509_get_subject_name(cert);
    const auto* common = reinterpret_cast<const unsigned char*>("coffer test");
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common, -1, -1, 0);
    X509_set_issuer_name(cert, subject);
    X509_set_pubkey(cert, pair);
    X509_EXTENSION* extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(cert, pair, EVP_sha256());
    std::FILE* cert_out = std::fopen(this->cert().c_str(), "w");
    PEM_write_X509(cert_out, cert);
    std::fclose(cert_out);
    std::FILE* key_out = std::fopen(key().c_str(), "w");
    PEM_write_PrivateKey(key_out, pair, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(key_out);
    X509_free(cert);
    EVP_PKEY_free(pair);
  }

 private:
  std::string folder_;
};

}  // namespace coffer::http::test
