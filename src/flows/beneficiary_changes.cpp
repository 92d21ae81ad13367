#include "flows/beneficiary_changes.h"

#include <algorithm>

#include "auth/strkey.h"

namespace coffer::flows {
namespace {

/// Beneficiaries in one commit: enough to make fsync cheap, few enough not to keep others waiting.
constexpr std::size_t kBatch = 50;

bool is_ledger_key(std::string_view text) { return auth::PublicKey::parse(text).has_value(); }

std::vector<store::DestinationRow> rows_of(const Context& context,
                                           const std::vector<Destination>& destinations) {
  std::vector<store::DestinationRow> out;
  for (const Destination& destination : destinations) {
    store::DestinationRow row;
    row.id = context.random.id<DestinationId>(context.clock.now());
    row.detail = destination;
    out.push_back(std::move(row));
  }
  return out;
}

BeneficiaryState state_of(const Context& context, const NewBeneficiary& beneficiary) {
  BeneficiaryState state;
  state.beneficiary.id = context.random.id<BeneficiaryId>(context.clock.now());
  state.beneficiary.detail = beneficiary.detail;
  state.destinations = rows_of(context, beneficiary.destinations);
  return state;
}

void insert_destinations(store::WriteTx& tx, const Tenant& tenant, BeneficiaryState& state) {
  for (store::DestinationRow& row : state.destinations) {
    row.beneficiary = state.beneficiary.key;
    row.beneficiary_id = state.beneficiary.id;
    store::insert_destination(tx, tenant, row);
  }
}

/// One commit for all of them, or none.
Result<void> insert_all(const Context& context, const Tenant& tenant,
                        std::span<BeneficiaryState> states) {
  return context.queue.run([&](store::WriteTx& tx) -> Result<void> {
    for (BeneficiaryState& state : states) {
      store::insert_beneficiary(tx, tenant, state.beneficiary);
      insert_destinations(tx, tenant, state);
    }
    return {};
  });
}

/// Runs `change` on a live beneficiary and dates it.
template <class T>
Result<T> change_beneficiary(
    const Context& context, const Tenant& tenant, BeneficiaryId id,
    const std::function<Result<T>(store::WriteTx&, store::BeneficiaryRow&)>& change) {
  return store::run_for<T>(context.queue, [&](store::WriteTx& tx) -> Result<T> {
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
  if (!row || row->archived) return unexpected(Slug::not_found, "There is no such beneficiary.");
  return *std::move(row);
}

Result<store::DestinationRow> live_destination(store::Connection& db, const Tenant& tenant,
                                               BeneficiaryId id, DestinationId destination_id) {
  auto row = store::find_destination(db, tenant, destination_id);
  if (!row || row->archived || row->beneficiary_id != id) {
    return unexpected(Slug::not_found, "There is no such destination.");
  }
  return *std::move(row);
}

Result<BeneficiaryState> create_beneficiary(const Context& context, const Tenant& tenant,
                                            const NewBeneficiary& beneficiary) {
  BeneficiaryState state = state_of(context, beneficiary);
  COFFER_TRY_VOID(insert_all(context, tenant, {&state, 1}));
  return state;
}

std::vector<Result<BeneficiaryState>> create_beneficiaries(
    const Context& context, const Tenant& tenant, std::span<const NewBeneficiary> beneficiaries) {
  std::vector<Result<BeneficiaryState>> out;
  for (std::size_t from = 0; from < beneficiaries.size(); from += kBatch) {
    const auto part = beneficiaries.subspan(from, std::min(kBatch, beneficiaries.size() - from));
    std::vector<BeneficiaryState> states;
    for (const NewBeneficiary& beneficiary : part) states.push_back(state_of(context, beneficiary));
    const auto together = insert_all(context, tenant, states);
    // Nothing stays of a batch that failed; each on its own shows which one it was.
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
  // Ids are minted before the command: how many will be needed is known only inside it.
  std::vector<store::DestinationRow> minted =
      rows_of(context, std::vector<Destination>(kDestinationsMax));
  return store::run_for<BeneficiaryState>(
      context.queue, [&](store::WriteTx& tx) -> Result<BeneficiaryState> {
        COFFER_TRY(auto beneficiary, live_beneficiary(tx.db(), tenant, id));
        COFFER_TRY(BeneficiaryChange change, revise(beneficiary));
        beneficiary.detail = std::move(change.detail);
        store::update_beneficiary(tx, tenant, beneficiary);
        BeneficiaryState state{std::move(beneficiary), {}};
        if (!change.destinations) {
          state.destinations = store::destinations_of(tx.db(), state.beneficiary.key);
          return state;
        }
        store::archive_destinations(tx, tenant, state.beneficiary);
        for (std::size_t i = 0; i < change.destinations->size(); ++i) {
          minted.at(i).detail = std::move((*change.destinations)[i]);
          state.destinations.push_back(minted.at(i));
        }
        insert_destinations(tx, tenant, state);
        return state;
      });
}

Result<void> archive_beneficiary(const Context& context, const Tenant& tenant, BeneficiaryId id) {
  return context.queue.run([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const auto beneficiary, live_beneficiary(tx.db(), tenant, id));
    store::archive_beneficiary(tx, tenant, beneficiary);
    return {};
  });
}

Result<store::DestinationRow> add_destination(const Context& context, const Tenant& tenant,
                                              BeneficiaryId id, const Destination& destination) {
  store::DestinationRow row = rows_of(context, {destination}).front();
  return change_beneficiary<store::DestinationRow>(
      context, tenant, id,
      [&](store::WriteTx& tx, store::BeneficiaryRow& beneficiary) -> Result<store::DestinationRow> {
        if (store::destinations_of(tx.db(), beneficiary.key).size() >= kDestinationsMax) {
          return unexpected(Slug::conflict, "The beneficiary has " +
                                                std::to_string(kDestinationsMax) +
                                                " destinations; archive one first.");
        }
        row.beneficiary = beneficiary.key;
        row.beneficiary_id = beneficiary.id;
        store::insert_destination(tx, tenant, row);
        return row;
      });
}

Result<store::DestinationRow> replace_destination(const Context& context, const Tenant& tenant,
                                                  BeneficiaryId id, DestinationId destination_id,
                                                  const Destination& destination) {
  return change_beneficiary<store::DestinationRow>(
      context, tenant, id,
      [&](store::WriteTx& tx, store::BeneficiaryRow&) -> Result<store::DestinationRow> {
        COFFER_TRY(auto row, live_destination(tx.db(), tenant, id, destination_id));
        if (row.detail == destination) return row;
        store::archive_destination(tx, tenant, row);
        row.detail = destination;
        store::insert_destination(tx, tenant, row);
        return row;
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
