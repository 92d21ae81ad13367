// The field readers of a request: the first line is a form or query, the rest a body whose members
// `a`, `b` and so on are read as every kind. Each read returns a valid value, or an error that
// names the member.
#include "api/json/fields.h"

#include "api/identity/form.h"
#include "domain/payments/payment.h"
#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

using namespace api;
using http::JsonValue;

/// Reads with `run`. If it fails, and only then, there is an error under the member's name.
template <class Run>
void reads(const JsonValue& object, std::string_view name, const Run& run) {
  for (const Presence presence : {required, optional}) {
    ValidationErrors errors;
    Fields fields(object, errors, "p.");
    const bool was_empty = errors.empty();
    const bool there = run(fields, presence);
    HOLDS(!there || errors.empty());
    HOLDS(there || errors.names("p." + std::string(name)) || !was_empty || presence == optional);
    if (errors.empty()) continue;
    const int status = errors.problem().status();
    HOLDS(status == 400 || status == 404 || status == 422);
  }
}

void check_member(const JsonValue& object, std::string_view name) {
  reads(object, name, [&](Fields& fields, Presence presence) {
    const auto text = fields.text(name, presence, 20);
    HOLDS(!text || text->size() <= 20);
    HOLDS(!text || presence == optional || text->find_first_not_of(" \t\r\n") != std::string::npos);
    return text.has_value();
  });
  reads(object, name, [&](Fields& fields, Presence presence) {
    const auto amount = fields.amount(name, presence);
    HOLDS(!amount || amount->is_positive());
    return amount.has_value();
  });
  reads(object, name, [&](Fields& fields, Presence presence) {
    const auto number = fields.integer(name, presence, -3, 1'000);
    HOLDS(!number || (*number >= -3 && *number <= 1'000));
    return number.has_value();
  });
  reads(object, name, [&](Fields& fields, Presence presence) {
    return fields.boolean(name, presence).has_value();
  });
  reads(object, name, [&](Fields& fields, Presence presence) {
    const auto code = fields.asset_code(name, presence);
    HOLDS(!code || !code->value().empty());
    return code.has_value();
  });
  reads(object, name, [&](Fields& fields, Presence presence) {
    return fields.id<WalletId>(name, presence).has_value();
  });
  reads(object, name, [&](Fields& fields, Presence presence) {
    return fields.object(name, presence) != nullptr;
  });
  reads(object, name,
        [&](Fields& fields, Presence presence) { return fields.array(name, presence) != nullptr; });
  Fields fields(object);
  const auto reference = fields.reference(name);
  HOLDS(!reference || is_reference(*reference));
}

void check_body(std::string_view text) {
  const auto body = http::parse_json(text);
  if (!body) return;
  for (const char* name : {"a", "b", "c"}) check_member(*body, name);
  Fields fields(*body);
  for (const char* name : {"a", "b", "c"}) fields.find(name);  // so that they count as known
  fields.reject_unknown();
  const auto* members = body->object();
  bool unknown = members == nullptr;
  if (members != nullptr) {
    for (const auto& [name, value] : *members)
      unknown = unknown || (name != "a" && name != "b" && name != "c");
  }
  HOLDS(unknown == !fields.errors().empty());
}

void check_query(std::string_view text) {
  http::Request request;
  const auto form = FormBody::parse(text);
  const auto value = form ? form->value("a") : std::nullopt;
  if (value) request.query.emplace_back("a", *value);
  QueryFields query(request);
  const auto time = query.time("a");
  if (time) {
    const auto again = Timestamp::parse(time->to_string());
    HOLDS(again && *again == *time);
  }
  static_cast<void>(query.asset_code("a"));
  static_cast<void>(query.id<WalletId>("a"));
  http::Request limited;
  if (value) limited.query.emplace_back("limit", *value);
  const int limit = QueryFields(limited).limit();
  HOLDS(limit >= 1 && limit <= 100);
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [line, body] = coffer::fuzz::split(coffer::fuzz::text_of(data, size), '\n');
  coffer::fuzz::check_query(line);
  coffer::fuzz::check_body(body);
  return 0;
}
