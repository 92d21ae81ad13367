#include <algorithm>
#include <array>
#include <string>

#include "api/about/openapi.h"
#include "api/about/web_documents.h"
#include "base/digest.h"
#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "domain/country.h"
#include "embedded/embedded.h"
#include "http/wire/adapter.h"
#include "outbound/operations/mail.h"
#include "outbound/wire/resolver.h"
#include "store/file/connection.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

int version(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  const Record record = {
      {"coffer", embedded::version()},         {"commit", embedded::commit()},
      {"schema", store::schema_version()},     {"sqlite", store::sqlite_version()},
      {"openssl", openssl_version()},          {"httplib", http::httplib_version()},
      {"cares", outbound::cares_version()},    {"curl", outbound::libcurl_version()},
      {"countryTables", country_tables_date()}};
  return print_result(console, {.records = {record}}, arguments.json);
}

int openapi(const Console& console, const Arguments&, const ConfigFlags&) {
  console.out << api::openapi_document() << std::endl;
  return exit_code::kDone;
}

/// A line of the changelog without the marks of Markdown.
std::string plain(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c != '*' && c != '`' && c != '[' && c != ']') out += c;
  }
  return out;
}

/// The entries of CHANGELOG.md (Keep a Changelog), in its order.
std::vector<Record> changes() {
  std::string release, kind;
  std::vector<std::array<std::string, 3>> entries;
  std::string_view rest = api::web_text("changes.md");
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with("## ")) release = plain(line.substr(3));
    if (line.starts_with("### ")) kind = plain(line.substr(4));
    if (line.starts_with("- ")) entries.push_back({release, kind, plain(line.substr(2))});
    if (line.starts_with("  ") && !entries.empty()) entries.back()[2] += plain(line.substr(1));
  }
  return records_of(entries, [](const auto& entry) -> Record {
    return {{"release", entry[0]}, {"kind", entry[1]}, {"change", entry[2]}};
  });
}

Result<CommandResult> list_changes(Session&, store::Connection&, const Arguments&) {
  return CommandResult{.records = changes(), .list = true};
}

}  // namespace

std::vector<Command> about_commands() {
  return {for_viewers("changes", "List what is new in this version, by release", list_changes),
          {.path = "openapi",
           .summary = "Print the OpenAPI document of the API",
           .run = openapi,
           .settings = Settings::none,
           .prints_data = false},
          {.path = "version",
           .summary = "Print the version of coffer and of its libraries",
           .run = version,
           .settings = Settings::none,
           .details = "countryTables is the date of the last review of the countries (ISO 3166-1) "
                      "and currencies (ISO 4217)."}};
}

}  // namespace coffer::cli
