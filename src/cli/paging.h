// Common parts of the operator's lists: pages, owner filters, and the owner columns of a row.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command.h"
#include "domain/identity/tenant.h"
#include "store/rows/key_walk.h"

namespace coffer::cli {

inline constexpr int kPageMax = 200;

/// --cursor and --limit.
std::vector<Argument> page_arguments();
Result<store::PageAt> page_argument(const Arguments& arguments);
/// Sets the page's `nextCursor`, and a note if the search ended the page early.
void put_next(CommandResult& result, const std::optional<std::int64_t>& next, bool cut_short);
/// Adds a record of each row, and sets the page's `nextCursor`.
template <class Row, class View>
void put_page(CommandResult& result, const store::RowPage<Row>& page, const View& view) {
  for (const Row& row : page.rows) result.records.push_back(view(row));
  put_next(result, page.next, page.cut_short);
}
/// A page of a list. `columns` are those of its table.
template <class Row, class View>
CommandResult page_of(std::vector<std::string_view> columns, const store::RowPage<Row>& page,
                      const View& view) {
  CommandResult result{.list = true, .columns = std::move(columns)};
  put_page(result, page, view);
  return result;
}
std::string cut_short_note();

/// --environment and --association.
std::vector<Argument> owner_arguments();
/// Row keys of the selected tenants; empty if neither option is given. `not-found`.
Result<store::TenantKeys> owners_argument(store::Connection& db, const Arguments& arguments);

/// Lists of arguments as one.
template <class... Lists>
std::vector<Argument> joined(std::vector<Argument> first, const Lists&... more) {
  (first.insert(first.end(), more.begin(), more.end()), ...);
  return first;
}

/// A date or a time; nullopt if not given. `malformed-request`.
Result<std::optional<Timestamp>> optional_time(const Arguments& arguments, const std::string& name);

/// The day in UTC: 2026-01-31.
std::string date_of(Timestamp at);

/// --from and --to: dates in UTC, of which the second is later.
struct DaysArgument {
  std::optional<Timestamp> from;
  std::optional<Timestamp> to;  // exclusive
};
inline constexpr std::int64_t kReportDaysMax = 366;
/// `malformed-request`, also for more than `days_max` days if both are given.
Result<DaysArgument> days_argument(const Arguments& arguments,
                                   std::optional<std::int64_t> days_max = {});

/// The owners of the rows in a list; each tenant is looked up once.
class Owners {
 public:
  explicit Owners(store::Connection& db) : db_(db) {}
  struct Owner {
    Tenant tenant;
    std::string association;
  };
  const Owner& get(std::int64_t tenant);
  /// Adds `environment`, `association` and `associationId`.
  void put(Record& record, std::int64_t tenant);

 private:
  store::Connection& db_;
  std::map<std::int64_t, Owner> known_;
};

std::optional<std::string> shown(const std::optional<Amount>& amount, int decimals);
/// `99.8`, rounded down; nullopt if `whole` is 0.
std::optional<std::string> percent(std::int64_t part, std::int64_t whole);
/// Adds {name, value} if there is a value.
void put_detail(std::vector<Record>& out, std::string_view name,
                const std::optional<std::string>& value);

}  // namespace coffer::cli
