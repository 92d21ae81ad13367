#include "cli/command_result.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "base/clock.h"
#include "base/platform/exit_code.h"

using namespace coffer;
using namespace coffer::cli;

namespace {

struct Printed {
  std::ostringstream out;
  std::ostringstream err;
  Console console(bool terminal = false, bool colour = false, int columns = 0) {
    return {out, err, terminal, terminal, colour, columns};
  }
};

const CommandResult kTwo = {
    .records = {{{"id", "1"}, {"walletName", "Müller"}, {"balances", std::vector<Record>()}},
                {{"id", "22"},
                 {"walletName", "b"},
                 {"balances", std::vector<Record>{{{"assetCode", "USDC"}, {"balance", "1.00"}},
                                                  {{"assetCode", "XAF"}, {"balance", "3"}}}}}},
    .list = true};

}  // namespace

TEST_CASE("labels are the words of the glossary, not always those of the key", "[cli]") {
  Printed printed;
  const Record record{{"countryIsoCode2", "KE"},
                      {"currencyIsoCode3", "KES"},
                      {"deadLetters", std::int64_t{3}},
                      {"walBytes", std::int64_t{2048}}};
  print_result(printed.console(), {.records = {record}}, false);
  CHECK(printed.out.str() ==
        "country            KE\ncurrency           KES\nfailed deliveries  3\nwrite-ahead log    "
        "2.0 KiB\n");
}

TEST_CASE("the text of a record has only its columns, the JSON all members", "[cli]") {
  const Record record{{"id", "1"}, {"problem", std::optional<std::string>()}};
  const CommandResult result = {.records = {record}, .columns = {"id"}};
  Printed text;
  print_result(text.console(), result, false);
  CHECK(text.out.str() == "id  1\n");
  Printed json;
  print_result(json.console(), result, true);
  CHECK(json.out.str() == "{\"id\":\"1\",\"problem\":null}\n");
}

TEST_CASE("an invalid ID leads to the list of IDs, like an unknown one", "[cli]") {
  Printed printed;
  const std::string detail = "Invalid ID \"x\": " + std::string(kNoUuid);
  print_problem(printed.console(), Problem(Slug::malformed_request, detail), "List IDs");
  print_problem(printed.console(), Problem(Slug::malformed_request, "Other."), "List IDs");
  CHECK(printed.err.str() ==
        "coffer: invalid ID \"x\": expected a UUID. List IDs.\ncoffer: other\n");
}

TEST_CASE("a record with only a table starts with its name", "[cli]") {
  const Record row{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}};
  const Record record{{"objects", std::vector<Record>{row}}};
  Printed printed;
  print_result(printed.console(), {.records = {record}}, false);
  CHECK(printed.out.str() == "objects\nA  B  C  D\n1  2  3  4\n");
}

TEST_CASE("an error has no capital behind the name of the program", "[cli]") {
  Printed printed;
  print_error(printed.console(), "The file is damaged. Restore a backup.");
  print_error(printed.console(), "IDs are UUIDs");
  CHECK(printed.err.str() ==
        "coffer: the file is damaged. Restore a backup.\ncoffer: IDs are UUIDs\n");
}

TEST_CASE("a list is a table with aligned columns", "[cli]") {
  Printed printed;
  print_result(printed.console(), kTwo, false);
  CHECK(printed.out.str() ==
        "ID  WALLET NAME  BALANCES\n"
        "1   Müller       -\n"
        "22  b            USDC 1.00, XAF 3\n");
}

TEST_CASE("a table shows selected columns, JSON shows all", "[cli]") {
  CommandResult result = kTwo;
  result.columns = {"id"};
  Printed text;
  print_result(text.console(), result, false);
  CHECK(text.out.str() == "ID\n1\n22\n");
  Printed json;
  print_result(json.console(), result, true);
  CHECK(json.out.str() ==
        R"([{"id":"1","walletName":"Müller","balances":[]},)"
        R"({"id":"22","walletName":"b","balances":[{"assetCode":"USDC","balance":"1.00"},)"
        R"({"assetCode":"XAF","balance":"3"}]}])"
        "\n");
}

