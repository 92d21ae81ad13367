// The result of a check of `coffer doctor`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "domain/tables/terms.h"

namespace coffer::cli {

/// `warning`: it works now, but may fail later or is less safe than possible. `failed`: it does not
/// work.
enum class Grade { ok, warning, failed };

}  // namespace coffer::cli

template <>
struct coffer::Terms<coffer::cli::Grade> {
  static constexpr auto rows = std::to_array<Term>({{"ok"}, {"warning"}, {"failed"}});
};

namespace coffer::cli {

struct Finding {
  std::string check;
  Grade grade = Grade::ok;
  std::string found;
  std::string remedy = {};  // one sentence; empty if there is nothing to do
};
using Findings = std::vector<Finding>;

inline Finding good(std::string check, std::string found) {
  return {std::move(check), Grade::ok, std::move(found)};
}
inline Finding warning(std::string check, std::string found, std::string remedy) {
  return {std::move(check), Grade::warning, std::move(found), std::move(remedy)};
}
inline Finding failed(std::string check, std::string found, std::string remedy) {
  return {std::move(check), Grade::failed, std::move(found), std::move(remedy)};
}

}  // namespace coffer::cli
