// The history of one payment: its record, its steps, and its events and deliveries.
#include <algorithm>
#include <functional>

#include "app/app.h"
#include "base/digest.h"
#include "base/text/characters.h"
#include "cli/ledger/market.h"
#include "cli/payments/payments.h"
#include "cli/webhooks/webhooks.h"
#include "flows/payments/record_json.h"
#include "flows/providers/refunds.h"
#include "flows/settlement/resolve_payment.h"
#include "store/operations/payment_lists.h"
#include "store/operations/payment_story.h"
#include "store/webhooks/deliveries.h"
#include "store/webhooks/webhooks.h"

namespace coffer::cli {
namespace {

using store::Connection;
using store::PaymentRecord;

// Covers the tenant's newest webhooks. At most one active webhook has a given event type.
constexpr int kWebhooksMax = 50;

std::string words_of(const store::StoryAccount& account) {
  switch (account.kind) {
    case AccountKind::wallet:
      return "wallet " + account.owner;
    case AccountKind::issuance:
      return "issuance";
    case AccountKind::liquidity:
      return "market liquidity";
    case AccountKind::fee:
      return "fees";
    case AccountKind::clearing:
      return "clearing " + account.owner;
  }
  throw InternalError("unknown account kind");
}

constexpr std::string_view kResolvedAs = "resolved as ";
constexpr std::string_view kBy = " by ";

/// The operator of an attempt that records a resolution: `resolved as failed by NAME: REASON`.
std::optional<std::string> resolver(const store::StoryAttempt& attempt) {
  const std::string& outcome = attempt.outcome.value_or("");
  const auto by = outcome.find(kBy);
  if (!outcome.starts_with(kResolvedAs) || by == std::string::npos) return std::nullopt;
  const auto name = by + kBy.size();
  return outcome.substr(name, outcome.find(": ", name) - name);
}

/// The actor that moved a payment to a status: the application, coffer, the provider, or an
/// operator, whose resolution is recorded in the same commit.
std::string actor_of(const flows::Reached& step, const store::StoryParties& parties,
                     const std::vector<store::StoryAttempt>& attempts) {
  if (step.status == PaymentStatus::initiated) return parties.application;
  if (step.status == PaymentStatus::processing || !parties.connector) return "coffer";
  for (const store::StoryAttempt& attempt : attempts) {
    const auto who = resolver(attempt);
    if (who && attempt.closed_at == step.at) return *who;
  }
  return *parties.connector;
}

std::vector<Record> timeline(const PaymentRecord& payment, const store::StoryParties& parties,
                             const std::vector<store::StoryAttempt>& attempts) {
  return records_of(flows::reached_statuses(payment), [&](const flows::Reached& step) -> Record {
    std::optional<std::string> code, message, reference;
    if (payment.provider && step.status != PaymentStatus::initiated) {
      reference = payment.provider->provider_reference;
    }
    if (step.why) {
      code = info(*step.why).name;
      message = info(*step.why).message;
    }
    return {{"status", name(step.status)},
            {"at", step.at},
            {"actor", actor_of(step, parties, attempts)},
            {"providerReference", reference},
            {"code", code},
            {"message", message}};
  });
}

std::vector<Record> legs(Connection& db, const PaymentRecord& payment) {
  std::vector<Record> out;
  if (!has_legs(payment.request.type)) return out;
  const auto sides = store::sides_of_legs(db, payment.key);
  for (std::size_t i = 0; i < payment.request.legs.size(); ++i) {
    const TransferLeg& leg = payment.request.legs[i];
    out.push_back({{"sourceWalletId", leg.source_wallet},
                   {"destinationWalletId", leg.destination_wallet},
                   {"amount", leg.amount.to_string(payment.leg_decimals[i])},
                   {"assetCode", leg.sending_asset.value()},
                   {"fromRef", leg.refs.from_ref},
                   {"toRef", leg.refs.to_ref},
                   {"description", leg.description}});
    put_sides(out.back(), sides[i]);
  }
  return out;
}

Record entry_view(const store::StoryEntry& entry) {
  return {{"at", entry.at},
          {"kind", entry.kind},
          {"account", words_of(entry.account)},
          {"walletId", entry.account.wallet},
          {"assetCode", entry.asset.value()},
          {"amount", entry.amount.to_string(entry.decimals)},
          {"runningBalance", entry.balance_after.to_string(entry.decimals)},
          {"counterparty", words_of(entry.counterparty)}};
}

Record attempt_view(const store::StoryAttempt& attempt) {
  return {{"attempt", attempt.attempt},    {"call", name(attempt.call)},
          {"openedAt", attempt.opened_at}, {"closedAt", attempt.closed_at},
          {"outcome", attempt.outcome},    {"actor", resolver(attempt).value_or("coffer")}};
}

Record event_view(const store::EventRow& event) {
  return {{"sequence", event.sequence},
          {"id", event.id},
          {"type", name(event.type)},
          {"version", event.version},
          {"at", event.at}};
}

std::vector<Record> deliveries(Connection& db, const Tenant& tenant,
                               const std::vector<store::EventRow>& events) {
  std::vector<Record> out;
  for (const std::int64_t key : store::webhooks_of_tenant(db, tenant, kWebhooksMax)) {
    const auto webhook = store::find_webhook_by_key(db, key);
    for (const store::EventRow& event : events) {
      const auto delivery = store::find_delivery_at(db, tenant, key, event.sequence);
      if (!delivery) continue;
      out.push_back({{"webhookId", webhook->id},
                     {"url", webhook->url},
                     {"eventId", event.id},
                     {"type", name(event.type)},
                     {"status", name(delivery->state)},
                     {"attempts", delivery->tries},
                     {"lastResponse", last_response(db, *delivery)},
                     {"nextAttemptAt", delivery->due_at},
                     {"closedAt", delivery->closed_at}});
    }
  }
  return out;
}

/// Events with their deliveries.
void put_events(Record& record, Connection& db, const Tenant& tenant,
                const PaymentRecord& payment) {
  std::vector<Timestamp> changes;
  for (const flows::Reached& step : flows::reached_statuses(payment)) changes.push_back(step.at);
  const auto events = store::events_of_payment(db, tenant, payment.key, changes);
  record.emplace_back("events", records_of(events, event_view));
  record.emplace_back("deliveries", deliveries(db, tenant, events));
}

void put_provider(Record& record, const PaymentRecord& payment,
                  const store::StoryParties& parties) {
  const auto& part = payment.provider;
  const int decimals = payment.sending_decimals;
  const auto of = [&](auto read) {
    return part ? std::optional<std::string>(read(*part)) : std::nullopt;
  };
  using Part = store::ProviderPart;
  record.emplace_back("fee", of([&](const Part& p) { return p.fee.to_string(decimals); }));
  record.emplace_back("total", shown(part ? part->total : payment.sending_amount, decimals));
  record.emplace_back("collectedAmount", shown(part ? part->collected : std::nullopt, decimals));
  record.emplace_back("excessAmount", shown(flows::excess_amount(payment), decimals));
  record.emplace_back("rate", parties.rate);
  record.emplace_back("connector", parties.connector);
  record.emplace_back("providerUrl", parties.provider_url);
  record.emplace_back("providerReference", part ? part->provider_reference : std::nullopt);
  record.emplace_back("providerState",
                      of([](const Part& p) { return std::string(name(p.state)); }));
  record.emplace_back("inReview", part && part->in_review);
  record.emplace_back("openItem", part && part->open_item != OpenItem::none
                                      ? std::optional(name(part->open_item))
                                      : std::nullopt);
  record.emplace_back("instructionsExpireAt", part ? part->expires_at : std::nullopt);
}

void put_rest(Record& record, const PaymentRecord& payment) {
  const PaymentRequest& request = payment.request;
  const bool multi = has_legs(request.type);
  const auto receives = store::receiving_denomination(payment);
  std::optional<std::string> detail, hash;
  if (const char* text = flows::substatus(payment)) detail = text;
  if (payment.ledger_hash) hash = to_hex(std::string_view(*payment.ledger_hash));
  record.emplace_back("requestId", payment.request_id);
  record.emplace_back("version", payment.version);
  record.emplace_back("substatus", detail);
  record.emplace_back("minReceivingAmount",
                      receives ? shown(request.min_receiving, receives->decimals) : std::nullopt);
  record.emplace_back("path", payment.path);
  record.emplace_back("quoteId", request.quote);
  record.emplace_back("destinationId", request.destination);
  record.emplace_back("description", multi ? std::nullopt : request.only().description);
  record.emplace_back("memo", request.memo);
  record.emplace_back("ledgerTransactionHash", hash);
  record.emplace_back("completedAt", payment.completed_at);
}

std::vector<Record> refunds(Connection& db, const PaymentRecord& payment) {
  std::vector<Record> out;
  for (const store::RefundRow& row : store::refunds_of(db, payment.key)) {
    out.push_back(
        {{"at", row.at},
         {"state", name(row.state)},
         {"amount", row.asked.value_or(row.amount).to_string(payment.sending_decimals)},
         {"fee", row.fee.to_string(payment.sending_decimals)},
         {"assetCode", payment.sending_asset->value()},
         {"reason", row.reason},
         {"returnId", row.return_id},
         {"reported", row.report},
         {"transactionId", row.transaction_id},
         {"refundId", row.id},
         {"failure", row.failure ? std::optional(info(*row.failure).name) : std::nullopt}});
  }
  return out;
}

Record whole_record(Connection& db, const PaymentRecord& payment) {
  Owners owners(db);
  Record record = payment_record(payment, owners);
  const auto parties = store::parties_of_payment(db, payment.key);
  record.emplace_back("application", parties.application);
  record.emplace_back("applicationId", parties.application_id);
  put_rest(record, payment);
  put_provider(record, payment, parties);
  put_sides(record, store::sides_of_payment(db, payment.key));
  const auto attempts = store::attempts_of_payment(db, payment.key);
  const auto job = store::job_of_payment(db, payment.key);
  record.emplace_back("nextAttemptAt", job ? std::optional(job->due_at) : std::nullopt);
  record.emplace_back("jobAttempts",
                      job ? std::optional(std::to_string(job->attempts)) : std::nullopt);
  record.emplace_back("timeline", timeline(payment, parties, attempts));
  record.emplace_back("legs", legs(db, payment));
  record.emplace_back("refunds", refunds(db, payment));
  record.emplace_back("entries",
                      records_of(store::entries_of_payment(db, payment.key), entry_view));
  record.emplace_back("providerAttempts", records_of(attempts, attempt_view));
  record.emplace_back("instructions", payment.provider ? pairs(payment.provider->instructions)
                                                       : std::vector<Record>());
  record.emplace_back("additionalFields", pairs(payment.request.additional_fields));
  put_events(record, db, owners.get(payment.tenant).tenant, payment);
  return record;
}

/// By the record ID, or by the transaction ID if only one association has used it.
Result<std::int64_t> payment_argument(Connection& db, const Arguments& arguments) {
  const std::string& text = arguments.text("ID");
  if (const auto id = PaymentId::parse(text))
    return existing(store::payment_key(db, *id), "payment");
  store::PageAt at;
  at.limit = 2;
  const auto same = store::find_payments(db, text, at).found;
  const auto is_own = [](const auto& one) { return one.how == store::FoundAs::transaction_id; };
  if (same.empty() || !std::ranges::all_of(same, is_own)) {
    COFFER_TRY_VOID(id_argument<PaymentId>(arguments, "ID"));
  }
  if (same.size() == 1) return same.front().payment;
  return unexpected(Slug::conflict, "Several associations have used the transaction ID " + text +
                                        ". Use the record ID, which coffer payment find " + text +
                                        " lists.");
}

/// --amount, if it is given. `malformed-request`.
Result<std::optional<Amount>> stated_amount(const Arguments& arguments) {
  const auto text = arguments.find("amount");
  if (!text) return std::optional<Amount>();
  const ParsedAmount parsed = parse_amount(*text, Amount::kScale);
  if (parsed.fault == AmountFault::none) return std::optional(parsed.amount);
  return unexpected(Problem(Slug::malformed_request, "The amount is not valid.",
                            {{"amount", parsed.fault == AmountFault::too_precise
                                            ? "must have at most 7 decimal places"
                                            : "must be a number greater than 0, such as 12.50"}}));
}

/// `of` the payment in the argument ID and the stated amount; nullopt if the payment was not found.
std::optional<MovedAmount> moved_amount(
    Session& session, const Arguments& arguments,
    const std::function<std::optional<MovedAmount>(const PaymentRecord& payment,
                                                   std::optional<Amount> stated)>& of) {
  const auto id = PaymentId::parse(arguments.text("ID"));
  if (!id) return std::nullopt;
  const auto moved = session.app.flows().read([&](Connection& db) {
    const auto key = store::payment_key(db, *id);
    const auto payment = key ? store::find_payment_by_key(db, *key) : std::nullopt;
    const auto stated = stated_amount(arguments);
    return payment ? of(*payment, stated ? *stated : std::nullopt) : std::nullopt;
  });
  return moved ? *moved : std::nullopt;
}

}  // namespace

Result<CommandResult> show_payment(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto key, payment_argument(db, arguments));
  return CommandResult{.records = {whole_record(db, *store::find_payment_by_key(db, key))}};
}

