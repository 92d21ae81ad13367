// The search index of beneficiaries: the table beneficiary_terms, which has each word that a live
// beneficiary is found by, and each of its tags (docs/contract.md#search).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "store/lists/key_walk.h"
#include "store/write_tx.h"

namespace coffer::store {

/// Terms of `search` (domain/parties/beneficiary.h, search_text) and of tags, sorted, each once.
std::vector<std::string> terms_of(std::string_view search, std::span<const std::string> tags);
/// Makes the stored terms of a beneficiary those of `now`, where they were those of `before`.
void put_terms(WriteTx& tx, const Tenant& tenant, std::int64_t beneficiary,
               std::span<const std::string> before, std::span<const std::string> now);

/// What a list is searched by.
struct TermsWanted {
  /// As search_words() gives them: each begins a word of what is found. Without any, nothing is.
  std::optional<std::vector<std::string>> words;
  std::optional<std::string> tag;  // exact
};

/// The sets of keys that the index has for what is wanted, one for each condition.
struct TermSets {
  KeySets sets;
  /// Words that too many different words begin with: what has them is judged row by row.
  std::vector<std::string> judged;
};
/// Of the beneficiaries of some tenants. Spends what it reads: at most 3,300 index entries. While
/// `db` lives.
TermSets term_sets(Connection& db, const KeyWalk& walk, RowBudget& budget,
                   std::span<const std::int64_t> tenants, const TermsWanted& wanted);

}  // namespace coffer::store
