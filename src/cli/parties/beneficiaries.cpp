#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "store/operations/noun_lists.h"

namespace coffer::cli {
namespace {

using store::Connection;

Record beneficiary_view(const store::BeneficiaryRow& row, std::int64_t tenant, Owners& owners) {
  Record record{{"id", row.id},
                {"name", display_name(row.detail)},
                {"type", row.type() == EntityType::person ? "individual" : "business"},
                {"email", email(row.detail)},
                {"phone", phone(row.detail)},
                {"clientReference", row.detail.client_reference},
                {"status", row.archived ? "archived" : "active"}};
  owners.put(record, tenant);
  record.emplace_back("createdAt", row.created_at);
  record.emplace_back("updatedAt", row.updated_at);
  return record;
}

/// Members other than the name, e-mail address and phone number.
std::vector<Record> details(const Beneficiary& detail) {
  std::vector<Record> out;
  const auto put = [&](const TextFact& fact, const std::string& value) {
    if (fact.name != "email" && fact.name != "phone") put_detail(out, fact.name, value);
  };
  std::visit([&](const auto& party) { each_text(party, put); }, detail.party);
  return out;
}

/// Every member is a column, with or without a value.
std::vector<Record> addresses(const std::vector<Address>& all) {
  std::vector<Record> out;
  for (const Address& address : all) {
    Record& record = out.emplace_back();
    for (const auto& field : TextFields<Address>::rows) {
      const std::string* value = field.get(address);
      record.emplace_back(std::string(field.name),
                          value == nullptr ? std::nullopt : std::optional(*value));
    }
  }
  return out;
}

/// The account and institution of a destination, for any method.
struct Place {
  std::optional<std::string> account_name;
  std::string account_number;
  std::string institution;
};

Place place_of(const Destination& destination) {
  if (const auto* bank = std::get_if<BankDetails>(&destination.details)) {
    std::string institution;
    for (const auto& part :
         {bank->bank_name, bank->bank_code, bank->branch_code, bank->swift_bic}) {
      if (part) institution += (institution.empty() ? "" : " ") + *part;
    }
    return {bank->account_name, bank->iban ? *bank->iban : bank->account_number.value_or(""),
            std::move(institution)};
  }
  if (const auto* mobile = std::get_if<MobileMoneyDetails>(&destination.details)) {
    return {mobile->account_name, mobile->phone_number, mobile->provider};
  }
  const auto& crypto = std::get<CryptoDetails>(destination.details);
  return {std::nullopt, crypto.wallet_address, crypto.network_name + " " + crypto.asset_symbol};
}

std::vector<Record> destinations(Connection& db, std::int64_t beneficiary) {
  std::vector<Record> out;
  for (const store::DestinationRow& row : store::destinations_of(db, beneficiary)) {
    const Place place = place_of(row.detail);
    out.push_back({{"id", row.id},
                   {"method", name(row.detail.method)},
                   {"countryIsoCode2", row.detail.country},
                   {"currencyIsoCode3", row.detail.currency},
                   {"label", row.detail.label},
                   {"accountName", place.account_name},
                   {"accountNumber", place.account_number},
                   {"institution", place.institution}});
  }
  return out;
}

Result<CommandResult> list_beneficiaries(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  store::BeneficiariesWanted wanted;
  COFFER_TRY(wanted.tenants, owners_argument(db, arguments));
  wanted.text = arguments.find("text");
  Owners owners(db);
  return page_of({"id", "name", "type", "email", "clientReference", "environment", "association"},
                 store::newest_beneficiaries(db, wanted, at), [&](const auto& listed) {
                   return beneficiary_view(listed.row, listed.tenant, owners);
                 });
}

Result<CommandResult> show_beneficiary(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<BeneficiaryId>(arguments, "ID"));
  COFFER_TRY(const auto found, existing(store::beneficiary_of_any(db, id), "beneficiary"));
  Owners owners(db);
  Record record = beneficiary_view(found.row, found.tenant, owners);
  std::optional<std::string> tags;
  for (const std::string& tag : found.row.detail.tags) tags = tags ? *tags + ", " + tag : tag;
  record.emplace_back("tags", tags);
  record.emplace_back("details", details(found.row.detail));
  record.emplace_back("addresses", addresses(found.row.detail.addresses));
  record.emplace_back("destinations", destinations(db, found.row.key));
  return CommandResult{.records = {std::move(record)}};
}

}  // namespace

std::vector<Command> beneficiary_commands() {
  return {
      for_viewers("beneficiary list", "List beneficiaries of all associations, newest first",
                  list_beneficiaries,
                  joined({option("text", "TEXT",
                                 "ID, or beginnings of words in the name, e-mail address or client "
                                 "reference")},
                         owner_arguments(), page_arguments())),
      for_viewers("beneficiary show", "Show a beneficiary with its payment destinations",
                  show_beneficiary,
                  {positional_id("ID", "ID of the beneficiary",
                                 "List beneficiaries with coffer beneficiary list")})};
}

}  // namespace coffer::cli
