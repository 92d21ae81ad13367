#include "cli/webhooks/event_line.h"

#include <nlohmann/json.hpp>

namespace coffer::cli {
namespace {

std::string text_in(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string amount_in(const nlohmann::json& data) {
  const auto legs = data.find("legs");
  if (legs != data.end() && legs->is_array())
    return std::to_string(legs->size()) + (legs->size() == 1 ? " leg" : " legs");
  for (const auto* side : {"sending", "receiving"}) {
    const std::string prefix(side);
    const std::string amount = text_in(data, (prefix + "Amount").c_str());
    if (!amount.empty()) return amount + " " + text_in(data, (prefix + "AssetCode").c_str());
  }
  return {};
}

}  // namespace

std::optional<EventLine> event_line(std::string_view body) {
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto data = json.find("data");
  const auto sequence = json.find("sequence");
  if (data == json.end() || !data->is_object()) return std::nullopt;
  if (sequence == json.end() || !sequence->is_number_integer()) return std::nullopt;
  EventLine line;
  line.id = text_in(json, "id");
  line.type = text_in(json, "type");
  line.at = text_in(json, "timestamp");
  line.sequence = sequence->get<std::int64_t>();
  line.subject = text_in(*data, "id");
  line.amount = amount_in(*data);
  line.test = json.contains("test");
  return line;
}

std::string time_of_day(const std::string& time) {
  constexpr std::size_t kDate = 11;  // 2026-01-31T
  constexpr std::size_t kTime = 12;  // 09:00:00.000
  return time.size() < kDate + kTime ? time : time.substr(kDate, kTime);
}

}  // namespace coffer::cli
