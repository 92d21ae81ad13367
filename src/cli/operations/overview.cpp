#include <algorithm>

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "domain/operations/condition.h"
#include "embedded/embedded.h"
#include "store/ledger/catalog.h"
#include "store/operations/activity.h"
#include "store/operations/backlog.h"
#include "store/operations/copies.h"
#include "store/operations/figures.h"
#include "store/operations/payment_lists.h"
#include "store/providers/connectors.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

using store::Connection;

/// The location and size of the server's file.
Record server_record(App& app) {
  const bool serving = app.listeners().port() != 0;
  const Timestamp since = app.opened_at();
  Record out{{"version", embedded::version()}, {"schema", store::schema_version()}};
  const std::int64_t uptime_ms = app.flows().clock.machine_now().ms - since.ms;
  out.emplace_back("startedAt", serving ? std::optional(since) : std::nullopt);
  out.emplace_back("uptimeSeconds", serving ? std::optional(uptime_ms / 1'000) : std::nullopt);
  const auto url = [](const std::optional<ListenAddress>& listener) {
    return listener ? std::optional(listener->url()) : std::nullopt;
  };
  out.emplace_back("listen", url(app.listeners().api_address()));
  out.emplace_back("adminListen", url(app.listeners().admin_address()));
  out.emplace_back("databaseBytes", static_cast<std::int64_t>(app.database().file_bytes()));
  out.emplace_back("walBytes", static_cast<std::int64_t>(app.database().wal_bytes()));
  out.emplace_back("diskFreeBytes", static_cast<std::int64_t>(app.database().free_bytes()));
  return out;
}

void put_backlog(Record& out, const store::Backlog& backlog) {
  const auto paused =
      std::ranges::count_if(backlog.connectors, [](const auto& row) { return row.is_paused(); });
  out.emplace_back("unsettledPayments", backlog.settlement.count + backlog.providers.count);
  out.emplace_back("oldestUnsettledAt", backlog.oldest_unsettled);
  out.emplace_back("settlementJobs", backlog.settlement.count);
  out.emplace_back("providerJobs", backlog.providers.count);
  out.emplace_back("oldestProviderJobAt", backlog.providers.created);
  out.emplace_back("pendingDeliveries", backlog.deliveries.count);
  out.emplace_back("nextDeliveryAt", backlog.deliveries.due);
  out.emplace_back("deadLetters", backlog.dead_letters);
  out.emplace_back("webhooksActive", backlog.endpoints);
  out.emplace_back("webhooksFailing", backlog.endpoints_failing);
  out.emplace_back("webhooksDisabled", backlog.endpoints_disabled);
  out.emplace_back("pendingReviews", backlog.reviews.count);
  out.emplace_back("oldestReviewAt", backlog.reviews.created);
  out.emplace_back("notificationsWaiting", backlog.notifications.count);
  out.emplace_back("notificationsFailed", backlog.notifications_failed);
  out.emplace_back("connectorsPaused", paused);
}

void put_backups(Record& out, const Config& config, const std::optional<store::BackupRecord>& last,
                 const std::optional<store::BackupFailure>& failure) {
  const bool scheduled = !config.backup_dir.empty();
  out.emplace_back("backupEveryHours",
                   scheduled ? std::optional(std::int64_t{config.backup_every_h}) : std::nullopt);
  out.emplace_back("lastBackupAt", last ? std::optional(last->at) : std::nullopt);
  if (last) {
    out.emplace_back("lastBackupBytes", last->bytes);
    out.emplace_back("lastBackupVerified", last->verified);
  }
  // Present after a failed scheduled backup, until one succeeds.
  if (failure) out.emplace_back("backupFailure", failure->reason);
}

Record overview_view(const store::LedgerBalances& balances) {
  const auto text = [&](Amount amount) { return amount.to_string(balances.decimals); };
  return {{"environment", name(balances.environment)},
          {"assetCode", balances.asset.value()},
          {"wallets", text(balances.wallets)},
          {"held", balances.held ? std::optional(text(*balances.held)) : std::nullopt},
          {"liquidity", text(balances.liquidity)},
          {"fees", text(balances.fees)},
          {"clearing", text(balances.clearing)},
          {"issuance", text(balances.issuance)}};
}

Record overview_view(const coffer::Finding& finding) {
  return {{"condition", name(finding.condition)},
          {"count", finding.count},
          {"oldestAt", finding.since},
          {"reason", finding.reason.empty() ? std::nullopt : std::optional(finding.reason)},
          {"summary", summary(finding)}};
}

Result<CommandResult> overview(Session& session, Connection& db, const Arguments&) {
  App& app = session.app;
  Record out = server_record(app);
  out.emplace_back("paymentsEver", store::last_payment(db));
  const store::Backlog backlog = store::read_backlog(db);
  const ConditionFacts facts = app.background().condition_facts(db, backlog);
  // Only a running server verifies in the background; otherwise, `coffer verify` does.
  out.emplace_back("invariantsHold", app.listeners().port() != 0
                                         ? std::optional(app.background().invariants_hold())
                                         : std::nullopt);
  put_backlog(out, backlog);
  out.emplace_back("approvalsWaiting", facts.approvals);
  out.emplace_back("oldestApprovalAt", facts.oldest_approval);
  out.emplace_back("credentialsRotated", facts.applications_rotated);
  put_backups(out, app.config(), backlog.last_backup, store::backup_failure(db));
  out.emplace_back("breakersOpen", facts.breakers_open);
  const auto view = [](const auto& row) { return overview_view(row); };
  out.emplace_back("attention", records_of(find_conditions(facts, app.queue().now()), view));
  out.emplace_back("books", records_of(store::ledger_balances(db), view));
  return CommandResult{.records = {std::move(out)}};
}

// Activity ----------------------------------------------------------------------------------------

constexpr std::int64_t kSpansMax = 60;

/// The shortest permitted span that divides `length_ms` into at most kSpansMax spans.
std::int64_t span_of(std::int64_t length_ms) {
  for (const std::int64_t hours : {1, 6, 24}) {
    if (length_ms <= kSpansMax * hours * kHourMs) return hours * kHourMs;
  }
  constexpr std::int64_t kWeekMs = 7 * kDayMs;
  return (length_ms / (kSpansMax * kWeekMs) + 1) * kWeekMs;
}

/// Spans from `from` to `to`, both inclusive, aligned to multiples of `width_ms`, so that bars in a
/// chart do not move.
store::ActivityWanted spans_between(Timestamp from, Timestamp to, std::int64_t width_ms) {
  store::ActivityWanted out;
  out.width_ms = width_ms;
  out.from = Timestamp{from.ms / width_ms * width_ms};
  const std::int64_t end = (to.ms / width_ms + 1) * width_ms;
  out.buckets = static_cast<int>((end - out.from.ms) / width_ms);
  return out;
}

Result<store::ActivityWanted> wanted_activity(const Arguments& arguments, Timestamp now) {
  COFFER_TRY(const auto from, optional_time(arguments, "from"));
  COFFER_TRY(const auto to, optional_time(arguments, "to"));
  if (from) {
    const Timestamp end = to ? std::min(to->plus_ms(-1), now) : now;
    if (*from > end)
      return unexpected(Slug::malformed_request,
                        "--from must be before --to and before the current time.");
    return spans_between(*from, end, span_of(end.ms - from->ms));
  }
  if (to) return unexpected(Slug::malformed_request, "--to requires --from. Add --from.");
  COFFER_TRY(const auto hours, number_argument<std::int64_t>(arguments, "hours"));
  const std::int64_t width_ms = hours <= 48 ? kHourMs : hours <= 168 ? 6 * kHourMs : 24 * kHourMs;
  return spans_between(now.plus_ms(width_ms - hours * kHourMs), now, width_ms);
}

struct Names {
  std::map<std::int64_t, Asset> assets;
  std::map<std::int64_t, std::string> connectors;

  explicit Names(Connection& db) {
    for (const Asset& asset : store::list_assets(db)) assets[asset.key] = asset;
    for (const auto& row : store::list_connectors_of_all(db)) {
      connectors[row.terms.key] = row.terms.name;
    }
  }
};

std::vector<Record> overview_view(const std::map<store::FailureKind, std::int64_t>& failures,
                                  const Names& names) {
  return records_of(failures, [&](const auto& failure) -> Record {
    const auto& [kind, payments] = failure;
    std::optional<std::string> connector, asset;
    if (kind.connector != 0) connector = names.connectors.at(kind.connector);
    if (kind.asset != 0) asset = names.assets.at(kind.asset).code.value();
    return {{"code", kind.code ? info(*kind.code).name : name(PaymentStatus::expired)},
            {"connector", connector},
            {"assetCode", asset},
            {"payments", payments}};
  });
}

Record overview_view(const store::ActivityBucket& bucket, const Names& names) {
  std::vector<Record> volume;
  for (const auto& [key, sum] : bucket.volume) {
    const Asset& asset = names.assets.at(key);
    const Amount amount = truncate_to(sum.amount, asset.decimals);
    volume.push_back({{"assetCode", asset.code.value()},
                      {"amount", amount.to_string(asset.decimals)},
                      {"payments", sum.payments}});
  }
  return {{"from", bucket.from},
          {"to", bucket.to},
          {"payments", bucket.payments},
          {"succeeded", bucket.succeeded},
          {"failed", bucket.failed},
          {"inProgress", bucket.payments - bucket.succeeded - bucket.failed},
          {"successRate", percent(bucket.succeeded, bucket.succeeded + bucket.failed)},
          {"volume", std::move(volume)},
          {"failures", overview_view(bucket.failures, names)},
          {"sampled", bucket.sampled}};
}

Result<CommandResult> activity(Session& session, Connection& db, const Arguments& arguments) {
  COFFER_TRY(auto wanted, wanted_activity(arguments, session.app.queue().now()));
  COFFER_TRY(wanted.tenants, owners_argument(db, arguments));
  const Names names(db);
  const auto buckets = store::activity(db, wanted);
  CommandResult result = list_of(
      {"from", "to", "payments", "succeeded", "failed", "inProgress", "successRate", "volume",
       "sampled"},
      buckets, [&](const store::ActivityBucket& bucket) { return overview_view(bucket, names); });
  if (std::ranges::any_of(buckets, &store::ActivityBucket::sampled)) {
    result.note = "Rates and volumes are estimated from an even sample of 10,000 payments.";
  }
  return result;
}

}  // namespace

std::vector<Command> overview_commands() {
  return {
      for_viewers("overview", "Show system status: ledger balances, queues, errors", overview),
      for_viewers("activity", "Show payment counts, success rate, volume and failures over time",
                  activity,
                  joined({chosen_among({}, "24 hours|48 hours|7 days|30 days",
                                       choice("hours", "24|48|168|720", "Period in hours", "24")),
                          option("from", "TIME",
                                 "Start of the period, instead of --hours, such as 2026-01-31"),
                          option("to", "TIME", "End of the period; by default now")},
                         owner_arguments()))};
}

}  // namespace coffer::cli
