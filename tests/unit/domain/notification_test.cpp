// The text of a message to the receiver of a payment, and the times of its attempts.
#include <catch2/catch.hpp>

#include "domain/operations/message.h"

using namespace coffer;

namespace {

NotificationTerms terms() {
  return {.amount = parse_amount("12950", 2).amount,
          .decimals = 2,
          .currency = "KES",
          .association = "Kahawa Ltd",
          .reference = "INV-7",
          .environment = Environment::production};
}

}  // namespace

TEST_CASE("a message contains the amount, the sender and the reference") {
  CHECK(notification_text(terms()) ==
        "You received 12950.00 KES from Kahawa Ltd. Reference: INV-7.");
  NotificationTerms without = terms();
  without.reference.reset();
  CHECK(notification_text(without) == "You received 12950.00 KES from Kahawa Ltd.");
}

TEST_CASE("a message of the sandbox cannot be mistaken for one about real money") {
  NotificationTerms sandbox = terms();
  sandbox.environment = Environment::sandbox;
  CHECK(notification_text(sandbox) ==
        "[Sandbox, no real money] You received 12950.00 KES from Kahawa Ltd. Reference: INV-7.");
}

TEST_CASE("a message is one line with any association name") {
  NotificationTerms odd = terms();
  odd.association = "A\r\nBcc: x@example.com\n.\nB";
  const std::string text = notification_text(odd);
  CHECK(text.find_first_of("\r\n") == std::string::npos);
}

TEST_CASE("a masked address in the log is still recognisable") {
  CHECK(masked_recipient("amina@example.com") == "a***@example.com");
  CHECK(masked_recipient("+254712345678") == "+254***78");
  CHECK(masked_recipient("12345") == "***");
  CHECK(masked_recipient("") == "***");
  CHECK(masked_recipient("@") == "***");
}
