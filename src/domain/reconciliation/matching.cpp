#include "domain/reconciliation/matching.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text/ascii.h"

namespace coffer {
namespace {

constexpr std::size_t kWordMin = 6;           // shorter references identify nothing
constexpr std::size_t kCutMin = 12;           // without hyphens
constexpr std::size_t kLinesOfWordMax = 200;  // a word of more lines is no reference
constexpr std::size_t kCandidatesMax = 16;
constexpr std::array<std::size_t, 3> kCuts{16, 20, 35};  // fields of banks are as long
constexpr std::size_t kSeenBits = std::size_t{1} << 24U;

/// Letters and digits in upper case: banks change case, hyphens and spaces.
std::string compact(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (ascii::is_letter_or_digit(c)) out += ascii::to_upper(c);
  }
  return out;
}

/// The compact words of a text, and those of two and of three words together.
void add_words(std::set<std::string>& out, std::string_view text, std::string_view separators) {
  std::array<std::string, 2> before;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    const std::string word = compact(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    for (const std::string& one : {word, before[1] + word, before[0] + before[1] + word}) {
      if (one.size() >= kWordMin) out.insert(one);
    }
    before = {std::move(before[1]), word};
  }
}

std::string amount_key(const std::string& currency, Amount amount, Timestamp day) {
  return currency + std::to_string(amount.units()) + ' ' + std::to_string(day.ms / kDayMs);
}

Amount absolute(Amount amount) { return amount.is_negative() ? -amount : amount; }

bool differs_by(Amount a, Amount b, Amount difference) {
  return difference.is_positive() && (a + difference == b || b + difference == a);
}

bool is_within(const OpenLine& line, const MatchTarget& target, std::int64_t days) {
  const std::int64_t day = target.at.ms / kDayMs;
  const std::int64_t booked = line.booked_on.ms / kDayMs;
  return booked >= day - 1 && booked <= day + days;
}

/// How the amounts of a line and of a target with its reference relate.
MatchRule relation_of(const OpenLine& line, const MatchTarget& target) {
  if (line.amount.is_negative() != target.amount.is_negative()) return MatchRule::other_direction;
  const Amount shown = absolute(line.amount);
  const Amount wanted = absolute(target.amount);
  if (line.currency != target.currency) {
    const bool stated = line.original && line.original->currency == target.currency &&
                        line.original->amount == wanted;
    return stated ? MatchRule::converted : MatchRule::other_currency;
  }
  if (shown == wanted) return MatchRule::reference;
  const bool net = differs_by(shown, wanted, line.charges) || differs_by(shown, wanted, target.fee);
  return net ? MatchRule::net : MatchRule::other_amount;
}

MatchChoice choice_of(const MatchTarget& target, MatchRule rule) {
  return {target.kind, target.payment, target.refund, rule};
}

}  // namespace

Matcher::Matcher(std::vector<OpenLine> lines) : seen_(kSeenBits) {
  lines_.reserve(lines.size());
  for (OpenLine& one : lines) {
    lines_.push_back({std::move(one)});
    const auto line = static_cast<std::uint32_t>(lines_.size() - 1);
    index_words(line);
    const OpenLine& is = lines_.back().is;
    amounts_[amount_key(is.currency, is.amount, is.booked_on)].push_back(line);
  }
}

void Matcher::index_words(std::uint32_t line) {
  std::set<std::string> words;
  const OpenLine& is = lines_[line].is;
  for (const std::string* text : {&is.reference, &is.bank_reference, &is.text}) {
    add_words(words, *text, " ");
    add_words(words, *text, " ,;:()[]'\"=+?/.");
  }
  for (const std::string& word : words) {
    Lines& all = words_[word];
    if (all.size() <= kLinesOfWordMax) all.push_back(line);
    seen_[std::hash<std::string_view>()(word) % kSeenBits] = true;
  }
}

