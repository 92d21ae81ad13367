#include "api/about/openapi.h"
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

}  // namespace

std::vector<Command> about_commands() {
  return {{.path = "openapi",
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
