// The files below web/, as documents that the API and the admin page serve.
#pragma once

#include <string_view>

#include "http/document.h"

namespace coffer::api {

/// By its path below web/, as in "docs/docs.js"; nullptr when no such file is served. The first
/// call prepares all of them. Lives as long as the process.
const http::Document* find_web_document(std::string_view path);

/// The text of a file below web/ that is a template or a source of something else. Throws
/// InternalError when it is not in the binary.
std::string_view web_text(std::string_view path);

}  // namespace coffer::api
