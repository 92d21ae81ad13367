#include "flows/reconciliation/statement_import.h"

#include <algorithm>

#include "base/digest.h"
#include "base/limits/pace.h"
#include "flows/reconciliation/entry_import.h"
#include "store/operations/payment_lists.h"

namespace coffer::flows {
namespace {

constexpr std::size_t kMatchesPerCommit = 50;  // with rests, so that payments do not wait
constexpr int kPaymentsPerRead = 2'000;
constexpr std::int64_t kOpenLinesMax = 200'000;  // which bounds the memory

store::BankMatchRow match_row(std::int64_t line, const MatchChoice& choice, const Actor& by,
                              Timestamp at) {
  return {.line = line, .choice = choice, .actor = by.name, .at = at};
}

/// Carries out a decision, unless the line was matched or replaced, or the payment matched,
/// meanwhile.
void apply_decision(store::WriteTx& tx, const MatchDecision& decision, const Actor& by,
                    MatchCounts& counts) {
  if (!store::matches_of_line(tx.db(), decision.line).empty() ||
      store::line_state(tx.db(), decision.line) == LineState::replaced)
    return;
  const bool free = std::ranges::none_of(decision.choices, [&](const MatchChoice& one) {
    return one.rule != MatchRule::parts && store::is_matched(tx.db(), one);
  });
  const bool matches = decision.matched && free;
  store::replace_offers(tx, decision.line, matches ? std::vector<MatchChoice>() : decision.choices);
  store::set_line_state(tx, decision.line, matches ? LineState::matched : LineState::offered);
  ++(matches ? counts.matched : counts.offered);
  if (!matches) return;
  for (const MatchChoice& one : decision.choices)
    store::insert_bank_match(tx, match_row(decision.line, one, by, tx.now()));
}

/// The target of a payment that a line shows: the one with its amount, or the payment itself.
Result<MatchTarget> target_for(store::Connection& db, std::int64_t payment, const BankLine& line) {
  const auto targets = store::targets_of_payment(db, payment);
  if (targets.empty()) {
    return unexpected(Slug::conflict,
                      "The payment did not go through a provider, so no bank shows it.");
  }
  const auto same = std::ranges::find_if(targets, [&](const MatchTarget& one) {
    return one.amount == line.amount && one.currency == line.currency &&
           !store::is_matched(db, {one.kind, one.payment, one.refund});
  });
  return same == targets.end() ? targets.front() : *same;
}

}  // namespace

Result<StatementImport> import_statement(const Context& context, const StatementToImport& file,
                                         const Actor& by) {
  StatementImport out;
  store::StatementFileRow row{.environment = file.environment,
                              .connector = file.connector,
                              .digest = std::string(as_text(sha256(file.content)))};
  COFFER_TRY(const auto known, context.read([&](store::Connection& db) {
    return store::find_statement_file(db, file.environment, row.digest);
  }));
  if (known && known->completed_at) {
    out.format = known->format;
    out.lines = known->lines;
    out.known_since = known->imported_at;
    out.moved = known->connector != file.connector;
    if (!out.moved) return out;
    COFFER_TRY_VOID(context.write(
        [&](store::WriteTx& tx) { store::set_file_connector(tx, known->key, file.connector); }));
    return out;
  }
  row.format = file.format.value_or(statement_format_of(file.content));
  COFFER_TRY(StatementFile read, read_statement_file(file.content, row.format, file.mapping));
  out.notes = read.notes;
  out.format = row.format;
  out.lines = row.lines = static_cast<std::int64_t>(read.line_count());
  COFFER_TRY(const std::int64_t key, context.write([&](store::WriteTx& tx) {
    if (const auto begun = store::find_statement_file(tx.db(), file.environment, row.digest))
      return begun->key;
    store::insert_statement_file(tx, row);
    return row.key;
  }));
  COFFER_TRY_VOID(store_entries(context, file, key, std::move(read), out));
  COFFER_TRY(out.counts, match_open_lines(context, file.environment, by));
  COFFER_TRY_VOID(
      context.write([&](store::WriteTx& tx) { store::complete_statement_file(tx, key); }));
  return out;
}

Result<MatchCounts> match_open_lines(const Context& context, Environment environment,
                                     const Actor& by) {
  COFFER_TRY(auto lines, context.read([&](store::Connection& db) {
    return store::open_bank_lines(db, environment, kOpenLinesMax);
  }));
  MatchCounts counts;
  if (lines.empty()) return counts;
  const auto [first, last] = std::ranges::minmax(lines, {}, &OpenLine::booked_on);
  const Timestamp from = first.booked_on.plus_ms(-kMatchDays * kDayMs);
  const Timestamp to = last.booked_on.plus_ms(2 * kDayMs);
  Matcher matcher(std::move(lines));
  COFFER_TRY(auto position, context.read([&](store::Connection& db) {
    return store::targets_between(db, environment, from, to);
  }));
  for (bool more = true; more;) {
    COFFER_TRY(more, context.read([&](store::Connection& db) {
      return store::next_targets(db, position, kPaymentsPerRead,
                                 [&](const MatchTarget& target) { matcher.consider(target); });
    }));
  }
  const auto& targets = matcher.targets();
  std::vector<bool> taken;
  while (taken.size() < targets.size()) {
    COFFER_TRY_VOID(context.read([&](store::Connection& db) -> Result<void> {
      for (int i = 0; i < kPaymentsPerRead && taken.size() < targets.size(); ++i) {
        const MatchTarget& one = targets[taken.size()];
        taken.push_back(store::is_matched(db, {one.kind, one.payment, one.refund}));
      }
      return {};
    }));
  }
  const auto decisions = matcher.decide(taken);
  Pace pace;
  for (std::size_t at = 0; at < decisions.size(); at += kMatchesPerCommit, pace.rest()) {
    COFFER_TRY(counts, context.write([&](store::WriteTx& tx) {
      MatchCounts sum = counts;
      for (std::size_t i = at; i < std::min(decisions.size(), at + kMatchesPerCommit); ++i)
        apply_decision(tx, decisions[i], by, sum);
      return sum;
    }));
  }
  return counts;
}

Result<void> match_line(const Context& context, BankLineId line, PaymentId payment,
                        const std::string& reason, bool although, const Actor& by) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const auto row, existing(store::find_bank_line(tx.db(), line), "line"));
    if (row.state == LineState::replaced) {
      return unexpected(
          Slug::conflict,
          "The line was replaced by more detailed lines of the same entry. Match those.");
    }
    if (row.state == LineState::matched) {
      return unexpected(Slug::conflict,
                        "The line is matched. Undo that with coffer reconcile unmatch first.");
    }
    COFFER_TRY(const auto key, existing(store::payment_key(tx.db(), payment), "payment"));
    COFFER_TRY(const auto target, target_for(tx.db(), key, row.is));
    if (!store::is_in_environment(tx.db(), key, row.environment)) {
      return unexpected(Slug::conflict,
                        "The line and the payment belong to different environments.");
    }
    const std::string against =
        reason_against(row.is, target, store::matched_amount(tx.db(), target));
    if (!although && !against.empty()) {
      return unexpected(Slug::conflict,
                        against + " To match them all the same, add --although-it-differs.");
    }
    auto match =
        match_row(row.key, {target.kind, key, target.refund, MatchRule::by_hand}, by, tx.now());
    match.reason = reason;
    store::insert_bank_match(tx, match);
    store::replace_offers(tx, row.key, {});
    store::set_line_state(tx, row.key, LineState::matched);
    return {};
  });
}

