#include "flows/parties/beneficiary_changes.h"

#include <algorithm>

#include "auth/strkey.h"

namespace coffer::flows {
namespace {

/// Number of beneficiaries per commit: large enough to make fsync cheap, small enough not to delay
/// others.
constexpr std::size_t kBatch = 50;

/// A change parses JSON, so it is computed before the queue, and again if another change was
/// committed first. In each turn, one of the competing changes succeeds.
constexpr int kTurns = 64;

Problem changed_meanwhile() {
  return overloaded(
      "Other requests are changing the beneficiary at the same time. Retry the request.");
}

bool is_ledger_key(std::string_view text) { return auth::PublicKey::parse(text).has_value(); }

std::vector<store::DestinationRow> rows_of(const std::vector<Destination>& destinations) {
  std::vector<store::DestinationRow> out;
  for (const Destination& destination : destinations) {
    store::DestinationRow row;
    row.detail = destination;
    out.push_back(std::move(row));
  }
  return out;
}

BeneficiaryState state_of(const NewBeneficiary& beneficiary) {
  BeneficiaryState state;
  state.beneficiary.detail = beneficiary.detail;
  state.destinations = rows_of(beneficiary.destinations);
  return state;
}

Result<void> check_destination_quota(store::WriteTx& tx, const Tenant& tenant, std::size_t count) {
  return tx.check_quota(tenant, Quota::destinations, static_cast<std::int64_t>(count));
}

void insert_new(const Context& context, store::WriteTx& tx, const Tenant& tenant,
                const store::BeneficiaryRow& beneficiary, store::DestinationRow& row) {
  row.id = tx.new_id<DestinationId>(context.random);
  row.beneficiary = beneficiary.key;
  row.beneficiary_id = beneficiary.id;
  store::insert_destination(tx, tenant, row);
}

void insert_destinations(const Context& context, store::WriteTx& tx, const Tenant& tenant,
                         BeneficiaryState& state) {
  for (store::DestinationRow& row : state.destinations) {
    insert_new(context, tx, tenant, state.beneficiary, row);
  }
}

Result<BeneficiaryState> live_state(store::Connection& db, const Tenant& tenant, BeneficiaryId id) {
  COFFER_TRY(auto row, live_beneficiary(db, tenant, id));
  auto destinations = store::destinations_of(db, row.key);
  return BeneficiaryState{std::move(row), std::move(destinations)};
}

/// Inserts all of them in one commit, or none.
Result<void> insert_all(const Context& context, const Tenant& tenant,
                        std::span<BeneficiaryState> states, bool validate_only = false) {
  const auto insert = [&](store::WriteTx& tx) -> Result<void> {
    for (BeneficiaryState& state : states) {
      COFFER_TRY_VOID(tx.check_quota(tenant, Quota::beneficiaries));
      COFFER_TRY_VOID(check_destination_quota(tx, tenant, state.destinations.size()));
      state.beneficiary.id = tx.new_id<BeneficiaryId>(context.random);
      store::insert_beneficiary(tx, tenant, state.beneficiary);
      insert_destinations(context, tx, tenant, state);
    }
    return {};
  };
  return context.write(insert, commit_unless(validate_only));
}

/// Writes the state computed from `present`. `outdated` means that another change was committed
/// first.
Result<BeneficiaryState> apply_change(const Context& context, const Tenant& tenant,
                                      const BeneficiaryState& present,
                                      const BeneficiaryChange& change, bool& outdated) {
  std::vector<store::DestinationRow> fresh;
  if (change.destinations) fresh = rows_of(*change.destinations);
  return context.write([&](store::WriteTx& tx) -> Result<BeneficiaryState> {
    COFFER_TRY(auto state, live_state(tx.db(), tenant, present.beneficiary.id));
    outdated = state.beneficiary.detail != present.beneficiary.detail ||
               state.destinations != present.destinations;
    if (outdated) return unexpected(changed_meanwhile());
    if (!change.destinations && state.beneficiary.detail == change.detail) return state;
    state.beneficiary.detail = change.detail;
    store::update_beneficiary(tx, tenant, state.beneficiary);
    if (!change.destinations) return state;
    store::archive_destinations(tx, tenant, state.beneficiary);
    COFFER_TRY_VOID(check_destination_quota(tx, tenant, fresh.size()));
    state.destinations = fresh;
    insert_destinations(context, tx, tenant, state);
    return state;
  });
}

/// Runs `change` with the present state until no other change is committed in between.
template <class Change>
auto without_conflict(Change change) {
  for (int turn = 1;; ++turn) {
    bool outdated = false;
    auto result = change(outdated);
    if (!outdated || turn == kTurns) return result;
  }
}

/// Runs `change` on a beneficiary that is not archived, and sets its time.
template <class T>
Result<T> change_beneficiary(
    const Context& context, const Tenant& tenant, BeneficiaryId id,
    const std::function<Result<T>(store::WriteTx&, store::BeneficiaryRow&)>& change) {
  return context.write([&](store::WriteTx& tx) -> Result<T> {
    COFFER_TRY(auto beneficiary, live_beneficiary(tx.db(), tenant, id));
    COFFER_TRY(auto result, change(tx, beneficiary));
    store::touch_beneficiary(tx, tenant, beneficiary);
    return result;
  });
}

}  // namespace

BeneficiaryRules beneficiary_rules(const Context& context) {
  return {context.clock.now(), context.network_name, is_ledger_key};
}

Result<store::BeneficiaryRow> live_beneficiary(store::Connection& db, const Tenant& tenant,
                                               BeneficiaryId id) {
  auto row = store::find_beneficiary(db, tenant, id);
  if (!row || row->archived) return unexpected(Slug::not_found, "The beneficiary was not found.");
  return *std::move(row);
}

Result<store::DestinationRow> live_destination(store::Connection& db, const Tenant& tenant,
                                               BeneficiaryId id, DestinationId destination_id) {
  auto row = store::find_destination(db, tenant, destination_id);
  if (!row || row->archived || row->beneficiary_id != id) {
    return unexpected(Slug::not_found, "The payment destination was not found.");
  }
  return *std::move(row);
}

Result<BeneficiaryState> create_beneficiary(const Context& context, const Tenant& tenant,
                                            const NewBeneficiary& beneficiary, bool validate_only) {
  BeneficiaryState state = state_of(beneficiary);
  COFFER_TRY_VOID(insert_all(context, tenant, {&state, 1}, validate_only));
  return state;
}

std::vector<Result<BeneficiaryState>> create_beneficiaries(
    const Context& context, const Tenant& tenant, std::span<const NewBeneficiary> beneficiaries) {
  std::vector<Result<BeneficiaryState>> out;
  for (std::size_t from = 0; from < beneficiaries.size(); from += kBatch) {
    const auto part = beneficiaries.subspan(from, std::min(kBatch, beneficiaries.size() - from));
    std::vector<BeneficiaryState> states;
    for (const NewBeneficiary& beneficiary : part) states.push_back(state_of(beneficiary));
    const auto together = insert_all(context, tenant, states);
    // A failed batch stores nothing; retry each one separately to find the failing one.
    for (BeneficiaryState& state : states) {
      const auto result = together ? together : insert_all(context, tenant, {&state, 1});
      out.push_back(result ? Result<BeneficiaryState>(std::move(state))
                           : Result<BeneficiaryState>(unexpected(result.error())));
    }
  }
  return out;
}

Result<BeneficiaryState> revise_beneficiary(const Context& context, const Tenant& tenant,
                                            BeneficiaryId id, const Revise& revise) {
  return without_conflict([&](bool& outdated) -> Result<BeneficiaryState> {
    COFFER_TRY(const auto present,
               context.read([&](store::Connection& db) { return live_state(db, tenant, id); }));
    COFFER_TRY(const BeneficiaryChange change, revise(present));
    return apply_change(context, tenant, present, change, outdated);
  });
}

Result<void> archive_beneficiary(const Context& context, const Tenant& tenant, BeneficiaryId id) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const auto beneficiary, live_beneficiary(tx.db(), tenant, id));
    store::archive_beneficiary(tx, tenant, beneficiary);
    return {};
  });
}