Result<CommandResult> retry_payment(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<PaymentId>(arguments, "ID"));
  COFFER_TRY_VOID(flows::retry_payment(session.app.flows(), id));
  return run_read(session, show_payment, arguments);
}

Result<CommandResult> resolve_payment(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<PaymentId>(arguments, "ID"));
  COFFER_TRY(const auto amount, stated_amount(arguments));
  flows::ManualResult result{*parse_term<flows::Resolution>(arguments.text("as")),
                             session.actor.name, arguments.text("reason"), amount};
  if (arguments.has("refund")) {
    COFFER_TRY(result.refund, id_argument<RefundId>(arguments, "refund"));
  }
  COFFER_TRY_VOID(flows::resolve_payment(session.app.flows(), id, result));
  return run_read(session, show_payment, arguments);
}

Result<CommandResult> reverse_payment(Session& session, const Arguments& arguments) {
  flows::Reversal reversal;
  COFFER_TRY(reversal.payment, id_argument<PaymentId>(arguments, "ID"));
  COFFER_TRY(reversal.amount, stated_amount(arguments));
  reversal.transaction_id = arguments.text("transaction-id");
  reversal.reason = arguments.text("reason");
  if (!is_transaction_id(reversal.transaction_id)) {
    return unexpected(
        Problem(Slug::malformed_request, "The transaction ID is not valid.",
                {{"transaction-id", "must have 1 to 64 letters, digits or . _ : -"}}));
  }
  if (character_count(reversal.reason) > kDescriptionMax) {
    return unexpected(Problem(
        Slug::malformed_request, "The reason is too long.",
        {{"reason", "must have at most " + std::to_string(kDescriptionMax) + " characters"}}));
  }
  const bool preview = arguments.has("preview");
  COFFER_TRY(const auto done, flows::reverse_for_operator(session.app.flows(), reversal, preview));
  COFFER_TRY(CommandResult shown, run_read(session, show_payment, arguments));
  if (!preview) return shown;
  Record record{{"payment", arguments.text("ID")}};
  if (const auto moved = reversed_amount(session, arguments)) {
    COFFER_TRY(const Asset asset, registered_asset(session, moved->asset));
    record.emplace_back("amount", moved->amount.to_string(asset.decimals));
    record.emplace_back("assetCode", moved->asset.value());
  }
  record.emplace_back("reason", reversal.reason);
  if (done.replayed) record.emplace_back("isIdempotent", true);
  return previewed(std::move(record));
}

