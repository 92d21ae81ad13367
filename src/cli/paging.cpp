#include "cli/paging.h"

#include <limits>

#include "cli/choice.h"
#include "store/identity/tenants.h"

namespace coffer::cli {
namespace {

/// --from or --to, a date.
Result<std::optional<Timestamp>> date_argument(const Arguments& arguments, const char* name) {
  COFFER_TRY(const auto at, optional_time(arguments, name));
  if (!at || at->ms % kDayMs == 0) return at;
  return unexpected(Slug::malformed_request,
                    "--" + std::string(name) + " must be a date, such as 2026-10-01 (UTC).");
}

}  // namespace

std::vector<Argument> page_arguments() {
  return {option("cursor", "TEXT", "Cursor of the next page, from the previous page"),
          option("limit", "N", "Maximum number of rows, up to 200", "20")};
}

Result<store::PageAt> page_argument(const Arguments& arguments) {
  store::PageAt page;
  COFFER_TRY(page.limit, number_argument(arguments, "limit", 1, kPageMax));
  if (!arguments.has("cursor")) return page;
  COFFER_TRY(page.key, number_argument<std::int64_t>(arguments, "cursor", 1,
                                                     std::numeric_limits<std::int64_t>::max()));
  return page;
}

void put_next(CommandResult& result, const std::optional<std::int64_t>& next, bool cut_short) {
  result.paged = true;
  if (!next) return;
  result.next_cursor = std::to_string(*next);
  if (!cut_short) return;
  result.note = cut_short_note() + " Continue with the cursor.";
}

std::string cut_short_note() {
  return "This page is incomplete: the search stopped after reading " +
         std::to_string(store::kRowsMax) + " rows.";
}

std::vector<Argument> owner_arguments() {
  return {choice_of<Environment>("environment", "Filter by environment"),
          option("association", "ID", "Filter by association")};
}

Result<store::TenantKeys> owners_argument(store::Connection& db, const Arguments& arguments) {
  if (!arguments.has("environment") && !arguments.has("association")) return store::TenantKeys();
  COFFER_TRY(const auto chosen, chosen_tenants(db, arguments));
  std::vector<std::int64_t> keys;
  for (const NamedTenant& owner : chosen) keys.push_back(owner.tenant.key);
  return store::TenantKeys(std::move(keys));
}

Result<std::optional<Timestamp>> optional_time(const Arguments& arguments,
                                               const std::string& name) {
  const auto text = arguments.find(name);
  if (!text) return std::optional<Timestamp>();
  if (const auto time = Timestamp::parse(*text)) return time;
  return unexpected(
      Slug::malformed_request,
      "--" + name + " is not a date or time. Write it like 2026-01-31 or 2026-01-31T09:00:00Z.");
}

std::string date_of(Timestamp at) { return at.to_string().substr(0, 10); }

Result<DaysArgument> days_argument(const Arguments& arguments,
                                   std::optional<std::int64_t> days_max) {
  DaysArgument out;
  COFFER_TRY(out.from, date_argument(arguments, "from"));
  COFFER_TRY(out.to, date_argument(arguments, "to"));
  if (!out.from || !out.to) return out;
  if (*out.from >= *out.to)
    return unexpected(Slug::malformed_request,
                      "--to is the day after the last, so it must be later than --from.");
  if (days_max && *out.to > out.from->plus_ms(*days_max * kDayMs))
    return unexpected(Slug::malformed_request,
                      "--to must be at most " + std::to_string(*days_max) + " days after --from.");
  return out;
}

const Owners::Owner& Owners::get(std::int64_t tenant) {
  const auto [at, is_new] = known_.try_emplace(tenant);
  if (is_new) {
    const Tenant of = store::tenant_by_key(db_, tenant);
    at->second = {of, store::find_association(db_, of.association).value().name};
  }
  return at->second;
}

void Owners::put(Record& record, std::int64_t tenant) {
  const Owner& owner = get(tenant);
  record.emplace_back("environment", name(owner.tenant.environment));
  record.emplace_back("association", owner.association);
  record.emplace_back("associationId", owner.tenant.association);
}

std::optional<std::string> shown(const std::optional<Amount>& amount, int decimals) {
  return amount ? std::optional(amount->to_string(decimals)) : std::nullopt;
}

std::optional<std::string> percent(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return std::nullopt;
  const std::int64_t tenths = part * 1'000 / whole;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

void put_detail(std::vector<Record>& out, std::string_view name,
                const std::optional<std::string>& value) {
  if (value && !value->empty()) out.push_back({{"name", name}, {"value", *value}});
}

}  // namespace coffer::cli