Result<store::DestinationRow> add_destination(const Context& context, const Tenant& tenant,
                                              BeneficiaryId id, const Destination& destination) {
  store::DestinationRow row = rows_of({destination}).front();
  return change_beneficiary<store::DestinationRow>(
      context, tenant, id,
      [&](store::WriteTx& tx, store::BeneficiaryRow& beneficiary) -> Result<store::DestinationRow> {
        if (store::destinations_of(tx.db(), beneficiary.key).size() >= kDestinationsMax) {
          return unexpected(Slug::conflict,
                            "The beneficiary has " + std::to_string(kDestinationsMax) +
                                " payment destinations, the maximum. Archive one first.");
        }
        COFFER_TRY_VOID(check_destination_quota(tx, tenant, 1));
        insert_new(context, tx, tenant, beneficiary, row);
        return row;
      });
}

Result<store::DestinationRow> revise_destination(const Context& context, const Tenant& tenant,
                                                 BeneficiaryId id, DestinationId destination_id,
                                                 const ReviseDestination& revise) {
  return without_conflict([&](bool& outdated) -> Result<store::DestinationRow> {
    COFFER_TRY(const auto present, context.read([&](store::Connection& db) {
      return live_destination(db, tenant, id, destination_id);
    }));
    COFFER_TRY(const Destination destination, revise(present.detail));
    if (destination == present.detail) return present;
    return change_beneficiary<store::DestinationRow>(
        context, tenant, id,
        [&](store::WriteTx& tx, store::BeneficiaryRow&) -> Result<store::DestinationRow> {
          COFFER_TRY(auto row, live_destination(tx.db(), tenant, id, destination_id));
          outdated = row.detail != present.detail;
          if (outdated) return unexpected(changed_meanwhile());
          store::archive_destination(tx, tenant, row);
          COFFER_TRY_VOID(check_destination_quota(tx, tenant, 1));
          row.detail = destination;
          store::insert_destination(tx, tenant, row);
          return row;
        });
  });
}

Result<void> archive_destination(const Context& context, const Tenant& tenant, BeneficiaryId id,
                                 DestinationId destination_id) {
  const auto archived = change_beneficiary<store::DestinationRow>(
      context, tenant, id,
      [&](store::WriteTx& tx, store::BeneficiaryRow&) -> Result<store::DestinationRow> {
        COFFER_TRY(auto row, live_destination(tx.db(), tenant, id, destination_id));
        store::archive_destination(tx, tenant, row);
        return row;
      });
  if (!archived) return unexpected(archived.error());
  return {};
}

}  // namespace coffer::flows
