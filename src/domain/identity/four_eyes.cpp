#include "domain/identity/four_eyes.h"

#include "base/text/join.h"
#include "base/text/next_part.h"

namespace coffer {
namespace {

constexpr std::string_view kOff = "off";
constexpr std::string_view kAll = "all";

}  // namespace

Result<FourEyes> FourEyes::parse(std::string_view text) {
  FourEyes out;
  if (text == kOff) return out;
  out.on_ = true;
  if (text == kAll) return out;
  std::string_view rest = text;
  do {
    const std::string_view item = next_part(rest, ',');
    const auto equals = item.find('=');
    const auto asset = AssetCode::parse(item.substr(0, equals));
    const bool complete = asset && equals != std::string_view::npos;
    const auto limit = complete ? parse_amount(item.substr(equals + 1), Amount::kScale)
                                : ParsedAmount{.amount = {}, .fault = AmountFault::not_a_number};
    if (limit.fault != AmountFault::none || !out.limits_.emplace(*asset, limit.amount).second) {
      return unexpected(Slug::validation_failed,
                        "\"" + std::string(text) +
                            "\" is not valid: write off, all, or one limit per asset, such as "
                            "USDC=1000,EURC=500");
    }
  } while (!rest.empty());
  return out;
}

std::string FourEyes::text() const {
  if (!on_) return std::string(kOff);
  if (limits_.empty()) return std::string(kAll);
  return join(limits_, ",", [](const auto& one) {
    return one.first.value() + "=" + one.second.to_string(Amount::kScale);
  });
}

std::vector<AssetCode> FourEyes::assets() const {
  std::vector<AssetCode> out;
  for (const auto& [asset, limit] : limits_) out.push_back(asset);
  return out;
}

bool FourEyes::waits(const std::optional<MovedAmount>& moved) const {
  if (!on_ || !moved) return on_;
  const auto limit = limits_.find(moved->asset);
  return limit == limits_.end() || moved->amount > limit->second;
}

}  // namespace coffer
