#include "provider_sim/simulator_state.h"

#include <algorithm>

#include "base/check.h"
#include "base/digest.h"
#include "domain/ledger/money.h"
#include "outbound/providers/sandbox_connector.h"

namespace coffer::provider_sim {
namespace {

constexpr int kStaysPending = 1201;
constexpr int kInReview = 1202;
constexpr int kFailsAndReturns = 1301;
constexpr int kFailsAndKeeps = 1303;

std::string reference_of(const std::string& id) {
  return "SIM-" + to_hex(sha256(id)).substr(0, 16);
}

std::string_view message_of(const std::string& code) {
  if (code == "cancelled") return "Cancelled before it was accepted.";
  for (const FailureInfo& failure : failure_table()) {
    if (failure.name == code) return failure.message;
  }
  return "It failed.";
}

bool is_final(const std::string& status) { return status != "pending" && status != "in_review"; }

Json instructions(const std::string& reference) {
  return {{"bankName", "Simulated Bank"},
          {"accountName", "Coffer Provider Simulator"},
          {"accountNumber", "0000000001"},
          {"paymentReference", reference}};
}

}  // namespace

std::string_view word_of(Kind kind) {
  constexpr std::array<std::string_view, kKinds.size()> kWords = {"payout", "collection", "refund"};
  return kWords[static_cast<std::size_t>(kind)];
}

int digits_of(Kind kind, const Json& body) {
  if (!body.is_object()) return 0;
  const auto party = body.find(kind == Kind::payout ? "recipient" : "payer");
  if (party == body.end()) return 0;
  const int digits =
      outbound::sandbox_digits(party->at("accountNumber").get_ref<const std::string&>());
  return kind == Kind::refund ? outbound::sandbox_refund(digits) : digits;
}

SimulatorState::Entry* SimulatorState::EntryTable::find(const std::string& id) {
  const auto found = by_id.find(id);
  return found == by_id.end() ? nullptr : &entries[found->second];
}

const SimulatorState::Entry* SimulatorState::EntryTable::find(const std::string& id) const {
  const auto found = by_id.find(id);
  return found == by_id.end() ? nullptr : &entries[found->second];
}

SimulatorState::EntryTable& SimulatorState::table(Kind kind) {
  return tables_[static_cast<std::size_t>(kind)];
}

const SimulatorState::EntryTable& SimulatorState::table(Kind kind) const {
  return tables_[static_cast<std::size_t>(kind)];
}

// --- Events -------------------------------------------------------------------------------------

Result<void> SimulatorState::open(const std::string& path) {
  const Lock lock(mutex_);
  COFFER_TRY(const auto events, file_.open(path));
  for (const Json& event : events) apply(event);
  return {};
}

void SimulatorState::record(const Json& event) {
  file_.append(event);
  apply(event);
}

void SimulatorState::apply(const Json& event) {
  const std::string what = event.at("event");
  if (what == "reference") {
    references_[event.at("reference")] = event.at("ask");
    return;
  }
  if (what == "payment") {
    payments_.push_back({event.at("callbackId"), event.at("connectorId"),
                         event.value("type", "reference.paid"), event.at("data")});
    return;
  }
  if (what == "told") {
    const std::string id = event.at("callbackId");
    std::erase_if(payments_, [&](const Callback& callback) { return callback.id == id; });
    for (const Kind kind : kKinds) {
      for (Entry& entry : table(kind).entries) entry.told |= entry.callback_id == id;
    }
    return;
  }
  const Kind kind = *std::ranges::find(kKinds, event.at("kind").get<std::string>(), word_of);
  EntryTable& there = table(kind);
  const std::string id = event.at("id");
  if (what == "placed" || there.find(id) == nullptr) {
    there.by_id[id] = there.entries.size();
    there.entries.push_back({.id = id,
                             .body = event.value("body", Json()),
                             .at = {event.at("at").get<std::int64_t>()},
                             .callback_id = event.value("callbackId", std::string())});
  }
  if (what == "verdict") {
    Entry& entry = *there.find(id);
    entry.verdict = event.at("status");
    entry.code = event.at("code");
    entry.collected = event.value("collected", std::string());
  }
}

// --- State --------------------------------------------------------------------------------------

/// When the payment becomes final automatically; nullopt if it never does.
std::optional<Timestamp> SimulatorState::Entry::ends_at(Kind kind, int delay_ms) const {
  const int digits = digits_of(kind, body);
  if (digits == kStaysPending) return std::nullopt;
  if (digits == kInReview) return at.plus_ms(outbound::kSandboxReviewMs);
  // A payout that fails after its acceptance must first be reported as accepted.
  const bool later =
      kind == Kind::collection || digits == kFailsAndReturns || digits == kFailsAndKeeps;
  return at.plus_ms(std::max(delay_ms, later ? 1 : 0));
}

/// The amount that the payer paid: as decided, otherwise by the digits of the account, otherwise as
/// requested.
std::string SimulatorState::Entry::received() const {
  if (!collected.empty() || !body.is_object()) return collected;
  const std::string asked = body.at("sendAmount");
  // The decimal places of the request are the only information about the currency's precision.
  const auto dot = asked.find('.');
  const int decimals = dot == std::string::npos ? 0 : static_cast<int>(asked.size() - dot - 1);
  const auto other = outbound::sandbox_collected(
      digits_of(Kind::collection, body), parse_amount(asked, Amount::kScale).amount, decimals);
  return other ? other->to_string(decimals) : asked;
}

SimulatorState::Standing SimulatorState::standing(Kind kind, const Entry& entry,
                                                  Timestamp now) const {
  if (!entry.verdict.empty()) {
    return {entry.verdict, entry.code, entry.verdict == "failed" ? "returned" : "",
            entry.code == "cancelled",
            entry.verdict == "collected" ? entry.received() : std::string()};
  }
  const int digits = digits_of(kind, entry.body);
  if (const auto rejection = outbound::sandbox_rejection(digits)) {
    return {"failed", std::string(info(*rejection).name), "returned", true};
  }
  const auto end = entry.ends_at(kind, delay_ms_);
  if (!end || now < *end) {
    if (kind != Kind::collection) return {digits == kInReview ? "in_review" : "pending"};
    const auto expiry = Timestamp::parse(entry.body.value("expiresAt", std::string()));
    return {expiry && now >= *expiry ? "expired" : "pending"};
  }
  if (kind == Kind::collection) return {.status = "collected", .collected = entry.received()};
  if (digits == kFailsAndReturns) return {"failed", "provider_error", "returned"};
  if (digits == kFailsAndKeeps) return {"failed", "provider_error", "refused"};
  return {"succeeded"};
}

Json SimulatorState::object_of(Kind kind, const Entry& entry, Timestamp now) const {
  const Standing how = standing(kind, entry, now);
  Json out = {{"id", entry.id}};
  out["providerReference"] =
      entry.body.is_object() && !how.rejected ? Json(reference_of(entry.id)) : Json();
  out["status"] = how.status;
  if (how.status == "failed") {
    out["failure"] = {{"code", how.code}, {"message", message_of(how.code)}};
  }
  if (kind == Kind::payout && how.status == "failed") out["refund"] = how.refund;
  if (kind != Kind::collection) return out;
  if (!how.collected.empty()) out["collectedAmount"] = how.collected;
  out["instructions"] = instructions(reference_of(entry.id));
  if (entry.body.is_object()) out["expiresAt"] = entry.body.at("expiresAt");
  return out;
}

// --- Operations ---------------------------------------------------------------------------------

SimulatorState::Placing SimulatorState::place(Kind kind, const Json& body) {
  const Lock lock(mutex_);
  const Timestamp now = clock_.now();
  const std::string id = body.at("id");
  Entry* there = table(kind).find(id);
  const bool known = there != nullptr;
  if (!known) {
    record({{"event", "placed"},
            {"kind", word_of(kind)},
            {"id", id},
            {"at", now.ms},
            {"callbackId", ids_.uuid_v7(now).to_string()},
            {"body", body}});
    there = table(kind).find(id);
  }
  ++there->submissions;
  // A payment that was closed before it arrived has no content to compare.
  const bool differs = known && there->body.is_object() && there->body != body;
  if (differs) return {Placed::conflict, Json()};
  // The first response shows the initial state, regardless of the time the disk took.
  const Timestamp shown = known ? now : there->at;
  return {known ? Placed::repeated : Placed::created, object_of(kind, *there, shown)};
}

std::optional<Json> SimulatorState::find(Kind kind, const std::string& id) const {
  const Lock lock(mutex_);
  const Entry* entry = table(kind).find(id);
  if (entry == nullptr) return std::nullopt;
  return object_of(kind, *entry, clock_.now());
}

std::vector<Json> SimulatorState::list(Kind kind, const std::string& after,
                                       std::size_t limit) const {
  const Lock lock(mutex_);
  const EntryTable& all = table(kind);
  const auto from = all.by_id.find(after);
  std::size_t at = from == all.by_id.end() ? 0 : from->second + 1;
  std::vector<Json> out;
  for (; at < all.entries.size() && out.size() < limit; ++at) {
    out.push_back(object_of(kind, all.entries[at], clock_.now()));
  }
  return out;
}

Json SimulatorState::close(Kind kind, const std::string& id) {
  const Lock lock(mutex_);
  const Timestamp now = clock_.now();
  const Entry* entry = table(kind).find(id);
  const bool unpaid =
      kind == Kind::collection && entry != nullptr && !is_final(standing(kind, *entry, now).status);
  if (entry == nullptr || unpaid) {
    const bool payout = kind == Kind::payout;
    record({{"event", "verdict"},
            {"kind", word_of(kind)},
            {"id", id},
            {"at", now.ms},
            {"status", payout ? "failed" : "expired"},
            {"code", payout ? "cancelled" : ""}});
    entry = table(kind).find(id);
  }
  return object_of(kind, *entry, now);
}

bool SimulatorState::decide(Kind kind, const std::string& id, const Decision& decision) {
  const Lock lock(mutex_);
  const Timestamp now = clock_.now();
  const Entry* entry = table(kind).find(id);
  if (entry == nullptr || is_final(standing(kind, *entry, now).status)) return false;
  record({{"event", "verdict"},
          {"kind", word_of(kind)},
          {"id", id},
          {"at", now.ms},
          {"status", decision.status},
          {"code", decision.code},
          {"collected", decision.collected}});
  return true;
}

void SimulatorState::note_reference(const std::string& reference, const Json& ask) {
  const Lock lock(mutex_);
  if (references_.contains(reference)) return;
  record({{"event", "reference"}, {"reference", reference}, {"ask", ask}});
}

std::optional<Json> SimulatorState::pay(const std::string& reference, const std::string& amount,
                                        const Json& payer) {
  const Lock lock(mutex_);
  const auto found = references_.find(reference);
  if (found == references_.end()) return std::nullopt;
  const Timestamp now = clock_.now();
  const Json data = {{"providerPaymentId", "PAY-" + ids_.uuid_v7(now).to_string()},
                     {"reference", reference},
                     {"amount", amount},
                     {"currencyIsoCode3", found->second.at("currencyIsoCode3")},
                     {"payer", payer},
                     {"paidAt", now.to_string()}};
  announce(found->second.at("connectorId"), "reference.paid", data);
  return data;
}

std::optional<Json> SimulatorState::send_back(const std::string& payout, const Json& request) {
  const Lock lock(mutex_);
  const Timestamp now = clock_.now();
  const Entry* entry = table(Kind::payout).find(payout);
  if (entry == nullptr || standing(Kind::payout, *entry, now).status != "succeeded") {
    return std::nullopt;
  }
  Json data = {{"id", payout},
               {"returnId", "RET-" + ids_.uuid_v7(now).to_string()},
               {"amount", entry->body.at("receiveAmount")},
               {"currencyIsoCode3", entry->body.at("currencyIsoCode3")},
               {"returnedAt", now.to_string()}};
  data.update(request);
  announce(entry->body.at("connectorId"), "payout.returned", data);
  return data;
}

/// Stores a callback that is not about the present state of a payout or collection.
void SimulatorState::announce(const Json& connector, std::string_view type, const Json& data) {
  record({{"event", "payment"},
          {"callbackId", ids_.uuid_v7(clock_.now()).to_string()},
          {"connectorId", connector},
          {"type", type},
          {"data", data}});
}

// --- Callbacks ----------------------------------------------------------------------------------

/// Whether coffer still needs a callback. A rejected or cancelled payment needs none, because a
/// response has already reported its result.
std::vector<Callback> SimulatorState::due() const {
  const Lock lock(mutex_);
  const Timestamp now = clock_.now();
  std::vector<Callback> out;
  for (const Kind kind : kKinds) {
    for (const Entry& entry : table(kind).entries) {
      if (entry.told || !entry.body.is_object()) continue;
      const Standing how = standing(kind, entry, now);
      if (!is_final(how.status) || how.rejected) continue;
      out.push_back({entry.callback_id, entry.body.at("connectorId"),
                     std::string(word_of(kind)) + ".updated", object_of(kind, entry, now)});
    }
  }
  out.insert(out.end(), payments_.begin(), payments_.end());
  return out;
}

void SimulatorState::delivered(const std::string& callback_id) {
  const Lock lock(mutex_);
  record({{"event", "told"}, {"callbackId", callback_id}});
}

std::optional<Timestamp> SimulatorState::next_change() const {
  const Lock lock(mutex_);
  const Timestamp now = clock_.now();
  std::optional<Timestamp> next;
  for (const Kind kind : kKinds) {
    for (const Entry& entry : table(kind).entries) {
      if (entry.told || !entry.body.is_object() || !entry.verdict.empty()) continue;
      std::optional<Timestamp> end = entry.ends_at(kind, delay_ms_);
      if (!end && kind == Kind::collection) {
        end = Timestamp::parse(entry.body.at("expiresAt").get_ref<const std::string&>());
      }
      if (end && *end > now && (!next || *end < *next)) next = end;
    }
  }
  return next;
}

int SimulatorState::submissions(const std::string& id) const {
  const Lock lock(mutex_);
  for (const Kind kind : kKinds) {
    if (const Entry* entry = table(kind).find(id)) return entry->submissions;
  }
  return 0;
}

}  // namespace coffer::provider_sim
