// Connectors: provider integrations for a corridor (docs/contract.md#connectors), and the fields
// that they require. The store keeps the enums of this file as integers: append, never reorder.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/strong.h"
#include "base/validation_errors.h"
#include "domain/identity/tenant.h"
#include "domain/ids.h"
#include "domain/ledger/money.h"
#include "domain/payments/payment.h"
#include "domain/tables/member.h"

namespace re2 {
class RE2;
}

namespace coffer {

enum class ConnectorFlow { quoted, bespoke };  // bespoke: initiated by the provider, on references
enum class Direction { off_ramp, on_ramp };    // payout, collection
enum class PayMethod { bank, momo, crypto, card, cash, qr, voucher, wallet };
enum class ConnectorStatus { active, paused };
enum class DriverKind { sandbox, http };

template <>
struct Terms<ConnectorFlow> {
  static constexpr auto rows = std::to_array<Term>(
      {{"QUOTED", "Payments against a quote"}, {"BESPOKE", "Initiated by the provider"}});
};
template <>
struct Terms<Direction> {
  static constexpr auto rows =
      std::to_array<Term>({{"OFF_RAMP", "Payout"}, {"ON_RAMP", "Collection"}});
};
template <>
struct Terms<PayMethod> {
  static constexpr auto rows = std::to_array<Term>({{"BANK", "Bank account"},
                                                    {"MOMO", "Mobile money"},
                                                    {"CRYPTO", "Address on a ledger"},
                                                    {"CARD", "Card"},
                                                    {"CASH", "Cash"},
                                                    {"QR", "QR code"},
                                                    {"VOUCHER", "Voucher"},
                                                    {"WALLET", "Electronic wallet"}});
};
template <>
struct Terms<ConnectorStatus> {
  static constexpr auto rows = std::to_array<Term>({{"ACTIVE"}, {"PAUSED"}});
};
template <>
struct Terms<DriverKind> {
  static constexpr auto rows = std::to_array<Term>(
      {{"sandbox", "Simulated by coffer"}, {"http", "Calls the provider protocol"}});
};
struct DriverInfo {
  // Calls another machine, so calls can be slow or fail. The connector has an endpoint, a circuit
  // breaker and a lane of its own, and the provider sets the price of quotes.
  bool calls_out = false;
  bool moves_money = false;  // otherwise, it cannot be used in production
};
constexpr DriverInfo driver_info(DriverKind driver) {
  switch (driver) {
    case DriverKind::sandbox:
      return {};
    case DriverKind::http:
      return {.calls_out = true, .moves_money = true};
  }
  return {};
}
constexpr bool calls_out(DriverKind driver) { return driver_info(driver).calls_out; }
/// "http": the names of the drivers that call out, for messages.
std::string drivers_that_call_out();
/// In any case; MOBILE_MONEY is accepted for MOMO (docs/contract.md#connectors).
std::optional<PayMethod> parse_pay_method(std::string_view text);

/// Sender and receiver, each consumer or business.
enum class TransactionType { c2c, c2b, b2c, b2b };
template <>
struct Terms<TransactionType> {
  static constexpr auto rows = std::to_array<Term>({{"C2C", "Consumer to consumer"},
                                                    {"C2B", "Consumer to business"},
                                                    {"B2C", "Business to consumer"},
                                                    {"B2B", "Business to business"}});
};
TransactionType transaction_type(bool sender_is_business, bool receiver_is_business);

/// A set of transaction types; the stored form has one bit per type in enum order.
using TransactionTypes = unsigned;
constexpr TransactionTypes kAllTransactionTypes = 0b1111;
constexpr bool contains(TransactionTypes set, TransactionType type) {
  return (set >> static_cast<unsigned>(type) & 1U) != 0;
}
/// "C2C,B2C".
std::string joined_types(TransactionTypes types);

/// A fee of `fixed` plus `basis_points` hundredths of a percent of the amount, in the currency of
/// the amount.
struct FeeRule {
  Amount fixed;
  int basis_points = 0;
};

template <>
struct Members<FeeRule> {
  using enum MemberFlag;
  static constexpr std::tuple rows{
      member<&FeeRule::fixed>(
          "feeFixed", "fixed", changes | may_be_zero,
          {"fee-fixed", "Fixed fee, in the sending currency", "Fixed fee", "0.50"}),
      member<&FeeRule::basis_points>(
          "feeBasisPoints", "basis_points", changes | may_be_zero,
          {"fee-bps", "Proportional fee in basis points (hundredths of a percent)",
           "Proportional fee (basis points)", "150"},
          10'000)};
};
using FeeChange = Change<FeeRule>;

/// A field that a connector requires in `additionalFields` (docs/contract.md#requirements).
struct Requirement {
  enum class Type { text, number, boolean };
  struct Choice {
    std::string code;
    std::string label;
  };
  std::string name;
  Type type = Type::text;
  bool required = true;
  std::string label;
  std::string description;
  std::optional<std::string> pattern;  // for the whole value; see is_requirement_pattern()
  std::optional<int> min_length;
  std::optional<int> max_length;
  std::vector<Choice> choices;  // empty: any value
  TransactionTypes types = kAllTransactionTypes;
};
template <>
struct Terms<Requirement::Type> {
  static constexpr auto rows =
      std::to_array<Term>({{"string", "Text"}, {"number", "Number"}, {"boolean", "Yes or no"}});
};
template <>
struct Members<Requirement> {
  using R = Requirement;
  using enum MemberFlag;
  static constexpr std::tuple rows{
      member<&R::name>("name", "name", required, {"NAME", "Name of the field in additionalFields"}),
      member<&R::type>("type", "type", changes,
                       {"type", "Type of the value; string for a new field"}),
      member<&R::required>("required", "required", changes),
      member<&R::label>("label", "label", changes,
                        {"label", "Label in a form; the name for a new field"}),
      member<&R::description>(
          "description", "description", changes,
          {"description", "Description in a form", "", "", "", "Remove the description"}),
      member<&R::pattern>("pattern", "pattern", changes,
                          {"pattern", "Pattern that the whole value must match", "Pattern",
                           "^[0-9]{11}$", "", "Remove the pattern"}),
      member<&R::min_length>("minLength", "min_length", changes,
                             {"min-length", "Minimum length in characters", "Minimum length", "1",
                              "", "Remove the minimum length"}),
      member<&R::max_length>("maxLength", "max_length", changes,
                             {"max-length", "Maximum length in characters, up to 200",
                              "Maximum length", "200", "", "Remove the maximum length"}),
      member<&R::choices>("choices", "", changes,
                          {"choices", "Permitted values with labels, such as A=First,B=Second",
                           "Permitted values", "A=First,B=Second", "", "Permit any value"}),
      member<&R::types>(
          "transactionTypes", "transaction_types", changes,
          {"types", "Transaction types, such as C2C,B2C, or all", "Transaction types", "C2C,B2C"})};
};
using RequirementChange = Change<Requirement>;
/// "A=First,B=Second".
std::string joined_choices(const std::vector<Requirement::Choice>& choices);
/// Changes the requirement with the given name, or appends a new one, whose default label is its
/// name.
void change_requirement(std::vector<Requirement>& requirements, const RequirementChange& change);

/// Maximum characters of a text whose requirement has no maximum.
constexpr int kRequirementLengthMax = 200;
/// A regular expression of at most 200 characters in the common syntax of ECMA-262 and RE2: without
/// look-around, back-references, inline flags and POSIX classes.
bool is_requirement_pattern(const std::string& pattern);
/// A compiled regular expression. Thread-safe.
class Pattern {
 public:
  explicit Pattern(const std::string& text);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  /// Whether a part of the text matches.
  bool is_in(const std::string& text) const;

 private:
  std::unique_ptr<const re2::RE2> form_;
};

/// The address of a real provider. Set if the driver calls out.
struct ProviderEndpoint {
  std::string base_url;  // https://host[:port][/prefix]; http only if the operator permits it
  Secret secret;         // signs in both directions
  int timeout_ms = 10'000;
  std::int64_t key = 0;  // row key
  // The connector has moved to another endpoint. Payments that were first sent to this one continue
  // here.
  bool retired = false;
};

/// A connector with all data for pricing and execution.
struct ConnectorTerms {
  std::int64_t key = 0;  // row key
  ConnectorId id;
  Environment environment = Environment::sandbox;
  std::string name;
  std::string provider;
  DriverKind driver = DriverKind::sandbox;
  ConnectorFlow flow = ConnectorFlow::quoted;
  Direction direction = Direction::off_ramp;
  PayMethod method = PayMethod::bank;
  std::string country;   // alpha-2
  std::string currency;  // ISO 4217
  int currency_decimals = 2;
  Asset asset;  // of the ledger side
  // Units received per unit sent, before the fee: asset to currency, or the reverse for an on-ramp.
  // Present if the connector has_price().
  std::optional<Rate> rate;
  FeeRule fee;  // the connector's own, in the sending currency
  // Maximum deviation of a provider's price from `rate` and `fee`, in hundredths of a percent.
  std::optional<int> tolerance_bps;
  Amount min_amount;  // of the quote's amount, in the sending currency
  Amount max_amount;
  std::optional<Amount> day_limit;  // per destination, off-ramp; see windows()
  std::optional<Amount> month_limit;
  TransactionTypes types = kAllTransactionTypes;
  bool issues_references = false;         // bespoke connectors only
  std::int64_t requirements_version = 1;  // increases with every change of the requirements
  ConnectorStatus status = ConnectorStatus::active;
  std::optional<ProviderEndpoint> endpoint;
  Timestamp created_at;

  bool calls_out() const { return coffer::calls_out(driver); }
  /// The lane of its jobs (store/providers/provider_payments.h).
  std::int64_t lane() const { return calls_out() ? key : 0; }
  /// Whether the provider sets the price: its quotes contain rate and fee.
  bool is_priced_by_provider() const { return calls_out() && flow == ConnectorFlow::quoted; }
  /// Whether `rate` and `fee` act: as the price, or with a tolerance as a limit of the provider's.
  /// Otherwise, there is no rate, and the fee is zero.
  bool has_price() const { return !is_priced_by_provider() || tolerance_bps; }

  struct Window {
    std::optional<Amount> limit;
    std::int64_t ms;
    std::string_view name;
  };
  /// The limits per destination, each over the last milliseconds.
  std::array<Window, 2> windows() const {
    return {{{day_limit, kDayMs, "24 hours"}, {month_limit, 30 * kDayMs, "30 days"}}};
  }

  /// Decimals and code of the sent and the received amount.
  int send_decimals() const;
  int receive_decimals() const;
  std::string_view send_code() const;
  std::string_view receive_code() const;
};

template <>
struct Members<ConnectorTerms> {
  using T = ConnectorTerms;
  using enum MemberFlag;
  static constexpr std::tuple rows{
      member<&T::id>("id", "id", in_api),
      member<&T::environment>("environment", "environment", none,
                              {"environment", "Environment of the connector", "", "", "sandbox"}),
      member<&T::name>("name", "name", in_api | required, {"NAME", "Name of the connector"}),
      member<&T::provider>("provider", "provider", in_api,
                           {"provider", "Name of the provider; by default the connector's name"}),
      member<&T::driver>("driver", "driver", none,
                         {"driver", "sandbox simulates a provider; http uses the provider protocol",
                          "", "", "sandbox"}),
      member<&T::flow>(
          "flow", "flow", in_api,
          {"flow", "QUOTED: payments against a quote; BESPOKE: initiated by the provider", "", "",
           "QUOTED"}),
      member<&T::direction>(
          "direction", "direction", in_api,
          {"direction", "OFF_RAMP (payout) or ON_RAMP (collection)", "", "", "OFF_RAMP"}),
      member<&T::method>("method", "method", in_api, {"method", "Payment method", "", "", "BANK"}),
      member<&T::country>("countryIsoCode2", "country", in_api | required | upper_case,
                          {"country", "Country, ISO 3166-1 alpha-2", "Country", "KE"}),
      member<&T::currency>("currencyIsoCode3", "currency", in_api | required | upper_case,
                           {"currency", "Currency, ISO 4217", "Currency", "KES"}),
      member<&T::currency_decimals>(
          "currencyDecimals", "currency_decimals", changes,
          {"currency-decimals", "Decimal places of the currency; by default its minor units",
           "Decimal places of the currency", "2"},
          Amount::kScale),
      member<&T::asset>("assetCode", "asset", in_api | required,
                        {"asset", "Asset on the ledger side", "Asset", "USDC"}),
      shown_if(&T::has_price,
               member<&T::rate>("rate", "rate", changes,
                                {"rate", "Exchange rate: amount received per unit sent",
                                 "Exchange rate", "129.50"})),
      shown_if(&T::has_price, inside<&T::fee>(member_row<FeeRule, &FeeRule::fixed>(), "fee_fixed")),
      shown_if(&T::has_price,
               inside<&T::fee>(member_row<FeeRule, &FeeRule::basis_points>(), "fee_basis_points")),
      shown_if(&T::is_priced_by_provider,
               member<&T::tolerance_bps>(
                   "toleranceBasisPoints", "tolerance_bps", changes,
                   {"tolerance-bps",
                    "Maximum deviation of the provider's price from rate and fee, in basis points",
                    "Tolerance (basis points)", "200", "", "Accept every price of the provider"},
                   10'000)),
      member<&T::min_amount>(
          "minAmount", "min_amount", in_api | required | changes,
          {"min", "Minimum amount, in the sending currency", "Minimum amount", "1"}),
      member<&T::max_amount>(
          "maxAmount", "max_amount", in_api | required | changes,
          {"max", "Maximum amount, in the sending currency", "Maximum amount", "10000"}),
      member<&T::day_limit>("dayLimit", "day_limit", changes,
                            {"day-limit", "Limit per destination in 24 hours",
                             "Daily limit per destination", "5000", "", "Remove the daily limit"}),
      member<&T::month_limit>(
          "monthLimit", "month_limit", changes,
          {"month-limit", "Limit per destination in 30 days", "Monthly limit per destination",
           "50000", "", "Remove the monthly limit"}),
      member<&T::types>("transactionTypes", "transaction_types", in_api,
                        {"types", "Transaction types, such as C2C,B2C, or all", "Transaction types",
                         "C2C,B2C", "all"}),
      member<&T::issues_references>(
          "issuesReferences", "issues_references", none,
          {"references", "The BESPOKE connector issues references", "Issues references"}),
      member<&T::requirements_version>("", "requirements_version"),
      member<&T::status>("status", "status", in_api | changes)};
};

/// A step in the response of GET /v1/connectors/{id}.
struct ExecutionStep {
  std::string_view type;
  std::string_view title;
  std::string_view description;
  std::vector<std::string> required_fields;
};
/// In order, limited to the steps for `type`.
std::vector<ExecutionStep> execution_steps(const ConnectorTerms& connector,
                                           std::span<const Requirement> requirements,
                                           std::optional<TransactionType> type);

/// The requirements for a transaction type; without a type, all of them.
std::vector<Requirement> applicable(std::span<const Requirement> requirements,
                                    std::optional<TransactionType> type);
/// Checks that all required fields are present, all values are valid and no field is unknown:
/// `requirement-missing` or `validation-failed` per field under `additionalFields.`.
void check_requirements(std::span<const Requirement> requirements, TransactionType type,
                        const AdditionalFields& values, ValidationErrors& errors);

using ConnectorChange = Change<ConnectorTerms>;
/// The value of a member. An amount has `decimals`.
template <class T>
PlainValue shown_member(const T& value, int decimals) {
  if constexpr (std::is_same_v<T, Amount>) return value.to_string(decimals);
  if constexpr (std::is_same_v<T, Asset>) return value.code.value();
  if constexpr (std::is_same_v<T, TransactionTypes>) return joined_types(value);
  if constexpr (std::is_same_v<T, std::vector<Requirement::Choice>>) return joined_choices(value);
  if constexpr (Vocabulary<T>) return std::string(name(value));
  if constexpr (requires { value.has_value(); })
    return value ? shown_member(*value, decimals) : PlainValue();
  if constexpr (requires { value.to_string(); }) return value.to_string();
  if constexpr (std::is_signed_v<T>) return std::int64_t{value};
  if constexpr (std::is_convertible_v<T, std::string> || std::is_same_v<T, bool>) return value;
}
/// Calls `visit(row)` for each limit of an amount.
template <class Visit>
void each_limit(const Visit& visit) {
  each_member<ConnectorTerms>([&]<auto... kPath>(const Member<kPath...>& row) {
    if constexpr (std::is_same_v<MemberValue<kPath...>, Amount>) {
      if (!row.is(MemberFlag::may_be_zero)) visit(row);
    }
  });
}

// Amounts that are invalid on the sending side are `amount-precision` or `amount-out-of-range`;
// every other error is `validation-failed`.

/// Changes terms and checks everything that can change. Without a tolerance, a connector that its
/// provider prices accepts neither a rate nor a fee.
void change_terms(ConnectorTerms& terms, const ConnectorChange& change, ValidationErrors& errors);
/// Checks the terms that are fixed at registration.
void check_terms(const ConnectorTerms& terms, ValidationErrors& errors);
/// Parts of these checks: a fee; address and timeout.
void check_fee(const ConnectorTerms& terms, const FeeRule& fee, ValidationErrors& errors);
void check_endpoint(const ConnectorTerms& terms, ValidationErrors& errors);
/// Adds errors under the name of each invalid requirement.
void check_requirement_list(std::span<const Requirement> requirements, ValidationErrors& errors);

}  // namespace coffer