std::optional<MovedAmount> resolved_amount(Session& session, const Arguments& arguments) {
  return moved_amount(session, arguments, [&](const PaymentRecord& payment, auto stated) {
    std::optional<MovedAmount> out;
    if (!payment.provider) return out;
    if (payment.sending_asset && payment.request.type == PaymentType::offramp) {
      return out = {*payment.sending_asset, payment.provider->total};
    }
    // Other results do not use the stated amount.
    const bool credits =
        parse_term<flows::Resolution>(arguments.text("as")) == flows::Resolution::succeeded;
    const auto credit = stated && credits ? stated : payment.receiving_amount;
    if (payment.request.receiving_asset && credit)
      out = {*payment.request.receiving_asset, *credit};
    return out;
  });
}

std::optional<MovedAmount> reversed_amount(Session& session, const Arguments& arguments) {
  return moved_amount(session, arguments, [](const PaymentRecord& payment, auto stated) {
    std::optional<MovedAmount> out;
    // Of an on-ramp, the stated amount is in the currency of its payer: all of the credit counts.
    const bool collected = payment.provider && payment.request.type != PaymentType::offramp;
    if (collected && payment.receiving_amount) {
      return out = {*payment.request.receiving_asset, *payment.receiving_amount};
    }
    const auto amount = stated ? stated : payment.sending_amount;
    if (payment.sending_asset && amount) out = {*payment.sending_asset, *amount};
    return out;
  });
}

}  // namespace coffer::cli
