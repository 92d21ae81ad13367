#include "domain/reconciliation/strict_xml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>

#include "base/text/ascii.h"
#include "base/text/next_part.h"
#include "domain/reconciliation/bank_statement.h"

namespace coffer {
namespace {

/// Bounds the memory of the document, whose nodes are larger than the shortest element.
constexpr std::ptrdiff_t kMarksMax = 5'000'000;
constexpr std::size_t kReferenceMax = 10;

Unexpected refused_here(std::string_view text, std::size_t offset, const std::string& reason) {
  const std::string_view before = text.substr(0, offset);
  return refused_at(1 + static_cast<std::size_t>(std::ranges::count(before, '\n')), reason);
}

/// `amp`, `#10` or `#xA`.
bool is_character_reference(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames{"amp", "lt", "gt", "quot", "apos"};
  if (!name.starts_with('#')) return std::ranges::find(kNames, name) != kNames.end();
  name.remove_prefix(1);
  const int base = name.starts_with('x') ? 16 : 10;
  if (base == 16) name.remove_prefix(1);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value, base);
  if (error != std::errc() || end != name.data() + name.size()) return false;
  return value == '\t' || value == '\n' || value == '\r' || (value >= 0x20 && value < 0xd800) ||
         (value >= 0xe000 && value < 0xfffe) || (value >= 0x10000 && value <= 0x10ffff);
}

/// Characters and references that the parser accepts and XML does not.
Result<void> check_characters(std::string_view text) {
  struct Skipped {
    std::string_view begin;
    std::string_view end;
  };
  static constexpr std::array<Skipped, 3> kSkipped{
      {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}}};
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (ascii::is_control(c) && c != '\t' && c != '\n' && c != '\r' && c != '\x7f') {
      return refused_here(text, at, "The file has a control character, which XML does not permit");
    }
    if (c == '&') {
      const std::size_t end = text.substr(at + 1, kReferenceMax).find(';');
      if (end == std::string_view::npos || !is_character_reference(text.substr(at + 1, end)))
        return refused_here(text, at, "This is not well-formed XML: \"&\" begins no character");
    }
    if (c != '<') continue;
    for (const auto& [begin, end] : kSkipped) {
      if (!text.substr(at).starts_with(begin)) continue;
      const std::size_t after = text.find(end, at + begin.size());
      at = std::min(after, text.size() - 1);
    }
  }
  return {};
}

/// UTF-8, and those whose letters and digits are the same bytes.
bool is_readable_encoding(const pugi::xml_node& declaration) {
  static constexpr std::array<std::string_view, 6> kReadable{
      "", "UTF-8", "US-ASCII", "ISO-8859-1", "ISO-8859-15", "WINDOWS-1252"};
  const std::string name = ascii::to_upper(declaration.attribute("encoding").value());
  return std::ranges::find(kReadable, name) != kReadable.end();
}

/// What is wrong in an element, without its children; empty: nothing.
std::string fault_of_element(const pugi::xml_node& node, const std::set<std::string_view>& once) {
  std::set<std::string_view> names;
  for (const pugi::xml_attribute& one : node.attributes()) {
    if (!names.insert(one.name()).second)
      return "The attribute " + std::string(one.name()) + " is there twice";
    if (std::string_view(one.value()).find('<') != std::string_view::npos)
      return "An attribute has the character <";
  }
  bool text = false;
  bool elements = false;
  names.clear();
  for (const pugi::xml_node& child : node.children()) {
    const std::string_view name = local_name(child);
    if (child.type() != pugi::node_element && (text || elements))
      return "The text of " + std::string(local_name(node)) + " is in several pieces";
    if (child.type() == pugi::node_element && text)
      return "The element " + std::string(local_name(node)) + " has text beside elements";
    text = child.type() != pugi::node_element;
    elements = !text;
    if (elements && once.contains(name) && !names.insert(name).second)
      return "The element " + std::string(name) + " is twice in " + std::string(local_name(node));
  }
  return {};
}

}  // namespace

std::string_view local_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const auto colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

Result<void> read_strict_xml(std::string_view text, std::string_view once,
                             pugi::xml_document& out) {
  // No depth can overflow a stack: neither pugixml nor this is recursive.
  if (std::ranges::count_if(text, [](char c) { return c == '<' || c == '='; }) > kMarksMax)
    return refused_at(1, "The file has too many elements. Split it into several files");
  COFFER_TRY_VOID(check_characters(text));
  constexpr unsigned kOptions =
      pugi::parse_default | pugi::parse_doctype | pugi::parse_declaration | pugi::parse_fragment;
  const auto parsed = out.load_buffer(text.data(), text.size(), kOptions, pugi::encoding_utf8);
  if (!parsed) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, parsed.offset));
    return refused_here(text, std::min(offset, text.size()),
                        std::string("This is not well-formed XML: ") + parsed.description());
  }
  bool root = false;
  for (const pugi::xml_node& node : out.children()) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, node.offset_debug()));
    if (node.type() == pugi::node_doctype)
      return refused_at(1, "A document type declaration is not accepted");
    if (node.type() == pugi::node_declaration && !root) {
      if (is_readable_encoding(node)) continue;
      return refused_at(1, "The encoding is not UTF-8 or ISO 8859-1. Convert the file");
    }
    if (node.type() != pugi::node_element || root)
      return refused_here(text, offset,
                          "The file has more than one document, or text outside of it");
    root = true;
  }
  std::set<std::string_view> names;
  while (!once.empty()) names.insert(next_part(once, ' '));
  for (pugi::xml_node node = out.document_element(); node;) {
    if (node.type() == pugi::node_element) {
      if (const std::string fault = fault_of_element(node, names); !fault.empty())
        return refused_here(text, static_cast<std::size_t>(node.offset_debug()), fault);
    }
    pugi::xml_node next = node.first_child();
    while (!next && node) {
      next = node.next_sibling();
      if (!next) node = node.parent();
      if (node == out) return {};
    }
    node = next;
  }
  return {};
}

}  // namespace coffer