const Matcher::Lines* Matcher::lines_with(std::string_view word) const {
  if (!seen_[std::hash<std::string_view>()(word) % kSeenBits]) return nullptr;
  const auto found = words_.find(std::string(word));
  return found == words_.end() || found->second.size() > kLinesOfWordMax ? nullptr : &found->second;
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

void Matcher::add(const MatchTarget& target, std::string_view word, Strength strength,
                  std::size_t& kept) {
  const Lines* lines = lines_with(word);
  if (lines == nullptr) return;
  for (const std::uint32_t at : *lines) {
    Line& line = lines_[at];
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
  for (std::int64_t day = -1; day <= kNearDays; ++day) {
    const auto found =
        amounts_.find(amount_key(target.currency, target.amount, target.at.plus_ms(day * kDayMs)));
    if (found == amounts_.end()) continue;
    // A line with enough offers leaves the index, so the work is bounded.
    std::erase_if(found->second, [&](std::uint32_t at) {
      lines_[at].near.push_back(keep(target, kept));
      return lines_[at].near.size() > kOffersMax;
    });
  }
}

void Matcher::consider(const MatchTarget& target) {
  std::size_t kept = SIZE_MAX;
  for (const std::string& one : target.references) {
    if (const std::string word = compact(one); word.size() >= kWordMin)
      add(target, word, Strength::full, kept);
  }
  for (const std::string& one : target.standing) {
    if (const std::string word = compact(one); word.size() >= kWordMin)
      add(target, word, Strength::standing, kept);
  }
  for (const std::string& one : target.references) {
    for (const std::size_t length : kCuts) {
      if (one.size() <= length) continue;
      const std::string word = compact(std::string_view(one).substr(0, length));
      if (word.size() >= kCutMin) add(target, word, Strength::cut, kept);
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
    if (one.relation == MatchRule::other_currency || target.kind == MatchKind::fee) continue;
    const auto next = sum.add(target.amount);
    if (!next) return;
    sum = *next;
    all.push_back(one.target);
  }
  if (all.size() < 2 ||
      (sum != line.is.amount && !differs_by(sum, line.is.amount, line.is.charges)))
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

MatchDecision Matcher::offer(const Line& line,
                             const std::function<bool(const MatchTarget&)>& taken) const {
  MatchDecision out{line.is.key};
  const auto add_choice = [&](std::size_t target, MatchRule rule) {
    if (out.choices.size() < kOffersMax) out.choices.push_back(choice_of(targets_[target], rule));
  };
  for (const Candidate& one : line.candidates) {
    MatchRule rule = one.relation;
    if (is_exact(rule)) {
      rule = !targets_[one.target].settled ? MatchRule::unsettled
             : taken(targets_[one.target]) ? MatchRule::taken
             : line.claims.empty()         ? MatchRule::several
                                           : MatchRule::repeated;
    }
    add_choice(one.target, rule);
  }
  if (!out.choices.empty()) return out;
  for (const std::size_t target : line.near) {
    if (!taken(targets_[target])) add_choice(target, MatchRule::amount_and_day);
  }
  return out;
}

std::vector<MatchDecision> Matcher::decide(const std::function<bool(const MatchTarget&)>& taken) {
  std::vector<MatchDecision> out;
  std::map<std::size_t, std::vector<Line*>> claims;  // by target
  std::map<std::size_t, std::vector<Line*>> parts;
  for (Line& line : lines_) {
    claim(line);
    for (const std::size_t target : line.claims) claims[target].push_back(&line);
    const bool may_be_part = line.claims.empty() && line.candidates.size() == 1 &&
                             line.candidates[0].strength == Strength::full &&
                             line.candidates[0].relation == MatchRule::other_amount;
    if (may_be_part) parts[line.candidates[0].target].push_back(&line);
  }
  const auto is_free = [&](std::size_t target) {
    return targets_[target].settled && !taken(targets_[target]);
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
    Amount sum;
    for (const Line* line : lines)
      sum = sum.add(line->is.amount).has_value() ? sum + line->is.amount : sum;
    if (sum != targets_[target].amount) continue;
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
