#include "api/json/fields.h"
#include "api/parties/bodies.h"
#include "api/pipeline/base_url.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "domain/parties/search_words.h"
#include "http/problem_json.h"

namespace coffer::api {
namespace {

constexpr std::size_t kBulkMax = 500;
// Large enough for a beneficiary with every text at its limit and escaped, and for a bulk request
// of typical ones.
constexpr std::size_t kBodyMax = 1024 * 1024;

Result<BeneficiaryId> beneficiary_id(const Call& call) {
  return existing(BeneficiaryId::parse(call.param("beneficiaryId")), "beneficiary");
}

flows::NewBeneficiary new_beneficiary(flows::BeneficiaryChange change) {
  return {std::move(change.detail),
          std::move(change.destinations).value_or(std::vector<Destination>())};
}

http::Response state_response(int status, const flows::BeneficiaryState& state) {
  return json_response(status,
                       beneficiary_json(state.beneficiary, state.destinations, Shown::whole));
}

Result<http::Response> list_beneficiaries(const Services& services, const Call& call) {
  QueryFields query(call.request);
  store::TermsWanted wanted;
  wanted.tag = query.text("tag");
  if (const auto q = query.text("q")) wanted.words = search_words(*q);
  COFFER_TRY(const PageRequest page, read_page(services, call, query, "beneficiaries"));
  return services.flows.read([&](store::Connection& db) {
    const auto found = store::list_beneficiaries(db, call.caller.tenant, wanted, page.at);
    return page_response(page, found, [&](const store::BeneficiaryRow& row) {
      return beneficiary_json(row, store::destinations_of(db, row.key), Shown::masked);
    });
  });
}

Result<http::Response> create_beneficiary(const Services& services, const Call& call) {
  ValidationErrors errors;
  auto change = read_beneficiary(*call.body, flows::beneficiary_rules(services.flows), errors);
  COFFER_TRY_VOID(errors.check());
  COFFER_TRY(const auto state, flows::create_beneficiary(services.flows, call.caller.tenant,
                                                         new_beneficiary(std::move(change))));
  return state_response(201, state);
}

Result<http::Response> read_one(const Services& services, const Call& call) {
  COFFER_TRY(const BeneficiaryId id, beneficiary_id(call));
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    COFFER_TRY(auto row, flows::live_beneficiary(db, call.caller.tenant, id));
    auto destinations = store::destinations_of(db, row.key);
    return state_response(200, {std::move(row), std::move(destinations)});
  });
}

/// Replaces the beneficiary by what `body_for` makes of its present state.
template <class BodyFor>
Result<http::Response> revise(const Services& services, const Call& call, BodyFor body_for,
                              bool removes_destinations) {
  COFFER_TRY(const BeneficiaryId id, beneficiary_id(call));
  const BeneficiaryRules rules = flows::beneficiary_rules(services.flows);
  const auto change =
      [&](const flows::BeneficiaryState& present) -> Result<flows::BeneficiaryChange> {
    COFFER_TRY(const http::JsonValue body, body_for(present.beneficiary.detail));
    ValidationErrors errors;
    auto next = read_beneficiary(body, rules, errors, present.destinations);
    COFFER_TRY_VOID(errors.check());
    if (!next.destinations && removes_destinations) next.destinations.emplace();
    return next;
  };
  COFFER_TRY(const auto state,
             flows::revise_beneficiary(services.flows, call.caller.tenant, id, change));
  return state_response(200, state);
}

Result<http::Response> replace_beneficiary(const Services& services, const Call& call) {
  // The body is the full intended state, so absent destinations are removed.
  const auto as_sent = [&](const Beneficiary&) -> Result<http::JsonValue> { return *call.body; };
  return revise(services, call, as_sent, true);
}

Result<http::Response> update_beneficiary(const Services& services, const Call& call) {
  COFFER_TRY_VOID(Fields(*call.body).check());
  const auto merged = [&](const Beneficiary& present) -> Result<http::JsonValue> {
    COFFER_TRY(auto target, http::parse_json(writable_json(present).dump()));
    return merge_patch(std::move(target), *call.body);
  };
  const http::JsonValue* destinations = call.body->find("paymentDestinations");
  return revise(services, call, merged, destinations != nullptr && destinations->is_null());
}

Result<http::Response> delete_beneficiary(const Services& services, const Call& call) {
  COFFER_TRY(const BeneficiaryId id, beneficiary_id(call));
  COFFER_TRY_VOID(flows::archive_beneficiary(services.flows, call.caller.tenant, id));
  return empty_response();
}

