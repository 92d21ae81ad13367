#include "cli/answer.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "cli/exit_code.h"

using namespace coffer;
using namespace coffer::cli;

namespace {

struct Printed {
  std::ostringstream out;
  std::ostringstream err;
  Console console(bool terminal = false, bool colour = false) {
    return {out, err, terminal, terminal, colour};
  }
};

const Answer kTwo = {
    .records = {{{"id", "1"}, {"walletName", "Müller"}, {"balances", std::vector<Record>()}},
                {{"id", "22"},
                 {"walletName", "b"},
                 {"balances", std::vector<Record>{{{"assetCode", "USDC"}, {"balance", "1.00"}},
                                                  {{"assetCode", "XAF"}, {"balance", "3"}}}}}},
    .list = true};

}  // namespace

TEST_CASE("a list is a table whose columns line up", "[cli]") {
  Printed printed;
  print_answer(printed.console(), kTwo, false);
  CHECK(printed.out.str() ==
        "ID  WALLET NAME  BALANCES\n"
        "1   Müller       -\n"
        "22  b            USDC 1.00, XAF 3\n");
}

TEST_CASE("a table shows the columns it is told to, JSON shows all", "[cli]") {
  Answer answer = kTwo;
  answer.columns = {"id"};
  Printed text;
  print_answer(text.console(), answer, false);
  CHECK(text.out.str() == "ID\n1\n22\n");
  Printed json;
  print_answer(json.console(), answer, true);
  CHECK(json.out.str() ==
        R"([{"id":"1","walletName":"Müller","balances":[]},)"
        R"({"id":"22","walletName":"b","balances":[{"assetCode":"USDC","balance":"1.00"},)"
        R"({"assetCode":"XAF","balance":"3"}]}])"
        "\n");
}

TEST_CASE("colours are for terminals that want them", "[cli]") {
  const auto first_byte = [](bool terminal, bool colour) {
    Printed printed;
    print_answer(printed.console(terminal, colour), kTwo, false);
    return printed.out.str().at(0);
  };
  CHECK(first_byte(true, true) == '\x1b');
  CHECK(first_byte(true, false) == 'I');
  CHECK(first_byte(false, true) == 'I');
}

TEST_CASE("one record is lines for people and an object for programs", "[cli]") {
  const Answer answer = {.records = {{{"clientId", "app_1"},
                                      {"decimals", 7},
                                      {"ownAccount", true},
                                      {"secretSeed", Secret()},
                                      {"apiKey", Secret("ak_1")},
                                      {"reason", std::optional<std::string>()}}},
                         .note = "keep them",
                         .exit_code = 3};
  Printed text;
  CHECK(print_answer(text.console(), answer, false) == 3);
  CHECK(text.out.str() ==
        "client id    app_1\ndecimals     7\nown account  yes\n"
        "secret seed  -\napi key      ak_1\nreason       -\n");
  CHECK(text.err.str() == "keep them\n");
  Printed json;
  CHECK(print_answer(json.console(), answer, true) == 3);
  CHECK(json.out.str() == R"({"clientId":"app_1","decimals":7,"ownAccount":true,"secretSeed":null,)"
                          R"("apiKey":"ak_1","reason":null})"
                          "\n");
  CHECK(json.err.str().empty());
}

TEST_CASE("an empty list is an empty array, and words for people", "[cli]") {
  Printed json;
  print_answer(json.console(), {.list = true}, true);
  CHECK(json.out.str() == "[]\n");
  Printed text;
  print_answer(text.console(), {.list = true}, false);
  CHECK(text.out.str().empty());
  CHECK(text.err.str() == "none\n");
}

TEST_CASE("text from outside cannot drive the terminal", "[cli]") {
  CHECK(printable("a\x1b[2Jb\nc\x7f"
                  "d") == "a?[2Jb?c?d");
  CHECK(printable("\xc2\x9b"
                  "31m") == "?31m");  // CSI as one C1 control
  CHECK(printable("Grüße, ЖЗ, 北京") == "Grüße, ЖЗ, 北京");

  const Answer hostile = {.records = {{{"name", "\x1b[31m\xc2\x9b"}}}, .list = true};
  for (const bool json : {false, true}) {
    Printed printed;
    print_answer(printed.console(true, false), hostile, json);
    CHECK(printed.out.str().find('\x1b') == std::string::npos);
    CHECK(printed.out.str().find('\x9b') == std::string::npos);
  }
}

TEST_CASE("bytes that are no UTF-8 do not break JSON", "[cli]") {
  CHECK(to_json({{"name", "\xff"}}, false) == "{\"name\":\"\xef\xbf\xbd\"}");
}

TEST_CASE("an error line says what, and what to do", "[cli]") {
  Printed printed;
  const Problem missing(Slug::not_found, "There is no such wallet.");
  CHECK(print_problem(printed.console(), missing, "coffer wallet list shows what there is") ==
        exit_code::kFailed);
  CHECK(printed.err.str() ==
        "coffer: there is no such wallet; coffer wallet list shows what there is\n");
}

TEST_CASE("faults of fields follow on lines of their own, unless they only repeat", "[cli]") {
  Printed printed;
  CHECK(print_problem(printed.console(),
                      Problem(Slug::validation_failed, "The public key is not valid.",
                              {{"publicKey", "must be a G... StrKey"}}),
                      {}) == exit_code::kUsage);
  CHECK(printed.err.str() ==
        "coffer: the public key is not valid\n  publicKey: must be a G... StrKey\n");
  Printed repeated;
  print_problem(repeated.console(),
                Problem(Slug::validation_failed, "code must be short", {{"code", "must be short"}}),
                {});
  CHECK(repeated.err.str() == "coffer: code must be short\n");
}

TEST_CASE("the exit code tells busy and permission from failure", "[cli]") {
  Printed printed;
  const auto code = [&](Slug slug) {
    return print_problem(printed.console(), Problem(slug, "x"), {});
  };
  CHECK(code(Slug::overloaded) == exit_code::kBusy);
  CHECK(code(Slug::forbidden) == exit_code::kPermission);
  CHECK(code(Slug::malformed_request) == exit_code::kUsage);
  CHECK(code(Slug::conflict) == exit_code::kFailed);
  CHECK(code(Slug::provider_timeout) == exit_code::kUnreachable);
}
