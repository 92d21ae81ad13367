// XML of a bank, read completely or not at all: what the parser would skip or cut is refused.
#pragma once

#include <pugixml.hpp>
#include <string_view>

#include "base/result.h"

namespace coffer {

/// Without the prefix of its namespace.
std::string_view local_name(const pugi::xml_node& node);

/// Reads a document with one root. Refused, with the line: text that is not XML, a document type, a
/// second root, text beside elements or in several pieces, an attribute that is there twice, and an
/// element of `once`, names with spaces between them, that its parent has twice.
Result<void> read_strict_xml(std::string_view text, std::string_view once, pugi::xml_document& out);

}  // namespace coffer
