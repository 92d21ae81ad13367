// The rules of all forms of the admin page, over the whole table of commands: each argument has a
// label and each value words, a condition names what it depends on, and a problem names a field.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "base/text/ascii.h"
#include "base/text/next_part.h"
#include "cli/paths.h"
#include "support/unknown_id.h"
#include "unit/cli/admin_browser.h"

namespace forms_test {
namespace {

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;
using coffer::test::kUnknownId;

/// Whether a person reads the text as words: no flag, no enum, no placeholder.
bool is_in_words(const std::string& text) {
  static const std::set<std::string> kShort = {"ID",  "IBAN", "BIC",   "URL",    "CSV", "JSON",
                                               "SHA", "QR",   "MT940", "NDJSON", "ISO", "SWIFT"};
  if (text.empty() || text.find('_') != std::string::npos) return false;
  if (!ascii::is_upper(text.front()) && !ascii::is_digit(text.front())) return text == "coffer";
  std::string word;
  for (const char c : text + " ") {
    if (ascii::is_letter_or_digit(c)) {
      word += c;
      continue;
    }
    const bool shouts = word.size() > 1 && std::ranges::any_of(word, ascii::is_upper) &&
                        std::ranges::none_of(word, ascii::is_lower);
    const bool is_code = std::ranges::any_of(word, ascii::is_digit);
    if (shouts && !is_code && !kShort.contains(word)) return false;
    word.clear();
  }
  return true;
}

/// Calls `visit` for each argument of each command with a form.
template <class Visit>
void each_field(const Visit& visit) {
  for (const Command& command : commands()) {
    if (!is_for_the_page(command)) continue;
    for (const Argument& argument : command.arguments) {
      if (names_place(argument)) continue;
      INFO(command.path << " " << argument.spelled());
      visit(command, argument);
    }
  }
}

std::string path_of(const Command& command) {
  std::string path(command.path);
  std::ranges::replace(path, ' ', '/');
  return "/admin/api/run/" + path;
}

/// A value that fits the form of each required argument.
Json values_for(const Command& command) {
  Json body = Json::object();
  for (const Argument& argument : command.arguments) {
    if (!argument.required) continue;
    const auto values = offered(argument);
    const bool is_id = !argument.hint.empty() || argument.placeholder == "ID";
    body[std::string(argument.name)] = !values.empty() ? values.front().first
                                       : is_id         ? std::string(kUnknownId)
                                                       : "1";
  }
  return body;
}

}  // namespace

TEST_CASE("forms: each argument has a label in words, and each value words", "[cli][forms]") {
  std::size_t labels = 0;
  std::size_t values = 0;
  each_field([&](const Command&, const Argument& argument) {
    INFO(label_of(argument));
    CHECK(is_in_words(label_of(argument)));
    ++labels;
    std::set<std::string> seen;
    for (const auto& [code, words] : offered(argument)) {
      INFO(code << ": " << words);
      CHECK(is_in_words(words));
      CHECK(seen.insert(words).second);
      ++values;
    }
  });
  CHECK(labels > 250);
  CHECK(values > 200);
  CHECK_FALSE(is_in_words("OFF_RAMP"));
  CHECK_FALSE(is_in_words("fee-bps"));
  CHECK_FALSE(is_in_words("NAME"));
}

TEST_CASE("forms: what has a list is chosen from it", "[cli][forms]") {
  std::size_t chosen = 0;
  each_field([&](const Command&, const Argument& argument) {
    const std::string_view list = offered_by(argument);
    if (!list.empty()) {
      const Command* found = find_command(list);
      REQUIRE(found != nullptr);
      CHECK(found->role == OperatorRole::viewer);
      CHECK(is_for_the_page(*found));
      ++chosen;
    }
    // An asset, country, currency or event type is never typed.
    for (const std::string_view noun : {"Asset", "Country", "Currency", "Event type"}) {
      const std::string label = label_of(argument);
      if (label != noun && !label.starts_with(std::string(noun) + " to")) continue;
      CHECK((!list.empty() || !offered(argument).empty()));
    }
  });
  CHECK(chosen > 80);
}

TEST_CASE("forms: the values of a field are values of the argument", "[cli][forms]") {
  each_field([&](const Command& command, const Argument& argument) {
    if (argument.among.empty() || argument.placeholder.find('|') != std::string_view::npos) return;
    if (command.partial && argument.is_positional()) return;  // an option would be missing
    for (const auto& [code, words] : offered(argument)) {
      Arguments given;
      const Json body = values_for(command);
      for (const auto& [name, value] : body.items()) given.values[name] = value;
      given.values[std::string(argument.name)] = code;
      CHECK(check_arguments(command, given));
    }
  });
}

TEST_CASE("forms: a condition names an argument before the field, and its values", "[cli][forms]") {
  std::size_t conditions = 0;
  each_field([&](const Command& command, const Argument& argument) {
    for (std::string_view rest = argument.when; !rest.empty();) {
      const std::string_view clause = next_part(rest, ',');
      const auto on =
          std::ranges::find(command.arguments, clause.substr(0, clause.find('=')), &Argument::name);
      REQUIRE(on != command.arguments.end());
      CHECK(&*on < &argument);
      // A hidden field sends nothing, so the command line cannot require it.
      CHECK_FALSE(argument.required);
      ++conditions;
      if (clause.find('=') == std::string_view::npos) continue;
      const auto values = offered(*on);
      for (const std::string& value : parts_of(clause.substr(clause.find('=') + 1), '|')) {
        CHECK(std::ranges::find(values, value, [](const auto& each) { return each.first; }) !=
              values.end());
      }
    }
  });
  CHECK(conditions > 30);
}

TEST_CASE("forms: a choice is narrowed by an argument before it", "[cli][forms]") {
  std::size_t narrowed = 0;
  each_field([&](const Command& command, const Argument& argument) {
    CHECK((argument.inside.empty() || !argument.like.empty()));
    CHECK((argument.only.empty() || argument.only.find('=') != std::string_view::npos));
    if (argument.like.empty()) return;
    const auto other = std::ranges::find(command.arguments, argument.like, &Argument::name);
    REQUIRE(other != command.arguments.end());
    CHECK(&*other < &argument);
    CHECK_FALSE(offered_by(*other).empty());
    CHECK_FALSE(offered_by(argument).empty());
    ++narrowed;
  });
  CHECK(narrowed >= 5);
}

TEST_CASE("forms: a command that sets a value starts with the present one", "[cli][forms]") {
  std::size_t tried = 0;
  for (const Command& command : commands()) {
    const std::string_view verb = command.path.substr(command.path.rfind(' ') + 1);
    if (verb != "set" && !verb.starts_with("set-") && command.present.empty()) continue;
    INFO(command.path);
    ++tried;
    const auto keys = std::ranges::count_if(command.arguments, [](const Argument& argument) {
      return argument.is_positional() && !offered_by(argument).empty();
    });
    const bool has_present = std::ranges::any_of(command.arguments, [](const Argument& argument) {
      return !argument.member.empty() && !argument.identifies;
    });
    CHECK(has_present);
    if (command.present.empty()) {
      CHECK(keys == 1);
      continue;
    }
    const Command* list = find_command(command.present);
    REQUIRE(list != nullptr);
    CHECK(list->role == OperatorRole::viewer);
    bool identified = false;
    for (const Argument& argument : command.arguments) {
      if (!argument.identifies) continue;
      identified = true;
      const std::string_view noun = offered_by(argument).substr(0, offered_by(argument).find(' '));
      const bool filters = std::ranges::any_of(list->arguments, [&](const Argument& each) {
        return each.name == argument.name || (!noun.empty() && each.name == noun);
      });
      CHECK((filters || !argument.member.empty()));
    }
    CHECK(identified);
  }
  CHECK(tried >= 10);
}

TEST_CASE("forms: the list of present values has them under the names of the table",
          "[cli][forms]") {
  Site site;
  const auto make = [&](const std::string& command, std::map<std::string, std::string> values) {
    const Ran ran = site.file.run(command, values);
    INFO(command << ran.err);
    REQUIRE(ran.code == 0);
    return ran.json();
  };
  for (const char* code : {"USDC", "EURC"}) make("asset add", {{"CODE", code}, {"name", code}});
  const std::string association = make("association create", {{"NAME", "Acme"}}).at("id");
  const std::string connector = make("connector add", kPayoutConnector).at("id");
  make("rate set", {{"SELL", "USDC"}, {"BUY", "EURC"}, {"RATE", "0.92"}});
  make("fee set", {{"ASSOCIATION", association},
                   {"CONNECTOR", connector},
                   {"TYPE", "B2C"},
                   {"fee-fixed", "0.25"}});
  make("limit set", {{"association", association}, {"asset", "USDC"}, {"per-day", "5"}});
  make("reconcile map",
       {{"NAME", "bank"}, {"columns", "bookingDate=Date,amount=Sum,currency==KES"}});
  std::size_t named = 0;
  for (const Command& command : commands()) {
    if (command.present.empty()) continue;
    std::map<std::string, std::string> filter;
    if (command.present == "association quotas") filter["association"] = association;
    if (command.present == "limit list") filter["association"] = association;
    const Json rows = make(std::string(command.present), filter);
    REQUIRE_FALSE(rows.empty());
    for (const Argument& argument : command.arguments) {
      if (argument.member.empty()) continue;
      INFO(command.path << " " << argument.spelled() << " " << rows.at(0).dump());
      CHECK(rows.at(0).contains(argument.member));
      ++named;
    }
  }
  CHECK(named > 20);
  const auto limits = [&](std::map<std::string, std::string> of) {
    return make("limit list", std::move(of)).size();
  };
  CHECK(limits({{"association", association}}) == 1);
  CHECK(limits({{"association", association}, {"environment", "production"}}) == 0);
  CHECK(limits({{"wallet", kUnknownId}}) == 0);
  CHECK(site.file.run("limit list", {{"environment", "sandbox"}}).code != 0);
}

TEST_CASE("forms: each field of a problem is the field of a form", "[cli][forms]") {
  std::size_t named = 0;
  each_field([&](const Command& command, const Argument& argument) {
    for (const std::string& member :
         {member_of(argument), "metadata." + member_of(argument), std::string(argument.name)}) {
      const Problem problem =
          at_arguments(command, Problem(Slug::validation_failed, "", {{member, "is wrong"}}));
      const auto first = std::ranges::find_if(command.arguments, [&](const Argument& each) {
        return member_of(each) == member_of(argument) || each.name == member;
      });
      CHECK(problem.fields[0].field == first->name);
      ++named;
    }
    const Problem spoken =
        at_arguments(command, Problem(Slug::malformed_request, argument.spelled() + " is wrong."));
    REQUIRE(spoken.fields.size() == 1);
    CHECK(spoken.fields[0].field == argument.name);
    CHECK(spoken.fields[0].message == "is wrong.");
    const std::string_view list = offered_by(argument);
    if (list.empty() || list.find(' ') != list.rfind(' ')) return;
    const std::string noun(list.substr(0, list.find(' ')));
    const Problem missing =
        at_arguments(command, Problem(Slug::not_found, "The " + noun + " was not found."));
    REQUIRE(missing.fields.size() == 1);
    CHECK(missing.fields[0].message == "was not found.");
  });
  CHECK(named > 750);
}

TEST_CASE("forms: a wrong value of any argument is reported at a field of the form",
          "[cli][admin][forms]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  std::size_t placed = 0;
  each_field([&](const Command& command, const Argument& argument) {
    if (command.calls_out || argument.kind == Argument::Kind::toggle) return;
    Json body = values_for(command);
    body[std::string(argument.name)] = "?,=" + std::string(300, 'x');
    const auto reply = browser.post(path_of(command), body);
    CHECK(reply.status != 500);
    if (reply.status < 400) return;
    const Json problem = Json::parse(reply.body);
    if (!problem.contains("errors")) return;
    for (const Json& error : problem.at("errors")) {
      const std::string field = error.at("field");
      INFO(field << ": " << error.at("message"));
      CHECK(std::ranges::find(command.arguments, field, &Argument::name) !=
            command.arguments.end());
      ++placed;
    }
  });
  CHECK(placed > 60);
}

}  // namespace forms_test
