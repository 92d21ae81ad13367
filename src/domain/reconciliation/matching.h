// Which payment a line of a bank statement belongs to. Pure rules, in a table: a match that is
// certain is made, and everything else is offered to an operator. Pass all open lines, then every
// payment of the days around them once, in the order of their keys: the work does not depend on the
// product of both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "domain/reconciliation/bank_statement.h"
#include "domain/tables/terms.h"

namespace coffer {

// The store keeps these enums as integers: append, never reorder.

/// The part of a payment that a line shows.
enum class MatchKind { payment, fee, returned, refund };
template <>
struct Terms<MatchKind> {
  static constexpr auto rows = std::to_array<Term>({{"payment"}, {"fee"}, {"return"}, {"refund"}});
};

/// `replaced`: more detailed lines of the same entry count instead.
enum class LineState { unmatched, offered, matched, replaced };
template <>
struct Terms<LineState> {
  static constexpr auto rows =
      std::to_array<Term>({{"unmatched"}, {"offered"}, {"matched"}, {"replaced"}});
};

/// The first rules, up to `cut`, are exact; the others only offer.
enum class MatchRule {
  by_hand,    // an operator's decision
  reference,  // reference, amount, currency, direction
  net,        // reference, and the amount with or without a stated charge or the recorded fee
  converted,  // reference, and the amount before the bank converted it
  parts,      // several lines with the reference add up to the payment
  sum,        // a line with several references is the sum of their payments
  standing,   // the reference of a customer, amount, and the days after
  cut,        // the beginning of a reference that no other payment has, and the amount
  repeated,
  taken,
  unsettled,
  other_amount,
  other_currency,
  other_direction,
  several,
  amount_and_day,
  undone,
};
/// The labels say why a payment is offered.
template <>
struct Terms<MatchRule> {
  static constexpr auto rows =
      std::to_array<Term>({{"by_hand"},
                           {"reference"},
                           {"net"},
                           {"converted"},
                           {"parts"},
                           {"sum"},
                           {"standing"},
                           {"cut"},
                           {"repeated", "several lines have the reference and the amount"},
                           {"taken", "another line is matched with the payment"},
                           {"unsettled", "the payment has not moved money"},
                           {"other_amount", "the amount differs"},
                           {"other_currency", "the currency differs"},
                           {"other_direction", "the direction differs"},
                           {"several", "several payments fit"},
                           {"amount_and_day", "only amount and day fit"},
                           {"undone", "an operator undid the match"}});
};
constexpr bool is_exact(MatchRule rule) { return rule <= MatchRule::cut; }

struct OpenLine {
  std::int64_t key = 0;
  Timestamp booked_on;
  Amount amount;
  Amount charges;
  std::string currency;
  std::optional<StatedAmount> original;
  std::string reference;
  std::string bank_reference;
  std::string text;
  std::vector<std::int64_t> undone = {};  // payments whose match an operator undid
};

/// The amount of a line in a currency: its own, or the one before the bank converted it.
std::optional<Amount> shown_in(const std::string& currency, const BankLine& line);

/// The movement at the bank that a payment, a fee, a return or a refund causes.
struct MatchTarget {
  MatchKind kind = MatchKind::payment;
  std::int64_t payment = 0;
  std::optional<std::int64_t> refund;
  Amount amount;  // negative: leaves the account
  Amount fee;     // in the same currency; zero if it has another
  std::string currency;
  Timestamp at;         // when it was recorded
  bool settled = true;  // the money moved, or may have moved
  std::vector<std::string> references;
  std::vector<std::string> standing;  // that other payments may have too
};

/// Why an operator should not match a line with a target of which a part is matched already: what
/// is left of it is less, the currency or the direction differs, or no money moved. Empty if
/// nothing is in the way.
std::string reason_against(const BankLine& line, const MatchTarget& target, Amount matched);

struct MatchChoice {
  MatchKind kind = MatchKind::payment;
  std::int64_t payment = 0;
  std::optional<std::int64_t> refund;
  MatchRule rule = MatchRule::by_hand;
};
struct MatchDecision {
  std::int64_t line = 0;
  bool matched = false;              // otherwise the choices are offered
  std::vector<MatchChoice> choices;  // of `sum`, several that are all matched
};

/// A line may be booked this long after its payment was recorded, and a day before, in another time
/// zone.
inline constexpr std::int64_t kMatchDays = 60;
/// Without a reference of its own.
inline constexpr std::int64_t kNearDays = 5;
inline constexpr std::size_t kOffersMax = 5;

class Matcher {
 public:
  explicit Matcher(std::vector<OpenLine> lines);
  void consider(const MatchTarget& target);
  /// Those that a line may belong to.
  const std::vector<MatchTarget>& targets() const { return targets_; }
  /// Decisions about lines with choices. `taken` says of each of targets() whether a line is
  /// matched with it already.
  std::vector<MatchDecision> decide(const std::vector<bool>& taken);

 private:
  enum class Strength : std::uint8_t { full, standing, cut };
  struct Candidate {
    std::size_t target = 0;
    Strength strength = Strength::full;
    MatchRule relation = MatchRule::other_amount;
  };
  struct Line {
    OpenLine is;
    std::vector<Candidate> candidates = {};
    std::vector<std::size_t> near = {};  // targets with the amount
    std::int64_t cut_payment = 0;        // whose reference begins in this way
    bool cut_by_several = false;
    std::vector<std::size_t> claims = {};  // targets that the line would exhaust
    MatchRule rule = MatchRule::by_hand;
    bool decided = false;
  };
  using Lines = std::vector<std::uint32_t>;
  using WordOfLine = std::pair<std::uint64_t, std::uint32_t>;

  void add(const MatchTarget& target, std::uint64_t word, Strength strength, std::size_t& kept);
  void add_near(const MatchTarget& target, std::size_t& kept);
  std::size_t keep(const MatchTarget& target, std::size_t& kept);
  void claim(Line& line) const;
  void claim_sum(Line& line) const;
  static std::optional<std::size_t> part_of(const Line& line);
  MatchDecision offer(const Line& line, const std::vector<bool>& taken) const;

  std::vector<Line> lines_;
  std::vector<WordOfLine> words_;                     // by hash
  std::unordered_map<std::uint64_t, Lines> amounts_;  // by a hash of amount, currency and day
  std::vector<bool> seen_;                            // hashes, because few targets have one
  std::vector<MatchTarget> targets_;                  // with a candidate
};

}  // namespace coffer
