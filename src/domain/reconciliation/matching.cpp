#include "domain/reconciliation/matching.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text/ascii.h"

namespace coffer {
namespace {

constexpr std::size_t kWordMin = 6;              // shorter references identify nothing
constexpr std::size_t kCutMin = 12;              // without hyphens
constexpr std::ptrdiff_t kLinesOfWordMax = 200;  // a word of more lines is no reference
constexpr std::size_t kCandidatesMax = 16;
constexpr std::array<std::size_t, 3> kCuts{16, 20, 35};  // fields of banks are as long
constexpr std::size_t kSeenBits = std::size_t{1} << 26U;

/// Letters and digits in upper case, because banks change case, hyphens and spaces: their hash
/// (FNV-1a) and number.
class CompactWord {
 public:
  CompactWord() = default;
  explicit CompactWord(std::string_view text) { add(text); }
  void add(std::string_view text) {
    for (const char c : text) {
      if (!ascii::is_letter_or_digit(c)) continue;
      hash_ = (hash_ ^ static_cast<unsigned char>(ascii::to_upper(c))) * 1'099'511'628'211U;
      ++size_;
    }
  }
  std::size_t size() const { return size_; }
  /// Its high bits depend on all characters.
  std::uint64_t value() const { return (hash_ ^ hash_ >> 29U) * 0xbf58476d1ce4e5b9U; }

 private:
  std::uint64_t hash_ = 14'695'981'039'346'656'037U;
  std::size_t size_ = 0;
};

/// The words of a text, and those of two and of three words together.
void add_words(std::vector<std::uint64_t>& out, std::string_view text,
               std::string_view separators) {
  std::array<std::optional<CompactWord>, 2> before;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const CompactWord alone(word);
    if (alone.size() == 0) continue;
    for (auto& one : before) {
      if (one) one->add(word);
    }
    for (const auto& one : {std::optional(alone), before[0], before[1]}) {
      if (one && one->size() >= kWordMin) out.push_back(one->value());
    }
    before = {alone, before[0]};
  }
}

std::uint64_t amount_key(const std::string& currency, Amount amount, std::int64_t day) {
  CompactWord word(currency);
  return word.value() ^ static_cast<std::uint64_t>(amount.units()) * 0x9e3779b97f4a7c15U ^
         static_cast<std::uint64_t>(day) * 0xc2b2ae3d27d4eb4fU;
}

Amount absolute(Amount amount) { return amount.is_negative() ? -amount : amount; }

/// Whether an amount is another one after a charge, which makes a debit larger and a credit
/// smaller.
bool is_net_of(Amount shown, Amount wanted, Amount charge) {
  const auto net = wanted.add(-charge);
  return charge.is_positive() && charge < absolute(wanted) && net && shown == *net;
}

/// No two currencies differ more.
constexpr std::int64_t kRateMax = 1'000'000;
bool may_be_converted(Amount a, Amount b) {
  return a.units() / kRateMax <= b.units() && b.units() / kRateMax <= a.units();
}

bool is_within(const OpenLine& line, const MatchTarget& target, std::int64_t days) {
  const std::int64_t day = target.at.ms / kDayMs;
  const std::int64_t booked = line.booked_on.ms / kDayMs;
  return booked >= day - 1 && booked <= day + days;
}

/// How the amounts of a line and of a target with its reference relate.
MatchRule relation_of(const OpenLine& line, const MatchTarget& target) {
  if (std::ranges::find(line.undone, target.payment) != line.undone.end()) return MatchRule::undone;
  if (line.amount.is_negative() != target.amount.is_negative()) return MatchRule::other_direction;
  const Amount shown = absolute(line.amount);
  const Amount wanted = absolute(target.amount);
  if (line.currency != target.currency) {
    const bool stated = line.original && line.original->currency == target.currency &&
                        line.original->amount == wanted && may_be_converted(shown, wanted);
    return stated ? MatchRule::converted : MatchRule::other_currency;
  }
  if (shown == wanted) return MatchRule::reference;
  const bool net = is_net_of(line.amount, target.amount, line.charges) ||
                   is_net_of(line.amount, target.amount, target.fee);
  return net ? MatchRule::net : MatchRule::other_amount;
}

MatchChoice choice_of(const MatchTarget& target, MatchRule rule) {
  return {target.kind, target.payment, target.refund, rule};
}

}  // namespace

std::optional<Amount> shown_in(const std::string& currency, const BankLine& line) {
  if (line.currency == currency) return line.amount;
  if (!line.original || line.original->currency != currency) return std::nullopt;
  return line.amount.is_negative() ? -line.original->amount : line.original->amount;
}

