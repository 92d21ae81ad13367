// Connectors: provider integrations for a corridor (docs/contract.md#connectors), and the fields
// that they require. The store keeps the enums of this file as integers: append, never reorder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strong.h"
#include "base/validation_errors.h"
#include "domain/identity/tenant.h"
#include "domain/ids.h"
#include "domain/ledger/money.h"
#include "domain/payments/payment.h"

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
  static constexpr auto rows = std::to_array<Term>({{"QUOTED"}, {"BESPOKE"}});
};
template <>
struct Terms<Direction> {
  static constexpr auto rows = std::to_array<Term>({{"OFF_RAMP"}, {"ON_RAMP"}});
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
  static constexpr auto rows = std::to_array<Term>({{"sandbox"}, {"http"}});
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

/// A fee of `fixed` plus `basis_points` hundredths of a percent of the amount, in the currency of
/// the amount.
struct FeeRule {
  Amount fixed;
  int basis_points = 0;
};

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
  static constexpr auto rows = std::to_array<Term>({{"string"}, {"number"}, {"boolean"}});
};
/// New values of a requirement. An empty member leaves the present value; an inner empty one
/// removes it.
struct RequirementChange {
  std::string name;
  std::optional<Requirement::Type> type = {};
  std::optional<bool> required = {};
  std::optional<std::string> label = {};
  std::optional<std::string> description = {};
  std::optional<std::optional<std::string>> pattern = {};
  std::optional<std::optional<int>> min_length = {};
  std::optional<std::optional<int>> max_length = {};
  std::optional<std::vector<Requirement::Choice>> choices = {};
  std::optional<TransactionTypes> types = {};
};
/// Changes the requirement with this name, or appends a new one, whose default label is its name.
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
  std::optional<Amount> day_limit;    // per destination over the last 24 h, off-ramp
  std::optional<Amount> month_limit;  // per destination over the last 30 d
  TransactionTypes types = kAllTransactionTypes;
  bool issues_references = false;  // bespoke connectors only
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

  /// Decimals and code of the sent and the received amount.
  int send_decimals() const;
  int receive_decimals() const;
  std::string_view send_code() const;
  std::string_view receive_code() const;
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

/// New values of terms. An empty member leaves the present value; an inner empty one removes it.
struct ConnectorChange {
  std::optional<Rate> rate = {};
  std::optional<Amount> fee_fixed = {};
  std::optional<int> fee_basis_points = {};
  std::optional<std::optional<int>> tolerance_bps = {};
  std::optional<Amount> min_amount = {};
  std::optional<Amount> max_amount = {};
  std::optional<std::optional<Amount>> day_limit = {};
  std::optional<std::optional<Amount>> month_limit = {};
  std::optional<int> currency_decimals = {};
  std::optional<ConnectorStatus> status = {};
};

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
