// What all uses of OpenSSL share: owners of its objects, and texts as its bytes.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

namespace coffer {

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

/// An object of OpenSSL, which `kFree` frees.
template <class T, auto kFree>
using Owned = std::unique_ptr<T, Freed<kFree>>;

using DigestContext = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;

inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// The bytes of `text` from `at`, for a function that writes them.
inline unsigned char* writable_bytes_of(std::string& text, std::size_t at = 0) {
  return reinterpret_cast<unsigned char*>(text.data()) + at;
}

}  // namespace coffer