std::string reason_against(const BankLine& line, const MatchTarget& target, Amount matched) {
  const auto shown = shown_in(target.currency, line);
  if (!target.settled) return "The payment has not moved money.";
  if (!shown)
    return "The line is in " + line.currency + ", the payment in " + target.currency + ".";
  if (shown->is_negative() != target.amount.is_negative())
    return "The line and the payment have different directions.";
  const auto sum = matched.add(*shown);
  // Charges make a debit larger than the payment.
  const auto most =
      absolute(target.amount).add(line.amount.is_negative() ? line.charges : Amount());
  if (sum && most && absolute(*sum) <= *most) return "";
  const Amount left = absolute(target.amount) - absolute(matched);
  return "The line has " + absolute(*shown).to_string(2) + " " + target.currency +
         ", of the payment " + (left.is_positive() ? left : Amount()).to_string(2) +
         " are without a line.";
}

Matcher::Matcher(std::vector<OpenLine> lines) : seen_(kSeenBits) {
  lines_.reserve(lines.size());
  std::vector<std::uint64_t> words;
  for (OpenLine& one : lines) {
    lines_.push_back({std::move(one)});
    const auto line = static_cast<std::uint32_t>(lines_.size() - 1);
    const OpenLine& is = lines_.back().is;
    words.clear();
    for (const std::string* text : {&is.reference, &is.bank_reference, &is.text}) {
      add_words(words, *text, " ");
      add_words(words, *text, " ,;:()[]'\"=+?/.");
    }
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (const std::uint64_t word : words) {
      words_.emplace_back(word, line);
      seen_[word % kSeenBits] = true;
    }
    const std::uint64_t key = amount_key(is.currency, is.amount, is.booked_on.ms / kDayMs);
    amounts_[key].push_back(line);
    seen_[key % kSeenBits] = true;
  }
  std::ranges::sort(words_);
}

std::size_t Matcher::keep(const MatchTarget& target, std::size_t& kept) {
  if (kept == SIZE_MAX) {
    kept = targets_.size();
    targets_.push_back(target);
    targets_.back().references.clear();
    targets_.back().standing.clear();
  }
  return kept;
}

void Matcher::add(const MatchTarget& target, std::uint64_t word, Strength strength,
                  std::size_t& kept) {
  if (!seen_[word % kSeenBits]) return;
  const auto first = std::ranges::lower_bound(words_, word, {}, &WordOfLine::first);
  auto end = first;
  for (; end != words_.end() && end->first == word; ++end) {
    if (end - first == kLinesOfWordMax) return;
  }
  for (auto found = first; found != end; ++found) {
    Line& line = lines_[found->second];
    if (!is_within(line.is, target, strength == Strength::standing ? kNearDays : kMatchDays))
      continue;
    if (strength == Strength::cut) {
      line.cut_by_several =
          line.cut_by_several || (line.cut_payment != 0 && line.cut_payment != target.payment);
      line.cut_payment = target.payment;
    }
    if (line.candidates.size() >= kCandidatesMax) continue;
    const std::size_t key = keep(target, kept);
    // References are looked up before the beginnings of them.
    const bool known =
        std::ranges::find(line.candidates, key, &Candidate::target) != line.candidates.end();
    if (!known) line.candidates.push_back({key, strength, relation_of(line.is, target)});
  }
}

void Matcher::add_near(const MatchTarget& target, std::size_t& kept) {
  if (target.kind == MatchKind::fee || !target.settled) return;
  const std::int64_t recorded = target.at.ms / kDayMs;
  for (std::int64_t day = recorded - 1; day <= recorded + kNearDays; ++day) {
    const std::uint64_t key = amount_key(target.currency, target.amount, day);
    if (!seen_[key % kSeenBits]) continue;
    const auto found = amounts_.find(key);
    if (found == amounts_.end()) continue;
    // A line with enough offers leaves the index, so the work is bounded.
    std::erase_if(found->second, [&](std::uint32_t at) {
      if (lines_[at].is.amount != target.amount || lines_[at].is.currency != target.currency)
        return false;
      lines_[at].near.push_back(keep(target, kept));
      return lines_[at].near.size() > kOffersMax;
    });
  }
}

void Matcher::consider(const MatchTarget& target) {
  std::size_t kept = SIZE_MAX;
  const auto look_up = [&](std::string_view text, std::size_t size_min, Strength strength) {
    const CompactWord word(text);
    if (word.size() >= size_min) add(target, word.value(), strength, kept);
  };
  for (const std::string& one : target.references) look_up(one, kWordMin, Strength::full);
  for (const std::string& one : target.standing) look_up(one, kWordMin, Strength::standing);
  for (const std::string& one : target.references) {
    for (const std::size_t length : kCuts) {
      if (one.size() > length)
        look_up(std::string_view(one).substr(0, length), kCutMin, Strength::cut);
    }
  }
  add_near(target, kept);
}

/// A line that names several payments is their sum.
void Matcher::claim_sum(Line& line) const {
  Amount sum;
  std::vector<std::size_t> all;
  for (const Candidate& one : line.candidates) {
    const MatchTarget& target = targets_[one.target];
    if (one.strength != Strength::full || one.relation == MatchRule::other_direction) continue;
    if (one.relation == MatchRule::undone) return;
    if (one.relation == MatchRule::other_currency || target.kind == MatchKind::fee) continue;
    const auto next = sum.add(target.amount);
    if (!next) return;
    sum = *next;
    all.push_back(one.target);
  }
  if (all.size() < 2 || (sum != line.is.amount && !is_net_of(line.is.amount, sum, line.is.charges)))
    return;
  line.claims = std::move(all);
  line.rule = MatchRule::sum;
}

