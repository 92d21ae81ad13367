// What a store with S3's interface says, in XML. Answers are untrusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/object_store.h"

namespace coffer::outbound {

/// An answer to ListObjectsV2.
struct S3List {
  std::vector<StoredObject> objects;
  bool is_truncated = false;
  std::string next;  // the token of the next answer, if truncated
};
/// nullopt if the text is no such answer.
std::optional<S3List> s3_list_from(std::string_view xml);

/// The code of an error, such as "AccessDenied": at most 64 letters and digits, and empty if the
/// text has none.
std::string s3_error_code(std::string_view xml);
/// What the operator can do about an error with this code: a sentence with a space before it, or an
/// empty text.
std::string_view s3_remedy(std::string_view code);

}  // namespace coffer::outbound
