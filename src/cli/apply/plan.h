// The plan of `coffer apply` (docs/operating.md#fixtures): reads the objects of a file, compares
// them with the current state and applies the differences.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/fields.h"
#include "cli/command.h"
#include "domain/providers/connector.h"
#include "flows/context.h"
#include "flows/parties/beneficiary_changes.h"
#include "flows/providers/connector_changes.h"
#include "store/identity/tenants.h"
#include "store/ledger/wallets.h"
#include "store/parties/beneficiaries.h"
#include "store/providers/connectors.h"
#include "store/webhooks/webhooks.h"

namespace coffer::cli {

/// One declared object.
struct ApplyStep {
  std::string_view section;  // the list of the file that declares it: `wallets`
  std::string_view kind;     // `wallet`
  std::string name;
  bool creates = false;
  std::vector<std::string> differences;  // `rate: 1.00 -> 1.25`
  /// Makes the change and returns what the operator must see, such as IDs and new secrets.
  std::function<Result<Record>()> carry_out;

  bool is_change() const { return creates || !differences.empty(); }
};

/// The names of the objects, which refer to each other by name.
class ApplyNames {
 public:
  /// Several existing objects have this name.
  void repeat(std::string_view kind, const std::string& name);
  /// Whether an object exists or is declared earlier in the file; otherwise adds an error. Call it
  /// before declare(), so that no other error hides this one.
  bool refers(api::Fields& fields, std::string_view field, std::string_view kind,
              const std::string& name, bool exists);
  /// Names the object of the step. Adds an error if the name is declared twice, or if several
  /// existing objects have it.
  bool declare(api::Fields& fields, std::string_view field, ApplyStep& step, std::string name);

 private:
  std::set<std::string> ambiguous_;  // `wallet Treasury`
  std::set<std::string> declared_;   // in the same form
};

/// Changes only the members that the file contains; null removes a value that can be absent.
/// Objects refer to each other by name. A file may declare both the object and its references.
class ApplyPlan {
 public:
  /// `flows` must outlive the plan.
  explicit ApplyPlan(const flows::Context& flows) : flows_(flows) {}

  /// Reads the whole file. Returns every error together, as `line 12: wallets[0].assetCode`.
  /// Changes nothing.
  Result<void> read(const std::string& text);
  /// In the order in which they are carried out.
  const std::vector<ApplyStep>& steps() const { return steps_; }

 private:
  using Planner = void (ApplyPlan::*)(api::Fields&, ApplyStep&);
  struct Section {
    std::string_view member;
    std::string_view kind;
    Planner plan;
    bool of_association;
  };
  static const std::vector<Section> kSections;

  Result<void> load(const http::JsonValue& file, ValidationErrors& errors);
  void load_market(store::Connection& db);
  void load_association(store::Connection& db, ValidationErrors& errors);
  void load_tenant(store::Connection& db);
  template <class Row>
  void keep(std::string_view kind, std::map<std::string, Row>& rows, const std::string& name,
            const Row& row);
  void plan_section(const Section& section, const http::JsonValue& file, ValidationErrors& errors);

  void plan_asset(api::Fields& fields, ApplyStep& step);
  void plan_rate(api::Fields& fields, ApplyStep& step);
  void plan_connector(api::Fields& fields, ApplyStep& step);
  void plan_application(api::Fields& fields, ApplyStep& step);
  void plan_fee(api::Fields& fields, ApplyStep& step);
  void plan_wallet(api::Fields& fields, ApplyStep& step);
  void plan_limit(api::Fields& fields, ApplyStep& step);
  void plan_funding(api::Fields& fields, ApplyStep& step);
  void plan_beneficiary(api::Fields& fields, ApplyStep& step);
  void plan_webhook(api::Fields& fields, ApplyStep& step);

  /// The value of a member in the file, by its type. An asset has decimals if it is known.
  template <class T>
  std::optional<T> read_value(api::Fields& fields, const MemberFact& row);
  /// The members of a noun in an object of the file; its environment is that of the file.
  template <class Noun>
  Change<Noun> read_members(api::Fields& fields);
  void plan_new_connector(ConnectorChange declared, const flows::EndpointChange& endpoint,
                          api::Fields& fields, ApplyStep& step);
  void plan_connector_change(const ConnectorTerms& present, const ConnectorChange& declared,
                             const flows::EndpointChange& endpoint, api::Fields& fields,
                             ApplyStep& step);
  /// Whether the wallet has a trustline for the asset, or will have one.
  bool holds(const std::string& wallet, const AssetCode& asset);
  /// Removes the codes for which the wallet has a trustline.
  void without_present(const store::WalletRow& wallet, std::vector<AssetCode>& codes);
  /// The registered asset, or the one that the file declares; otherwise adds an error.
  std::optional<Asset> asset(api::Fields& fields, std::string_view field, const AssetCode& code);

  const flows::Context& flows_;
  const http::JsonValue* item_ = nullptr;  // the object that is being planned
  Environment environment_ = Environment::sandbox;
  std::string association_;
  std::optional<Tenant> tenant_;  // empty until the association is created
  std::vector<ApplyStep> steps_;

  // The current state by name, plus the objects that this run creates.
  std::map<std::string, Asset> assets_;
  std::map<std::string, Rate> rates_;  // by `USDC/EURC`
  std::map<std::string, store::ConnectorRow> connectors_;
  std::map<std::string, store::ApplicationRow> applications_;
  std::map<std::string, store::WalletRow> wallets_;
  std::map<std::string, store::BeneficiaryRow> beneficiaries_;  // by clientReference
  std::map<std::string, store::WebhookRow> webhooks_;           // active ones, by URL
  // Changes that this run will make, for the checks of later objects.
  std::map<std::string, ConnectorTerms> planned_terms_;               // by name of a connector
  std::map<std::string, std::vector<AssetCode>> planned_trustlines_;  // by name of a wallet
  std::vector<std::pair<std::string, EventTypeSet>> types_;  // of active webhooks, with the URL
  ApplyNames names_;
};

// Parts that the sections of the file share.

/// Adds an error if the file declares a different value for a member that cannot change.
void fixed(api::Fields& fields, std::string_view member, const std::string& present,
           const std::string& wanted);
/// Adds the difference, if there is one.
void differs(ApplyStep& step, std::string_view member, const std::string& present,
             const std::string& wanted);
/// Adds the differences of all members.
template <class Noun>
void compare_members(ApplyStep& step, const Noun& present, const Noun& wanted);
std::optional<Rate> read_rate(api::Fields& fields, std::string_view member, api::Presence presence);
/// An amount that may be zero.
std::optional<Amount> read_fixed_fee(api::Fields& fields, std::string_view member);

}  // namespace coffer::cli