/// The target that the line is certain to belong to, if nothing else claims it.
void Matcher::claim(Line& line) const {
  for (const Strength strength : {Strength::full, Strength::standing, Strength::cut}) {
    std::set<std::int64_t> payments;
    std::vector<const Candidate*> equal;
    std::vector<const Candidate*> other;
    for (const Candidate& one : line.candidates) {
      if (one.strength != strength || one.relation == MatchRule::other_direction) continue;
      if (strength != Strength::standing || one.relation == MatchRule::reference) {
        payments.insert(targets_[one.target].payment);
      }
      if (one.relation == MatchRule::reference) equal.push_back(&one);
      if (one.relation == MatchRule::net || one.relation == MatchRule::converted)
        other.push_back(&one);
    }
    if (payments.empty()) continue;
    const bool crowded = line.candidates.size() >= kCandidatesMax ||
                         (strength == Strength::cut && line.cut_by_several);
    if (crowded) return;
    if (payments.size() > 1) return strength == Strength::full ? claim_sum(line) : void();
    const auto& fits = equal.empty() ? other : equal;
    if (fits.size() != 1) return;
    line.claims = {fits.front()->target};
    line.rule = strength == Strength::full       ? fits.front()->relation
                : strength == Strength::standing ? MatchRule::standing
                                                 : MatchRule::cut;
    return;
  }
}

/// The only target with the reference of a line that shows a part of it.
std::optional<std::size_t> Matcher::part_of(const Line& line) {
  std::optional<std::size_t> out;
  for (const Candidate& one : line.candidates) {
    if (one.relation == MatchRule::other_direction) continue;
    if (out || one.strength != Strength::full || one.relation != MatchRule::other_amount)
      return std::nullopt;
    out = one.target;
  }
  return line.claims.empty() ? out : std::nullopt;
}

MatchDecision Matcher::offer(const Line& line, const std::vector<bool>& taken) const {
  MatchDecision out{line.is.key};
  const auto add_choice = [&](std::size_t target, MatchRule rule) {
    if (out.choices.size() < kOffersMax) out.choices.push_back(choice_of(targets_[target], rule));
  };
  for (const Candidate& one : line.candidates) {
    MatchRule rule = one.relation;
    if (is_exact(rule)) {
      rule = !targets_[one.target].settled ? MatchRule::unsettled
             : taken[one.target]           ? MatchRule::taken
             : line.claims.empty()         ? MatchRule::several
                                           : MatchRule::repeated;
    }
    add_choice(one.target, rule);
  }
  if (!out.choices.empty()) return out;
  for (const std::size_t target : line.near) {
    const bool undone = relation_of(line.is, targets_[target]) == MatchRule::undone;
    if (!taken[target]) add_choice(target, undone ? MatchRule::undone : MatchRule::amount_and_day);
  }
  return out;
}

std::vector<MatchDecision> Matcher::decide(const std::vector<bool>& taken) {
  std::vector<MatchDecision> out;
  std::map<std::size_t, std::vector<Line*>> claims;  // by target
  std::map<std::size_t, std::vector<Line*>> parts;
  for (Line& line : lines_) {
    claim(line);
    for (const std::size_t target : line.claims) claims[target].push_back(&line);
    if (const auto part = part_of(line)) parts[*part].push_back(&line);
  }
  const auto is_free = [&](std::size_t target) {
    return targets_[target].settled && !taken[target];
  };
  for (Line& line : lines_) {
    const bool alone =
        !line.claims.empty() && std::ranges::all_of(line.claims, [&](std::size_t target) {
          return claims[target].size() == 1 && is_free(target);
        });
    if (!alone) continue;
    line.decided = true;
    MatchDecision& made = out.emplace_back(MatchDecision{line.is.key, true});
    for (const std::size_t target : line.claims)
      made.choices.push_back(choice_of(targets_[target], line.rule));
  }
  for (const auto& [target, lines] : parts) {
    if (lines.size() < 2 || claims.contains(target) || !is_free(target)) continue;
    Result<Amount> sum = Amount();
    for (const Line* line : lines) {
      if (sum) sum = sum->add(line->is.amount);
    }
    if (!sum || *sum != targets_[target].amount) continue;
    for (Line* line : lines) {
      line->decided = true;
      out.push_back({line->is.key, true, {choice_of(targets_[target], MatchRule::parts)}});
    }
  }
  for (const Line& line : lines_) {
    if (line.decided) continue;
    MatchDecision offered = offer(line, taken);
    if (!offered.choices.empty()) out.push_back(std::move(offered));
  }
  return out;
}

}  // namespace coffer
