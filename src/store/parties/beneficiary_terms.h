// The search index of beneficiaries. The table beneficiary_terms contains each searchable word and
// each tag of every beneficiary that is not archived (docs/contract.md#search).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "store/commits/write_tx.h"
#include "store/rows/key_walk.h"

namespace coffer::store {

/// Terms of `search` (domain/parties/beneficiary.h, search_text) and of tags, sorted and unique.
std::vector<std::string> terms_of(std::string_view search, std::span<const std::string> tags);
/// Changes the stored terms of a beneficiary from those of `before` to those of `now`.
void put_terms(WriteTx& tx, const Tenant& tenant, std::int64_t beneficiary,
               std::span<const std::string> before, std::span<const std::string> now);

/// The search conditions of a list.
struct TermsWanted {
  /// From search_words(): each must begin a word of a match. An empty list matches nothing.
  std::optional<std::vector<std::string>> words;
  std::optional<std::string> tag;  // exact
};

/// The filters for the beneficiaries of some tenants. A word that begins too many different indexed
/// words has none. Spends at most 3,300 rows. Valid while `db` exists.
std::vector<KeySources> term_filters(Connection& db, KeyWalk& walk,
                                     std::span<const std::int64_t> tenants,
                                     const TermsWanted& wanted);

}  // namespace coffer::store