/// The problem of a row, in the format of all problems.
Json problem_member(const Services& services, const Problem& problem, const Call& call) {
  return Json::parse(http::problem_response(problem, {}, call.request.request_id,
                                            base_url(services, &call.request))
                         .body);
}

Result<http::Response> create_many(const Services& services, const Call& call) {
  Fields fields(*call.body);
  const auto* rows = fields.array("beneficiaries", required);
  if (rows != nullptr && (rows->empty() || rows->size() > kBulkMax)) {
    fields.add_error(Slug::malformed_request, "beneficiaries",
                     "must have 1 to " + std::to_string(kBulkMax) + " beneficiaries");
  }
  COFFER_TRY_VOID(fields.check());
  const BeneficiaryRules rules = flows::beneficiary_rules(services.flows);
  std::vector<flows::NewBeneficiary> good;
  std::vector<std::optional<Problem>> rejections;  // per row
  for (const http::JsonValue& row : *rows) {
    ValidationErrors row_faults;
    auto change = read_beneficiary(row, rules, row_faults);
    rejections.push_back(row_faults.empty() ? std::nullopt : std::optional(row_faults.problem()));
    if (row_faults.empty()) good.push_back(new_beneficiary(std::move(change)));
  }
  const auto stored = flows::create_beneficiaries(services.flows, call.caller.tenant, good);
  auto next = stored.begin();
  Json results = Json::array();
  std::size_t created = 0;
  for (std::size_t i = 0; i < rejections.size(); ++i) {
    Json result{{"index", i}, {"status", "failed"}};
    if (rejections[i]) {
      result["problem"] = problem_member(services, *rejections[i], call);
    } else if (const auto& outcome = *next++; outcome) {
      result["status"] = "created";
      result["beneficiaryId"] = outcome->beneficiary.id.to_string();
      ++created;
    } else {
      result["problem"] = problem_member(services, outcome.error(), call);
    }
    results.push_back(std::move(result));
  }
  return json_response(200, {{"results", std::move(results)},
                             {"created", created},
                             {"failed", rejections.size() - created}});
}

}  // namespace

std::vector<Route> beneficiaries_routes() {
  constexpr RouteGroup kBeneficiaries{"Beneficiaries", Scope::beneficiaries_read,
                                      Scope::beneficiaries_write};
  constexpr std::string_view kOne = "/v1/beneficiaries/{beneficiaryId}";
  Route bulk =
      with_body(kBeneficiaries("POST", "/v1/beneficiaries/bulk", "createBeneficiaries",
                               "Create up to 500 beneficiaries independently of each other",
                               Lane::bulk, {{200, "BulkResult"}}, {}, create_many),
                "NewBeneficiaries", Body::json, kBodyMax);
  bulk.needs_storage = false;  // each row has its own problem
  return {
      with_query(
          kBeneficiaries("GET", "/v1/beneficiaries", "listBeneficiaries",
                         "List beneficiaries, with masked destinations", Lane::read,
                         {{200, "BeneficiaryList"}}, {}, list_beneficiaries),
          page_query(
              {{"tag", "Text", "Only beneficiaries with this tag"},
               {"q", "PersonalText",
                "Words that start with this text, in name, e-mail address or clientReference",
                false, Lane::search}})),
      with_body(kBeneficiaries("POST", "/v1/beneficiaries", "createBeneficiary",
                               "Create a beneficiary", Lane::money, {{201, "Beneficiary"}},
                               {Slug::validation_failed, Slug::quota_exceeded}, create_beneficiary),
                "NewBeneficiary", Body::json, kBodyMax),
      std::move(bulk),
      kBeneficiaries("GET", kOne, "getBeneficiary", "Read a beneficiary", Lane::read,
                     {{200, "Beneficiary"}}, {Slug::not_found}, read_one),
      with_body(kBeneficiaries("PATCH", kOne, "updateBeneficiary",
                               "Change a beneficiary (JSON Merge Patch)", Lane::money,
                               {{200, "Beneficiary"}},
                               {Slug::not_found, Slug::validation_failed, Slug::quota_exceeded},
                               update_beneficiary),
                "BeneficiaryPatch", Body::json, kBodyMax),
      with_body(kBeneficiaries("PUT", kOne, "replaceBeneficiary",
                               "Replace a beneficiary: details, destinations, addresses and tags",
                               Lane::money, {{200, "Beneficiary"}},
                               {Slug::not_found, Slug::validation_failed, Slug::quota_exceeded},
                               replace_beneficiary),
                "NewBeneficiary", Body::json, kBodyMax),
      kBeneficiaries("DELETE", kOne, "deleteBeneficiary", "Archive a beneficiary", Lane::money,
                     {{204}}, {Slug::not_found}, delete_beneficiary)};
}

}  // namespace coffer::api