Result<void> unmatch_line(const Context& context, BankLineId line, const std::string& reason,
                          const Actor& by) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const auto row, existing(store::find_bank_line(tx.db(), line), "line"));
    const auto matches = store::matches_of_line(tx.db(), row.key);
    if (matches.empty()) return unexpected(Slug::conflict, "The line is not matched.");
    for (const store::BankMatchRow& one : matches) {
      auto undo = match_row(row.key, one.choice, by, tx.now());
      undo.choice.rule = MatchRule::by_hand;
      undo.undoes = one.key;
      undo.reason = reason;
      store::insert_bank_match(tx, undo);
    }
    store::set_line_state(tx, row.key, LineState::unmatched);
    return {};
  });
}

Result<void> save_csv_mapping(const Context& context, const store::CsvMappingRow& row) {
  COFFER_TRY_VOID(CsvMapping::parse(row.columns, row.separator, row.decimal, row.date));
  return context.write([&](store::WriteTx& tx) { store::set_csv_mapping(tx, row); });
}

Result<CsvMapping> csv_mapping_named(const Context& context,
                                     const std::optional<std::string>& name) {
  if (!name) {
    return CsvMapping::parse(
        "bookingDate=bookingDate,amount=amount,currency=currency,account=account,"
        "bankReference=bankReference,reference=reference,text=text,partyName=partyName,"
        "partyAccount=partyAccount",
        ",", ".", "YYYY-MM-DD");
  }
  COFFER_TRY(const auto row, context.read([&](store::Connection& db) {
    return existing(store::find_csv_mapping(db, *name), "mapping");
  }));
  return CsvMapping::parse(row.columns, row.separator, row.decimal, row.date);
}

}  // namespace coffer::flows
