#include "cli/demo/demo_recipients.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/app.h"
#include "flows/providers/connector_changes.h"
#include "store/ledger/catalog.h"
#include "store/parties/beneficiaries.h"
#include "store/providers/connectors.h"

// As in demo_seed.cpp, each object is looked up by name before it is created. A marker, written
// last, records that all of them exist; from then on, the user of the demo may archive or pause
// them.

namespace coffer::cli {
namespace {

constexpr std::string_view kMarker = "demo_recipients";
constexpr int kListMax = 100;

struct DemoConnector {
  std::string_view name;
  ConnectorFlow flow;
  Direction direction;
  PayMethod method;
  std::string_view country;
  std::string_view currency;
  std::string_view asset;
  std::string_view rate;  // received per unit sent
  std::string_view fee;   // in the sending currency
  int basis_points;
  std::int64_t min;  // whole units of the sending currency
  std::int64_t max;
};
using enum ConnectorFlow;
using enum Direction;
constexpr std::array<DemoConnector, 11> kConnectors = {{
    {"Kenya bank payout", quoted, off_ramp, PayMethod::bank, "KE", "KES", "USDC", "129.5", "0.5",
     50, 1, 250'000},
    {"Kenya mobile money payout", quoted, off_ramp, PayMethod::momo, "KE", "KES", "USDC", "129.2",
     "0.2", 75, 1, 10'000},
    {"Nigeria bank payout", quoted, off_ramp, PayMethod::bank, "NG", "NGN", "USDC", "1540", "0.4",
     60, 1, 250'000},
    {"SEPA payout", quoted, off_ramp, PayMethod::bank, "DE", "EUR", "EURC", "1", "0.35", 0, 1,
     1'000'000},
    {"US wallet payout", quoted, off_ramp, PayMethod::crypto, "US", "USD", "USDC", "1", "0", 10, 1,
     1'000'000},
    {"Kenya cash pickup", quoted, off_ramp, PayMethod::cash, "KE", "KES", "USDC", "128.9", "1", 100,
     1, 5'000},
    {"Kenya bank collection", quoted, on_ramp, PayMethod::bank, "KE", "KES", "USDC", "0.0076", "50",
     50, 100, 25'000'000},
    {"Kenya mobile money collection", quoted, on_ramp, PayMethod::momo, "KE", "KES", "USDC",
     "0.0076", "20", 75, 100, 1'000'000},
    {"SEPA collection", quoted, on_ramp, PayMethod::bank, "DE", "EUR", "EURC", "1", "0.35", 0, 1,
     1'000'000},
    {"US card collection", quoted, on_ramp, PayMethod::card, "US", "USD", "USDC", "1", "0.3", 290,
     1, 10'000},
    {"Nigeria virtual accounts", bespoke, on_ramp, PayMethod::bank, "NG", "NGN", "USDC", "0.00064",
     "50", 50, 100, 400'000'000},
}};

Amount amount_of(std::string_view text) {
  return text == "0" ? Amount() : parse_amount(text, Amount::kScale).amount;
}

Amount whole(std::int64_t units) { return Amount::from_units(units * Amount::kUnitsPerWhole); }

/// One connector demonstrates a required field.
std::vector<Requirement> requirements_of(const DemoConnector& connector) {
  if (connector.country != "NG" || connector.flow == bespoke) return {};
  Requirement bvn;
  bvn.name = "senderIdNumber";
  bvn.label = "Sender's identity number";
  bvn.description = "Eleven digits";
  bvn.pattern = "^[0-9]{11}$";
  bvn.min_length = 11;
  bvn.max_length = 11;
  return {bvn};
}

flows::NewConnector connector_of(const DemoConnector& wanted) {
  flows::NewConnector out;
  ConnectorTerms& terms = out.terms;
  terms.name = wanted.name;
  terms.provider = "Sandbox";
  terms.flow = wanted.flow;
  terms.direction = wanted.direction;
  terms.method = wanted.method;
  terms.country = wanted.country;
  terms.currency = wanted.currency;
  terms.asset.code = AssetCode::parse(wanted.asset).value();
  terms.rate = Rate::parse(wanted.rate).value();
  terms.fee = {amount_of(wanted.fee), wanted.basis_points};
  terms.min_amount = whole(wanted.min);
  terms.max_amount = whole(wanted.max);
  terms.issues_references = wanted.flow == bespoke;
  out.requirements = requirements_of(wanted);
  return out;
}

Destination bank(std::string account_name, std::string number) {
  BankDetails details;
  details.account_name = std::move(account_name);
  details.account_number = std::move(number);
  details.bank_name = "Sandbox Bank";
  return {DestinationMethod::bank, "KE", "KES", "Bank account", std::move(details)};
}

Destination iban(std::string account_name, std::string number) {
  BankDetails details;
  details.account_name = std::move(account_name);
  details.iban = std::move(number);
  return {DestinationMethod::bank, "DE", "EUR", "SEPA account", std::move(details)};
}

Destination mobile(std::string phone) {
  return {DestinationMethod::mobile_money, "KE", "KES", "Mobile money",
          MobileMoneyDetails{"M-PESA", std::move(phone), std::nullopt}};
}

Destination address(const std::string& network, const std::string& asset,
                    const std::string& public_key) {
  return {DestinationMethod::crypto, "US", "USD", asset + " address",
          CryptoDetails{network, asset, public_key, std::nullopt}};
}

Beneficiary individual(std::string first, std::string last, std::string phone) {
  Individual person;
  person.first_name = std::move(first);
  person.last_name = std::move(last);
  person.email = "recipient@example.com";
  person.phone = std::move(phone);
  return {std::move(person), {}, {"demo"}, {}};
}

Beneficiary company(std::string name) {
  Company out;
  out.company_name = std::move(name);
  out.email = "accounts@example.com";
  return {std::move(out), {}, {"demo"}, {}};
}

std::vector<flows::NewBeneficiary> demo_beneficiaries(const std::string& network,
                                                      const store::WalletRow& ledger_wallet) {
  return {
      {individual("Amina", "Njoroge", "+254712345678"),
       {bank("Amina Njoroge", "0123456789"), mobile("+254712345678")}},
      {company("Rheinland Handel GmbH"), {iban("Rheinland Handel GmbH", "DE89370400440532013000")}},
      {company("Ledger Partner Ltd"),
       {address(network, "USDC", ledger_wallet.public_key),
        address(network, "EURC", ledger_wallet.public_key)}}};
}

class Recipients {
 public:
  Recipients(App& app, const Tenant& tenant) : app_(app), tenant_(tenant) {}

  Result<DemoRecipients> run(const std::vector<store::WalletRow>& wallets) {
    COFFER_TRY(const auto marker, app_.flows().read([](store::Connection& db) {
      return store::read_meta(db, kMarker);
    }));
    if (!marker) {
      COFFER_TRY(const DemoRecipients there, find());
      for (const DemoConnector& wanted : kConnectors)
        COFFER_TRY_VOID(make_connector(there, wanted));
      for (const auto& wanted : demo_beneficiaries(app_.flows().network_name, wallets.at(1))) {
        COFFER_TRY_VOID(make_beneficiary(there, wanted));
      }
      COFFER_TRY_VOID(
          app_.flows().write([](store::WriteTx& tx) { store::write_meta(tx, kMarker, "1"); }));
    }
    return find();
  }

 private:
  /// Returns them in the order of creation. Lists have the reverse order.
  Result<DemoRecipients> find() {
    return app_.flows().read([&](store::Connection& db) {
      DemoRecipients out;
      for (const auto& row :
           store::list_connectors(db, tenant_.environment, {}, {.limit = kListMax}).rows) {
        out.connectors.push_back(row.terms);
      }
      std::ranges::reverse(out.connectors);
      const auto found = store::list_beneficiaries(db, tenant_, {{}, "demo"}, {.limit = kListMax});
      for (const auto& row : found.rows) {
        auto destinations = store::destinations_of(db, row.key);
        out.beneficiaries.push_back({row, std::move(destinations)});
      }
      std::ranges::reverse(out.beneficiaries);
      return out;
    });
  }

  Result<void> make_connector(const DemoRecipients& there, const DemoConnector& wanted) {
    for (const ConnectorTerms& terms : there.connectors) {
      if (terms.name == wanted.name) return {};
    }
    COFFER_TRY_VOID(flows::register_connector(app_.flows(), connector_of(wanted)));
    return {};
  }

  Result<void> make_beneficiary(const DemoRecipients& there, const flows::NewBeneficiary& wanted) {
    for (const auto& state : there.beneficiaries) {
      if (display_name(state.beneficiary.detail) == display_name(wanted.detail)) return {};
    }
    COFFER_TRY_VOID(flows::create_beneficiary(app_.flows(), tenant_, wanted));
    return {};
  }

  App& app_;
  const Tenant& tenant_;
};

}  // namespace

Result<DemoRecipients> ensure_demo_recipients(App& app, const Tenant& tenant,
                                              const std::vector<store::WalletRow>& wallets) {
  return Recipients(app, tenant).run(wallets);
}

}  // namespace coffer::cli
