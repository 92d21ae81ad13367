#include "store/commits/write_tx.h"

#include "base/check.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

constexpr const char* kLastSequence =
    "SELECT sequence FROM events WHERE tenant = ? ORDER BY sequence DESC LIMIT 1";
constexpr const char* kAssociationStatus =
    "SELECT a.status FROM tenants t JOIN associations a ON a.association = t.association"
    " WHERE t.tenant = ?";

}  // namespace

NewRows::NewRows(Connection& writer)
    : journal(writer, "journal", "journal, tenant, kind, payment, at, link"),
      entries(writer, "entries", "entry, account, amount, balance_after, counterparty, leg"),
      events(writer, "events",
             "tenant, sequence, type, payment, wallet, webhook, application, wallet_status,"
             " version, test, at"),
      writer_(writer) {
  writer.write_before_use({"journal", "entries", "events"}, [this] { write(); });
}

NewRows::~NewRows() { writer_.write_before_use({}, {}); }

void NewRows::write() {
  journal.write();
  entries.write();
  events.write();
}

void NewRows::clear() {
  journal.clear();
  entries.clear();
  events.clear();
}

void WriteTx::begin_command() {
  balances_.begin_command();
  quotas_.begin_command();
  drawn_by_command_.clear();
  chain_head_before_ = chain_head_;
  counted_before_ = counted_.size();
}

void WriteTx::roll_back_command() {
  balances_.roll_back_command();
  quotas_.roll_back_command();
  for (const std::int64_t tenant : drawn_by_command_) --sequences_.at(tenant);
  chain_head_ = chain_head_before_;
  if (tenancy_touched_) statuses_.clear();
  counted_.resize(counted_before_);
}

void WriteTx::forget_rows() {
  new_rows_.clear();
  balances_.forget();
  quotas_.forget();
  sequences_.clear();
  chain_head_ = {};
  provider_parts_.clear();
  statuses_.clear();
}

void WriteTx::forget_batch() {
  forget_rows();
  forget_changed_rows(writer_);
  counted_.clear();
  signals_ = 0;
  tenancy_touched_ = false;
}

std::int64_t WriteTx::next_sequence(std::int64_t tenant) {
  const auto [it, fresh] = sequences_.try_emplace(tenant, 0);
  if (fresh) {
    Query query(writer_, kLastSequence, tenant);
    if (query.step()) it->second = query.integer(0);
  }
  drawn_by_command_.push_back(tenant);
  return ++it->second;
}

AssociationStatus WriteTx::association_status(const Tenant& tenant) {
  const auto known = statuses_.find(tenant.key);
  if (known != statuses_.end()) return known->second;
  require_intact_tenant(writer_, tenant.key);
  Query query(writer_, kAssociationStatus, tenant.key);
  COFFER_CHECK(query.step());
  return statuses_.emplace(tenant.key, query.enumeration<AssociationStatus>(0)).first->second;
}

}  // namespace coffer::store
