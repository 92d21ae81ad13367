// The commands that wait for a second operator, from the command table, compared with the document
// (docs/operating.md#four-eyes).
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <string>

#include "cli/paths.h"
#include "cli/run/four_eyes.h"
#include "source_dir.h"

using namespace coffer;
using namespace coffer::cli;

namespace {

struct Rule {
  const char* command;
  const char* why;
};

constexpr auto kWait = std::to_array<Rule>({
    {"admin link", "makes an administrator"},
    {"application certificates", "decides with which certificate a key is accepted"},
    {"application networks", "decides from where a key is accepted"},
    {"application register", "issues credentials"},
    {"application resume", "its key is accepted again"},
    {"application rotate", "issues credentials"},
    {"application scopes", "decides what a key may do"},
    {"apply", "can do what the commands of its objects do"},
    {"arrival assign", "moves money"},
    {"arrival return", "ends the claim of a payer"},
    {"asset add", "decides what counts as money"},
    {"asset liquidity", "moves money"},
    {"association activate", "it can move money"},
    {"association create", "it can move money"},
    {"association set-quota", "decides how much can move"},
    {"backups download", "hands out all data"},
    {"backups signature", "goes with a download"},
    {"beneficiary create", "decides where money goes"},
    {"connector add", "decides where money goes"},
    {"connector limits", "decides how much can move"},
    {"connector require", "decides which data a provider gets"},
    {"connector resume", "payments go to it again"},
    {"connector rotate-secret", "issues credentials"},
    {"connector set-decimals", "decides how amounts are rounded"},
    {"connector set-fee", "sets a price"},
    {"connector set-rate", "sets a price"},
    {"connector set-tolerance", "decides which prices are accepted"},
    {"connector set-url", "decides where money goes"},
    {"connector unrequire", "decides which data a provider gets"},
    {"fee remove", "sets a price"},
    {"fee set", "sets a price"},
    {"limit remove", "decides how much can move"},
    {"limit set", "decides how much can move"},
    {"operator add", "gives access"},
    {"operator link", "gives access to who has an account at the identity provider"},
    {"operator remove-passkey", "changes how an operator signs in"},
    {"operator reset", "issues credentials"},
    {"operator resume", "gives access"},
    {"operator role", "changes access"},
    {"operator token create", "gives access"},
    {"operator unlink", "changes how an operator signs in"},
    {"payment bulk", "moves money"},
    {"payment create", "moves money"},
    {"payment resolve", "moves money"},
    {"payment reverse", "moves money"},
    {"period close", "is final"},
    {"rate remove", "sets a price"},
    {"rate set", "sets a price"},
    {"user add", "gives access"},
    {"user reset-otp", "changes how a user signs in"},
    {"user reset-password", "issues credentials"},
    {"user resume", "gives access"},
    {"wallet create", "it can hold and move money"},
    {"wallet fund", "moves money"},
    {"webhook create", "sends data to an address, and issues a secret"},
    {"webhook listen-secret", "shows a secret"},
    {"webhook rotate", "issues a secret"},
    {"webhook update", "sends data to another address"},
});
constexpr auto kDoNotWait = std::to_array<Rule>({
    {"alert test", "a sample, to targets that exist"},
    {"application suspend", "only takes access away"},
    {"approval approve", "is the decision itself"},
    {"approval reject", "is the decision itself"},
    {"archive prove", "restores beside the database, and removes the result"},
    {"association suspend", "only takes access away"},
    {"backup", "the file stays on the server"},
    {"connector pause", "payments in progress finish, and no new ones go to it"},
    {"events resend", "the same bytes, to webhooks that exist"},
    {"operator end-sessions", "only takes access away"},
    {"operator passkeys", "only reads"},
    {"operator sessions", "only reads"},
    {"operator suspend", "only takes access away"},
    {"operator token end", "only takes access away"},
    {"payment retry", "repeats what was decided"},
    {"reconcile import", "moves no money; a match is undone by another row"},
    {"reconcile map", "moves no money; each line shows what was read"},
    {"reconcile match", "moves no money, and is undone by another row"},
    {"reconcile unmatch", "moves no money, and is undone by another row"},
    {"sandbox advance", "moves the clock of a demo"},
    {"trigger", "a sample, in the sandbox"},
    {"user suspend", "only takes access away"},
    {"wallet reject", "takes a request back"},
    {"wallet verify", "is itself the review of a request"},
    {"webhook disable", "only stops deliveries"},
    {"webhook recover", "the same bytes, to a webhook that exists"},
    {"webhook test", "a sample, to a webhook that exists"},
});

/// Whether the admin page offers the command, and a viewer may not run it.
bool is_ruled(const Command& command) {
  return command.is_on_file() && command.role != OperatorRole::viewer && !command.streams &&
         !requires_place(command);
}

using Names = std::set<std::string>;

template <class Rules>
Names names_of(const Rules& rules) {
  Names out;
  for (const Rule& rule : rules) out.emplace(rule.command);
  return out;
}

/// The commands between backticks in the row of docs/operating.md that begins with `start`.
Names documented(const std::string& start) {
  std::ifstream file(std::string(COFFER_SOURCE_DIR) + "/docs/operating.md");
  Names out;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(start)) continue;
    std::size_t at = start.size();
    while ((at = line.find('`', at)) != std::string::npos) {
      const std::size_t end = line.find('`', at + 1);
      REQUIRE(end != std::string::npos);
      out.insert(line.substr(at + 1, end - at - 1));
      at = end + 1;
    }
    return out;
  }
  FAIL("no row begins with " << start);
  return out;
}

}  // namespace

TEST_CASE("approvals: every changing command waits, or has a reason not to", "[cli][four-eyes]") {
  Names wait;
  Names do_not_wait;
  for (const Command& command : commands()) {
    INFO(command.path);
    if (command.role == OperatorRole::viewer) CHECK_FALSE(needs_recent_sign_in(command));
    if (is_ruled(command)) {
      (is_under_four_eyes(command) ? wait : do_not_wait).emplace(command.path);
    }
    if (command.preview.empty()) continue;
    CHECK(std::any_of(
        command.arguments.begin(), command.arguments.end(), [&](const Argument& argument) {
          return argument.name == command.preview && argument.kind == Argument::Kind::toggle;
        }));
  }
  CHECK(wait == names_of(kWait));
  CHECK(do_not_wait == names_of(kDoNotWait));
}

TEST_CASE("approvals: the documentation lists the operators' commands, and which wait",
          "[cli][four-eyes]") {
  Names operators;
  Names wait;
  Names exempt;
  for (const Command& command : commands()) {
    if (!is_ruled(command)) continue;
    const bool waits = is_under_four_eyes(command);
    if (command.role == OperatorRole::operating) {
      operators.emplace(command.path);
      if (waits) wait.emplace(command.path);
    } else if (!waits) {
      exempt.emplace(command.path);
    }
  }
  CHECK(documented("| `operator` | also ") == operators);
  CHECK(documented("| `operator` | those that ") == wait);
  CHECK(documented("| `administrator` | all, ") == exempt);
}
