#include "flows/operations/export.h"

#include <nlohmann/json.hpp>

#include "store/operations/export.h"

namespace coffer::flows {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kShowEvery = 4'096;

Json json_of(store::ExportKind kind, const store::ExportValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr && kind == store::ExportKind::json) return Json::parse(*text);
  return std::visit([](const auto& held) { return Json(held); }, value);
}

std::string line_of(const store::ExportNoun& noun, const std::vector<store::ExportValue>& values) {
  Json out = Json::object();
  out["type"] = noun.type;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[noun.columns[i].name] = json_of(noun.columns[i].kind, values[i]);
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> export_everything(const std::string& database,
                                                                    const ExportSink& sink) {
  std::vector<std::pair<std::string, std::int64_t>> counted;
  store::ExportReader reader(database);
  for (const store::ExportNoun& noun : store::export_nouns()) {
    const std::int64_t total = reader.count(noun);
    std::int64_t done = 0;
    reader.each(noun, [&](const std::vector<store::ExportValue>& values) {
      if (done++ % kShowEvery == 0) sink.progress({noun.type, done, total});
      sink.line(line_of(noun, values));
    });
    counted.emplace_back(noun.type, done);
  }
  return counted;
}

}  // namespace coffer::flows
