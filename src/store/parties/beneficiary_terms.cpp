#include "store/parties/beneficiary_terms.h"

#include <algorithm>
#include <iterator>

#include "domain/parties/search_words.h"

namespace coffer::store {
namespace {

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

/// Adds the beneficiaries of a tenant whose terms begin with `word`; false if there are too many.
bool add_word(KeySources& out, Connection& db, KeyWalk& walk, std::int64_t tenant,
              const std::string& word) {
  const std::string end = word + std::string(kLast);
  std::vector<std::string> terms;
  {
    Query query(db, kDifferentTerms, tenant, word, end, kTermsMax + 1);
    while (query.step()) terms.push_back(query.text(0));
  }
  walk.spend(static_cast<std::int64_t>(terms.size()) + 1);
  if (terms.size() <= static_cast<std::size_t>(kTermsMax)) {
    for (const std::string& term : terms) out.push_back(walk.along(kOfTerm, tenant, term));
    return true;
  }
  std::vector<std::int64_t> keys = integers(db, kKeysOfTerms, tenant, word, end, kKeysMax + 1);
  walk.spend(static_cast<std::int64_t>(keys.size()));
  if (keys.size() > static_cast<std::size_t>(kKeysMax)) return false;
  out.push_back(walk.known(std::move(keys)));
  return true;
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
    tx.db().run("INSERT INTO beneficiary_terms (tenant, term, beneficiary) VALUES (?, ?, ?)",
                tenant.key, term, beneficiary);
}

std::vector<KeySources> term_filters(Connection& db, KeyWalk& walk,
                                     std::span<const std::int64_t> tenants,
                                     const TermsWanted& wanted) {
  std::vector<KeySources> out;
  if (wanted.tag) {
    KeySources& of_tag = out.emplace_back();
    for (const std::int64_t tenant : tenants) {
      of_tag.push_back(walk.along(kOfTerm, tenant, tag_term(*wanted.tag)));
    }
  }
  if (!wanted.words) return out;
  if (wanted.words->empty()) out.emplace_back();
  const std::size_t words = tenants.empty() ? 0 : kLookUpsMax / tenants.size();
  for (std::size_t i = 0; i < std::min(words, wanted.words->size()); ++i) {
    KeySources of_word;
    const bool few = std::ranges::all_of(tenants, [&](std::int64_t tenant) {
      return add_word(of_word, db, walk, tenant, (*wanted.words)[i]);
    });
    if (few) out.push_back(std::move(of_word));
  }
  return out;
}

}  // namespace coffer::store