TEST_CASE("a table fits the terminal: texts shrink first, IDs last, numbers never", "[cli]") {
  const std::string id = "0190a5a0-0000-7000-8000-00005f607182";
  const CommandResult wide = {.records = {{{"id", id},
                                           {"name", "Settlement and Clearing Partners of the East"},
                                           {"walletId", id},
                                           {"balance", "1000000.0000000"}}},
                              .list = true};
  const auto on = [&](int columns) {
    Printed printed;
    print_result(printed.console(true, false, columns), wide, false);
    return std::pair(printed.out.str(), printed.err.str());
  };
  CHECK(on(137) == std::pair("ID                                    "
                             "NAME                                          "
                             "WALLET ID                             BALANCE\n" +
                                 id + "  Settlement and Clearing Partners of the East  " + id +
                                 "  1000000.0000000\n",
                             std::string()));
  const std::string note = "Shortened to fit the terminal. --json prints all values.\n";
  CHECK(on(110) == std::pair("ID                                    NAME               "
                             "WALLET ID                             BALANCE\n" +
                                 id + "  Settlement and C\u2026  " + id + "  1000000.0000000\n",
                             note));
  CHECK(on(80) == std::pair("ID                                    NAME        WALLET ID      "
                            "BALANCE\n" +
                                id + "  Settlemen\u2026  \u202600005f607182  1000000.0000000\n",
                            note));
  CHECK(on(55).first ==
        "ID             NAME      WALLET ID      BALANCE\n"
        "\u202600005f607182  Settlem\u2026  \u202600005f607182  1000000.0000000\n");
}

TEST_CASE("on a narrow terminal, a table becomes lines with complete values", "[cli]") {
  const CommandResult wide = {
      .records = {{{"id", "1"}, {"amount", "1000000.0000000"}, {"hidden", "x"}},
                  {{"id", "2"}, {"amount", "2000000.0000000"}, {"hidden", "x"}}},
      .list = true,
      .columns = {"id", "amount"}};
  Printed printed;
  print_result(printed.console(true, false, 12), wide, false);
  CHECK(printed.out.str() ==
        "id      1\namount  1000000.0000000\n\nid      2\namount  2000000.0000000\n");
  CHECK(printed.err.str().empty());
}

TEST_CASE("an amount with its asset or currency is never cut", "[cli]") {
  const CommandResult result = {.records = {{{"amount", "USDC 819.9534567"},
                                             {"paid", "50000.00 KES"},
                                             {"name", "Settlements"}}},
                                .list = true};
  Printed printed;
  print_result(printed.console(true, false, 40), result, false);
  INFO(printed.out.str());
  CHECK(printed.out.str().find("USDC 819.9534567") != std::string::npos);
  CHECK(printed.out.str().find("50000.00 KES") != std::string::npos);
  CHECK(printed.out.str().find("Settlements") == std::string::npos);
}

TEST_CASE("a table in a pipe is complete at any terminal width", "[cli]") {
  const std::string name(300, 'x');
  Printed printed;
  print_result(printed.console(false, false, 40), {.records = {{{"name", name}}}, .list = true},
               false);
  CHECK(printed.out.str() == "NAME\n" + name + "\n");
}

TEST_CASE("wide characters count as two columns", "[cli]") {
  Printed printed;
  print_result(
      printed.console(),
      {.records = {{{"name", "\u5317\u4eac"}, {"n", 1}}, {{"name", "ab"}, {"n", 2}}}, .list = true},
      false);
  CHECK(printed.out.str() == "NAME  N\n\u5317\u4eac  1\nab    2\n");
}

