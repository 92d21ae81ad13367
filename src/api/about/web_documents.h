// The files below web/ as documents, for the API and the admin page.
#pragma once

#include <string_view>

#include "http/document.h"

namespace coffer::api {

/// A document by its path below web/, such as "docs/docs.js"; nullptr if the path is not served.
/// The first call prepares all documents. The pointer is valid for the life of the process.
const http::Document* find_web_document(std::string_view path);

/// The text of a file below web/ that is used as a template or as a source. Throws InternalError if
/// the binary does not contain it.
std::string_view web_text(std::string_view path);

}  // namespace coffer::api
