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