TEST_CASE("sizes, durations and times are readable, and exact in JSON", "[cli]") {
  const CommandResult result = {.records = {{{"bytes", 4'508'877},
                                             {"databaseBytes", 1'536},
                                             {"tookMs", 1'320'000},
                                             {"uptimeSeconds", 90'000},
                                             {"createdAt", "2020-01-31T09:00:03.161Z"},
                                             {"format", "2020-01-31T09:00:03.161Z"},
                                             {"to", "elsewhere"}}}};
  Printed text;
  print_result(text.console(), result, false);
  CHECK(text.out.str() ==
        "size        4.3 MiB\n"
        "database    1.5 KiB\n"
        "took        22 min\n"
        "uptime      1 d 1 h\n"
        "created at  2020-01-31 09:00:03.161 UTC\n"
        "format      2020-01-31T09:00:03.161Z\n"
        "to          elsewhere\n");
  Printed json;
  print_result(json.console(), result, true);
  CHECK(json.out.str() ==
        R"({"bytes":4508877,"databaseBytes":1536,"tookMs":1320000,"uptimeSeconds":90000,)"
        R"("createdAt":"2020-01-31T09:00:03.161Z","format":"2020-01-31T09:00:03.161Z",)"
        R"("to":"elsewhere"})"
        "\n");
}

TEST_CASE("the distance from now is for terminals; pipes and steps have exact times", "[cli]") {
  const std::string at = SystemClock().now().plus_ms(-22 * 60'000 - 30'000).to_string();
  const std::string minute = at.substr(0, 10) + " " + at.substr(11, 5) + " UTC";
  const CommandResult list = {.records = {{{"at", at}}}, .list = true};
  const CommandResult one = {.records = {{{"createdAt", at}}}};
  const auto text = [&](const CommandResult& result, bool terminal) {
    Printed printed;
    print_result(printed.console(terminal), result, false);
    return printed.out.str();
  };
  CHECK(text(list, true) == "AT\n22 min ago\n");
  std::string exact = at;
  exact.replace(exact.find('T'), 1, " ").replace(exact.size() - 1, 1, " UTC");
  CHECK(text(list, false) == "AT\n" + exact + "\n");
  CHECK(text(one, true) == "created at  " + minute + " (22 min ago)\n");
  CHECK(text(one, false) == "created at  " + exact + "\n");
  const Record step = {
      {"status", "processing"}, {"at", "2020-01-31T09:00:03.161Z"}, {"c", 1}, {"d", 2}};
  const CommandResult story = {.records = {{{"timeline", std::vector<Record>{step}}}}};
  CHECK(text(story, true).find("2020-01-31 09:00:03.161 UTC") != std::string::npos);
}

TEST_CASE("a status has the colour of its meaning", "[cli]") {
  Printed printed;
  print_result(printed.console(true, true),
               {.records = {{{"name", "active"}, {"status", "active"}},
                            {{"name", "failed"}, {"status", "failed"}}},
                .list = true},
               false);
  CHECK(printed.out.str() ==
        "\x1b[1mNAME\x1b[0m    \x1b[1mSTATUS\x1b[0m\n"
        "active  \x1b[32mactive\x1b[0m\n"
        "failed  \x1b[31mfailed\x1b[0m\n");
}

TEST_CASE("colours are only for terminals that accept them", "[cli]") {
  const auto first_byte = [](bool terminal, bool colour) {
    Printed printed;
    print_result(printed.console(terminal, colour), kTwo, false);
    return printed.out.str().at(0);
  };
  CHECK(first_byte(true, true) == '\x1b');
  CHECK(first_byte(true, false) == 'I');
  CHECK(first_byte(false, true) == 'I');
}

TEST_CASE("one record is a list of lines, and an object in JSON", "[cli]") {
  const CommandResult result = {.records = {{{"clientId", "app_1"},
                                             {"decimals", 7},
                                             {"ownAccount", true},
                                             {"secretSeed", Secret()},
                                             {"apiKey", Secret("ak_1")},
                                             {"reason", std::optional<std::string>()}}},
                                .note = "keep them",
                                .exit_code = 3};
  Printed text;
  CHECK(print_result(text.console(), result, false) == 3);
  CHECK(text.out.str() ==
        "client id    app_1\ndecimals     7\nown account  yes\napi key      ak_1\n");
  CHECK(text.err.str() == "keep them\n");
  Printed json;
  CHECK(print_result(json.console(), result, true) == 3);
  CHECK(json.out.str() == R"({"clientId":"app_1","decimals":7,"ownAccount":true,"secretSeed":null,)"
                          R"("apiKey":"ak_1","reason":null})"
                          "\n");
  CHECK(json.err.str().empty());
}

TEST_CASE("an empty list is a message, and an empty array in JSON", "[cli]") {
  Printed json;
  print_result(json.console(), {.list = true}, true);
  CHECK(json.out.str() == "[]\n");
  Printed text;
  print_result(text.console(), {.list = true}, false);
  CHECK(text.out.str().empty());
  CHECK(text.err.str() == "Nothing found.\n");
}

TEST_CASE("a list in pages has its cursor in the JSON, and on standard error for people", "[cli]") {
  CommandResult page = {.records = {{{"id", "1"}}}, .list = true, .paged = true};
  const auto printed_as = [&](bool json) {
    Printed printed;
    print_result(printed.console(), page, json);
    return std::pair(printed.out.str(), printed.err.str());
  };
  CHECK(printed_as(true) ==
        std::pair<std::string, std::string>(R"({"data":[{"id":"1"}],"nextCursor":null})"
                                            "\n",
                                            ""));
  page.next_cursor = "17";
  CHECK(printed_as(true) ==
        std::pair<std::string, std::string>(R"({"data":[{"id":"1"}],"nextCursor":"17"})"
                                            "\n",
                                            ""));
  CHECK(printed_as(false) ==
        std::pair<std::string, std::string>("ID\n1\n", "next page: --cursor 17\n"));
}

TEST_CASE("a transaction ID is never cut; the record ID beside it is", "[cli]") {
  const CommandResult payments = {
      .records = {{{"id", "0190a5a0-0000-7000-8000-00005f607182"},
                   {"transactionId", "INV-2026-11-27-0000000000000000042"},
                   {"type", "p2p_beneficiary"},
                   {"status", "processing"},
                   {"sendingAmount", "1000000.00"},
                   {"sendingAssetCode", "USDC"},
                   {"environment", "production"},
                   {"association", "Kestrel Pay International Limited"},
                   {"createdAt", "2020-01-31T09:00:03.161Z"}}},
      .list = true};
  for (const int columns : {100, 120, 160}) {
    INFO(columns);
    Printed printed;
    print_result(printed.console(true, false, columns), payments, false);
    CHECK(printed.out.str().find("INV-2026-11-27-0000000000000000042") != std::string::npos);
    CHECK(printed.out.str().find("00005f607182") != std::string::npos);
  }
}

TEST_CASE("what needs attention is said in words", "[cli]") {
  const Record first{{"condition", "clock_wrong"}, {"summary", "clock not synchronised"}};
  const Record second{{"condition", "wallets_under_review"}, {"summary", "1 wallet under review"}};
  Printed printed;
  print_result(printed.console(),
               {.records = {{{"attention", std::vector<Record>{first, second}}}}}, false);
  CHECK(printed.out.str() == "needs attention  clock not synchronised; 1 wallet under review\n");
}

TEST_CASE("text from outside cannot control the terminal", "[cli]") {
  CHECK(printable("a\x1b[2Jb\nc\x7f"
                  "d") == "a?[2Jb?c?d");
  CHECK(printable("\xc2\x9b"
                  "31m") == "?31m");  // CSI as one C1 control
  CHECK(printable("Grüße, ЖЗ, 北京") == "Grüße, ЖЗ, 北京");
  CHECK(printable("sch\xe4ma \xff\xc2") == "sch?ma ??");  // bytes of a damaged file

  const CommandResult hostile = {.records = {{{"name", "\x1b[31m\xc2\x9b"}}}, .list = true};
  for (const bool json : {false, true}) {
    Printed printed;
    print_result(printed.console(true, false), hostile, json);
    CHECK(printed.out.str().find('\x1b') == std::string::npos);
    CHECK(printed.out.str().find('\x9b') == std::string::npos);
  }
}

TEST_CASE("bytes that are not UTF-8 do not break JSON", "[cli]") {
  CHECK(to_json({{"name", "\xff"}}, false) == "{\"name\":\"\xef\xbf\xbd\"}");
}

TEST_CASE("an error line states the error and the remedy", "[cli]") {
  Printed printed;
  const Problem missing(Slug::not_found, "The wallet was not found.");
  CHECK(print_problem(printed.console(), missing, "List wallets with coffer wallet list") ==
        exit_code::kFailed);
  CHECK(printed.err.str() ==
        "coffer: the wallet was not found. List wallets with coffer wallet list.\n");
}

TEST_CASE("field errors follow on separate lines, unless they only repeat the detail", "[cli]") {
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

TEST_CASE("the exit code distinguishes busy and permission from failure", "[cli]") {
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
