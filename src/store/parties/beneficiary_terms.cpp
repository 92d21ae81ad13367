#include "store/parties/beneficiary_terms.h"

#include <algorithm>
#include <iterator>

#include "domain/parties/search_words.h"

namespace coffer::store {
namespace {

constexpr const char* kInsertBeneficiaryTerm =
    "INSERT INTO beneficiary_terms (tenant, term, beneficiary) VALUES (?, ?, ?)";
constexpr const char* kDelete =
    "DELETE FROM beneficiary_terms WHERE tenant = ? AND term = ? AND beneficiary = ?";
// One lookup per distinct term.
constexpr const char* kDifferentTerms =
    "WITH RECURSIVE found (term) AS ("
    " SELECT min(term) FROM beneficiary_terms WHERE tenant = ?1 AND term >= ?2 AND term < ?3"
    " UNION ALL SELECT (SELECT min(t.term) FROM beneficiary_terms t WHERE t.tenant = ?1"
    "  AND t.term > found.term AND t.term < ?3) FROM found WHERE found.term IS NOT NULL)"
    " SELECT term FROM found WHERE term IS NOT NULL LIMIT ?4";
constexpr const char* kKeysOfTerms =
    "SELECT beneficiary FROM beneficiary_terms WHERE tenant = ?1 AND term >= ?2 AND term < ?3"
    " LIMIT ?4";
constexpr KeyIndex kOfTerm =
    COFFER_KEY_INDEX("beneficiary", "beneficiary_terms", "tenant = ?3 AND term = ?4");

// A word that begins at most this many distinct terms is read along all of these terms at once.
constexpr std::int64_t kTermsMax = 32;
// Otherwise, up to this many of their beneficiaries are read at once and sorted.
constexpr std::int64_t kKeysMax = 500;
// Maximum number of words of a search that use the index; further words are checked per row.
constexpr std::size_t kLookUpsMax = 6;

// Sorts after every text that begins with a term: the last code point, which occurs in no word.
constexpr std::string_view kLast = "\xf4\x8f\xbf\xbf";

std::string tag_term(std::string_view tag) { return "#" + std::string(tag); }

/// The keys whose terms begin with `word`; nullptr if there are too many.
std::unique_ptr<KeySet> set_of(Connection& db, const KeyWalk& walk, RowBudget& budget,
                               std::int64_t tenant, const std::string& word) {
  const std::string end = word + std::string(kLast);
  std::vector<std::string> terms;
  {
    Query query(db, kDifferentTerms, tenant, word, end, kTermsMax + 1);
    while (query.step()) terms.push_back(query.text(0));
  }
  budget.spend(static_cast<std::int64_t>(terms.size()) + 1);
  if (terms.empty()) return walk.known({});
  if (terms.size() <= static_cast<std::size_t>(kTermsMax)) {
    KeySets each;
    for (const std::string& term : terms) each.push_back(walk.of(kOfTerm, tenant, term));
    return walk.any(std::move(each));
  }
  std::vector<std::int64_t> keys = integers(db, kKeysOfTerms, tenant, word, end, kKeysMax + 1);
  budget.spend(static_cast<std::int64_t>(keys.size()));
  if (keys.size() > static_cast<std::size_t>(kKeysMax)) return nullptr;
  return walk.known(std::move(keys));
}

/// The same set for several tenants.
std::unique_ptr<KeySet> set_of(Connection& db, const KeyWalk& walk, RowBudget& budget,
                               std::span<const std::int64_t> tenants, const std::string& word) {
  KeySets each;
  for (const std::int64_t tenant : tenants) {
    each.push_back(set_of(db, walk, budget, tenant, word));
    if (!each.back()) return nullptr;
  }
  return walk.any(std::move(each));
}

}  // namespace

std::vector<std::string> terms_of(std::string_view search, std::span<const std::string> tags) {
  std::vector<std::string> out = search_words(search);
  for (const std::string& tag : tags) out.push_back(tag_term(tag));
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void put_terms(WriteTx& tx, const Tenant& tenant, std::int64_t beneficiary,
               std::span<const std::string> before, std::span<const std::string> now) {
  std::vector<std::string> gone, added;
  std::set_difference(before.begin(), before.end(), now.begin(), now.end(),
                      std::back_inserter(gone));
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                      std::back_inserter(added));
  for (const std::string& term : gone) tx.db().run(kDelete, tenant.key, term, beneficiary);
  for (const std::string& term : added)
    tx.db().run(kInsertBeneficiaryTerm, tenant.key, term, beneficiary);
}

TermSets term_sets(Connection& db, const KeyWalk& walk, RowBudget& budget,
                   std::span<const std::int64_t> tenants, const TermsWanted& wanted) {
  TermSets out;
  if (wanted.tag) {
    KeySets each;
    for (const std::int64_t tenant : tenants) {
      each.push_back(walk.of(kOfTerm, tenant, tag_term(*wanted.tag)));
    }
    out.sets.push_back(walk.any(std::move(each)));
  }
  if (!wanted.words) return out;
  if (wanted.words->empty()) out.sets.push_back(walk.known({}));
  std::size_t looked_up = 0;
  for (const std::string& word : *wanted.words) {
    looked_up += tenants.size();
    auto set = looked_up > kLookUpsMax ? nullptr : set_of(db, walk, budget, tenants, word);
    if (set) {
      out.sets.push_back(std::move(set));
    } else {
      out.judged.push_back(word);
    }
  }
  return out;
}

}  // namespace coffer::store
