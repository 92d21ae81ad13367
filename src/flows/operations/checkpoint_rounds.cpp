#include "flows/operations/checkpoint_rounds.h"

#include <utility>

#include "base/limits/pace.h"
#include "base/telemetry/log.h"
#include "flows/operations/file_keys.h"
#include "store/identity/audit_log.h"
#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"

namespace coffer::flows {
namespace {

Problem not_signed(const std::string& fault) {
  return Problem(Slug::conflict, "No checkpoint was signed: " + fault +
                                     ". The file was changed outside coffer. Run `coffer verify`, "
                                     "and find out who changed the file.");
}

/// The positions up to which the chains were followed.
struct ChainsFollowed {
  store::ChainPosition journal;
  store::ChainPosition audit;
};

/// The heads of the previous checkpoint, which the file must continue; the beginning if there is no
/// checkpoint yet.
Result<ChainsFollowed> previous_heads(const Context& context, store::Connection& db) {
  const auto line = store::read_meta(db, kLastCheckpoint);
  if (!line) return ChainsFollowed();
  const auto previous = parse_checkpoint(*line);
  if (!previous) return unexpected(not_signed("the previous checkpoint in the file is invalid"));
  const std::string fault = mismatch_with(context.sealer, db, Checkpoints{*previous});
  if (!fault.empty()) return unexpected(not_signed(fault));
  const store::ChainHeads& heads = previous->heads;
  return ChainsFollowed{{heads.entry_sets, heads.journal}, {heads.audit_entries, heads.audit}};
}

/// Follows up to kRows of each chain. Returns the signed checkpoint at the ends of both, and an
/// empty text before.
Result<std::string> follow_and_sign(const Context& context, store::Connection& db,
                                    ChainsFollowed& at) {
  constexpr std::int64_t kRows = 2'000;
  COFFER_TRY_VOID(use_chain_keys(context.sealer, db));
  const store::ChainPiece journal = store::follow_journal(db, at.journal, kRows);
  if (!journal.fault.empty()) return unexpected(not_signed(journal.fault));
  const store::ChainPiece audit = store::follow_audit_log(db, at.audit, kRows);
  if (!audit.fault.empty()) return unexpected(not_signed(audit.fault));
  if (!journal.end || !audit.end) return std::string();
  return sign_heads(context.sealer, db, context.clock.now(),
                    {at.journal.row, at.journal.link, at.audit.row, at.audit.link}, "-");
}

}  // namespace

Result<std::string> make_checkpoint(const Context& context, const std::function<bool()>& goes_on) {
  COFFER_TRY(ChainsFollowed at,
             context.read([&](store::Connection& db) { return previous_heads(context, db); }));
  std::string line;
  for (;;) {
    COFFER_TRY(line, context.read(
                         [&](store::Connection& db) { return follow_and_sign(context, db, at); }));
    if (!line.empty()) break;
    if (!goes_on()) return unexpected(Slug::overloaded, "The server is stopping.");
  }
  COFFER_TRY_VOID(
      context.write([&](store::WriteTx& tx) { store::write_meta(tx, kLastCheckpoint, line); }));
  return line;
}

void CheckpointRounds::run(const std::function<bool()>& stops) {
  const auto heads = context_.read([](store::Connection& db) { return store::chain_heads(db); });
  if (!heads || (!is_due(*heads) && !failed_)) return;
  Pace pace;
  const auto line = make_checkpoint(context_, [&] {
    pace.rest();
    return !stops();
  });
  if (!line) {
    if (stops()) return;
    log_error("store", "checkpoint failed", {{"problem", line.error().detail}});
    return;
  }
  last_ = *heads;
  last_ms_ = context_.clock.monotonic_ms();
  // Logged, so that it leaves the machine together with the logs.
  log_info("store", "checkpoint", {{"line", *line}});
  const auto kept = keep_ ? keep_(context_.clock.now(), *line) : Result<void>();
  if (!kept && !failed_) {
    log_error("store", "the checkpoint could not be kept", {{"problem", kept.error().detail}});
  }
  failed_ = !kept;
}

bool CheckpointRounds::is_due(const store::ChainHeads& heads) const {
  if (last_ms_ < 0) return true;
  const std::int64_t rows =
      heads.entry_sets + heads.audit_entries - last_.entry_sets - last_.audit_entries;
  return rows >= kRows || (rows > 0 && context_.clock.monotonic_ms() - last_ms_ >= kEveryMs);
}

}  // namespace coffer::flows
