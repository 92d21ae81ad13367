// Certificates for tests, in a separate folder.
#pragma once

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/digest.h"

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
  /// A path without a file.
  std::string missing() const { return folder_ + "/missing"; }

  /// Replaces both files. `names` as in "DNS:pay.example,IP:127.0.0.1".
  void make(const std::string& names, long serial) const {
    write("coffer test", serial, NID_subject_alt_name, names, nullptr);
  }
  /// An authority with this name.
  void make_authority(const std::string& name) const {
    write(name, 1, NID_basic_constraints, "critical,CA:TRUE", nullptr);
  }
  /// A certificate of an authority for this purpose.
  void make_issued(const Certificates& authority, long serial,
                   const std::string& purpose = "clientAuth") const {
    write("coffer client", serial, NID_ext_key_usage, purpose, &authority);
  }
  /// SHA-256 of the certificate, in lower-case hex.
  std::string fingerprint() const {
    X509* cert = read_cert();
    unsigned char* der = nullptr;
    const int size = i2d_X509(cert, &der);
    std::string out =
        to_hex(sha256({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)}));
    OPENSSL_free(der);
    X509_free(cert);
    return out;
  }

 private:
  X509* read_cert() const {
    std::FILE* file = std::fopen(cert().c_str(), "r");
    X509* out = PEM_read_X509(file, nullptr, nullptr, nullptr);
    std::fclose(file);
    return out;
  }
  EVP_PKEY* read_key() const {
    std::FILE* file = std::fopen(key().c_str(), "r");
    EVP_PKEY* out = PEM_read_PrivateKey(file, nullptr, nullptr, nullptr);
    std::fclose(file);
    return out;
  }

  /// Self-signed without an issuer.
  void write(const std::string& name, long serial, int extension_nid, const std::string& extension,
             const Certificates* issuer) const {
    EVP_PKEY* pair = EVP_EC_gen("P-256");
    X509* cert = X509_new();
    X509_set_version(cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3'600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3'600);
    X509_NAME* subject = X509_get_subject_name(cert);
    const auto* common = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common, -1, -1, 0);
    X509* signer = issuer == nullptr ? nullptr : issuer->read_cert();
    EVP_PKEY* signing = issuer == nullptr ? pair : issuer->read_key();
    X509_set_issuer_name(cert, signer == nullptr ? subject : X509_get_subject_name(signer));
    X509_set_pubkey(cert, pair);
    X509_EXTENSION* added = X509V3_EXT_conf_nid(nullptr, nullptr, extension_nid, extension.c_str());
    X509_add_ext(cert, added, -1);
    X509_EXTENSION_free(added);
    X509_sign(cert, signing, EVP_sha256());
    std::FILE* cert_out = std::fopen(this->cert().c_str(), "w");
    PEM_write_X509(cert_out, cert);
    std::fclose(cert_out);
    std::FILE* key_out = std::fopen(key().c_str(), "w");
    PEM_write_PrivateKey(key_out, pair, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(key_out);
    if (signing != pair) EVP_PKEY_free(signing);
    X509_free(signer);
    X509_free(cert);
    EVP_PKEY_free(pair);
  }

  std::string folder_;
};

}  // namespace coffer::http::test
