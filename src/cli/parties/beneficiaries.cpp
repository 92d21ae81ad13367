#include "api/parties/bodies.h"
#include "app/app.h"
#include "cli/choice.h"
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

Record destination_view(const store::DestinationRow& row) {
  const Place place = place_of(row.detail);
  return {{"id", row.id},
          {"method", name(row.detail.method)},
          {"countryIsoCode2", row.detail.country},
          {"currencyIsoCode3", row.detail.currency},
          {"label", row.detail.label},
          {"accountName", place.account_name},
          {"accountNumber", place.account_number},
          {"institution", place.institution}};
}

constexpr std::string_view kMethods = "BANK|MOBILE_MONEY|CRYPTO|none";
constexpr std::string_view kMethodWords =
    "Bank account|Mobile money|Address on a ledger|No destination yet";

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

Record whole_beneficiary(Connection& db, const store::BeneficiaryRow& row,
                         const std::vector<store::DestinationRow>& destinations,
                         std::int64_t tenant) {
  Owners owners(db);
  Record record = beneficiary_view(row, tenant, owners);
  std::optional<std::string> tags;
  for (const std::string& tag : row.detail.tags) tags = tags ? *tags + ", " + tag : tag;
  record.emplace_back("tags", tags);
  record.emplace_back("details", details(row.detail));
  record.emplace_back("addresses", addresses(row.detail.addresses));
  record.emplace_back("destinations", records_of(destinations, destination_view));
  return record;
}

Result<CommandResult> show_beneficiary(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<BeneficiaryId>(arguments, "ID"));
  COFFER_TRY(const auto found, existing(store::beneficiary_of_any(db, id), "beneficiary"));
  return CommandResult{
      .records = {whole_beneficiary(db, found.row, store::destinations_of(db, found.row.key),
                                    found.tenant)}};
}

constexpr std::string_view kPerson = "individual";

/// The arguments as the body of a request of the API.
http::JsonValue body_of(const Arguments& arguments) {
  using http::JsonValue;
  const auto as_value = [](auto data) { return JsonValue(JsonValue::Data(std::move(data))); };
  JsonValue::Object body;
  if (arguments.text("type") == kPerson) {
    body.emplace_back(kPerson, arguments.texts_of<Individual>());
  } else {
    body.emplace_back("business", arguments.texts_of<Company>());
  }
  arguments.put(body, "clientReference", "client-reference");
  const auto method = parse_term<DestinationMethod>(arguments.text("method"));
  if (!method) return as_value(std::move(body));
  JsonValue::Object destination;
  for (const auto& [member, name] : {std::pair("method", "method"),
                                     {"countryIsoCode2", "country"},
                                     {"currencyIsoCode3", "currency"},
                                     {"label", "label"}}) {
    arguments.put(destination, member, name);
  }
  switch (*method) {
    case DestinationMethod::bank:
      destination.emplace_back("bank", arguments.texts_of<BankDetails>());
      break;
    case DestinationMethod::mobile_money:
      destination.emplace_back("mobileMoney", arguments.texts_of<MobileMoneyDetails>());
      break;
    case DestinationMethod::crypto:
      destination.emplace_back("crypto", arguments.texts_of<CryptoDetails>());
      break;
  }
  JsonValue::Array destinations{as_value(std::move(destination))};
  body.emplace_back("paymentDestinations", as_value(std::move(destinations)));
  return as_value(std::move(body));
}

Result<CommandResult> create(Session& session, const Arguments& arguments) {
  const flows::Context& context = session.app.flows();
  COFFER_TRY(const auto owner, context.read([&](Connection& db) {
    return chosen_tenant(db, arguments, environment_argument(arguments));
  }));
  ValidationErrors errors;
  auto change =
      api::read_beneficiary(body_of(arguments), flows::beneficiary_rules(context), errors);
  COFFER_TRY_VOID(errors.check());
  const bool preview = arguments.has("preview");
  COFFER_TRY(const auto made,
             flows::create_beneficiary(
                 context, owner.tenant,
                 {std::move(change.detail),
                  std::move(change.destinations).value_or(std::vector<Destination>())},
                 preview));
  return context.read([&](Connection& db) {
    Record record = whole_beneficiary(db, made.beneficiary, made.destinations, owner.tenant.key);
    if (!preview) return CommandResult{.records = {std::move(record)}};
    std::erase_if(record, [](const Field& field) { return field.key == "id"; });
    return previewed(std::move(record));
  });
}

std::vector<Argument> create_arguments() {
  constexpr std::string_view kRecipient = "Recipient";
  constexpr std::string_view kDestination = "Destination";
  constexpr std::string_view kLocal = "method=BANK|MOBILE_MONEY";
  std::vector<Argument> out{
      placed(kRecipient, {},
             chosen_among({}, "Person|Business",
                          choice("type", "individual|business", "Kind of recipient", kPerson)))};
  add_texts<Individual>(out, "type=individual", kRecipient);
  add_texts<Company>(out, "type=business", kRecipient);
  out.push_back(
      placed(kRecipient, {},
             needed_on_page(on_page(option("association", "ID",
                                           "Association that pays the recipient; required "
                                           "if there are several"),
                                    "Customer"))));
  out.push_back(placed(kRecipient, {}, environment_choice("Environment of the beneficiary")));
  out.push_back(placed(kRecipient, {},
                       option("client-reference", "TEXT", "ID of the recipient in other systems")));
  out.push_back(
      placed(kDestination, {},
             chosen_among({}, std::string_view(kMethodWords),
                          choice("method", kMethods, "How the recipient is paid", "BANK"))));
  out.push_back(
      placed(kDestination, kLocal,
             needed_on_page(member_of("countryIsoCode2",
                                      option("country", "CODE", "Country of the account")))));
  out.push_back(
      placed(kDestination, kLocal,
             needed_on_page(member_of("currencyIsoCode3",
                                      option("currency", "CODE", "Currency of the account")))));
  add_texts<BankDetails>(out, "method=BANK", kDestination);
  add_texts<MobileMoneyDetails>(out, "method=MOBILE_MONEY", kDestination);
  add_texts<CryptoDetails>(out, "method=CRYPTO", kDestination);
  out.push_back(placed(kDestination, "method=BANK|MOBILE_MONEY|CRYPTO",
                       option("label", "TEXT", "Name of the destination")));
  out.push_back(toggle("preview", "Check the data and store nothing"));
  return out;
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
      for_operators("beneficiary create", "Create a beneficiary with a payment destination",
                    "Create beneficiary", "Payments to it need an approval of their own.", create,
                    create_arguments(),
                    {.hint = "List associations with coffer association list",
                     .sensitive = true,
                     .preview = "preview"}),
      for_viewers("beneficiary show", "Show a beneficiary with its payment destinations",
                  show_beneficiary,
                  {positional_id("ID", "ID of the beneficiary",
                                 "List beneficiaries with coffer beneficiary list")})};
}

}  // namespace coffer::cli
