#include <catch2/catch.hpp>

#include "cli/table.h"
#include "domain/identity/tenant.h"
#include "domain/ledger/wallet.h"
#include "domain/operations/message.h"
#include "domain/payments/payment.h"
#include "domain/providers/connector.h"
#include "domain/webhooks/webhook.h"

using namespace coffer;
using namespace coffer::cli;

namespace {

template <class Enum>
void check_known(Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const std::string_view word = name(static_cast<Enum>(i));
    INFO(word);
    CHECK(shade_of_status(word) != Shade::plain);
  }
}

}  // namespace

TEST_CASE("every status of the domain has a colour", "[cli]") {
  for (const Term& term : terms<PaymentStatus>()) {
    INFO(term.code);
    CHECK(shade_of_status(term.code) != Shade::plain);
  }
  check_known(WalletStatus::rejected);
  check_known(AssociationStatus::suspended);
  check_known(ConnectorStatus::paused);
  check_known(DeliveryState::oversize);
  check_known(MessageState::recorded);
  CHECK(shade_of_status("Treasury") == Shade::plain);
}

TEST_CASE("a colour ends with its text, and empty text has none", "[cli]") {
  CHECK(shaded(Shade::green, "ok", true) == "\x1b[32mok\x1b[0m");
  CHECK(shaded(Shade::green, "ok", false) == "ok");
  CHECK(shaded(Shade::plain, "ok", true) == "ok");
  CHECK(shaded(Shade::red, "", true).empty());
}
