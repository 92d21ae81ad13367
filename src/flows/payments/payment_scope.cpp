#include "flows/payments/payment_scope.h"

#include <utility>

#include "store/payments/payments.h"

namespace coffer::flows {

PaymentScope::PaymentScope(const Context& context, std::int64_t payment)
    : PaymentScope(read(context, payment)) {}

PaymentScope::PaymentScope(Names names)
    : names_(std::move(names)),
      request_scope_("request_id", names_.request_id),
      id_scope_("payment", names_.id) {}

PaymentScope::Names PaymentScope::read(const Context& context, std::int64_t payment) {
  const auto names = context.read([&](store::Connection& db) {
    const auto record = store::find_payment_by_key(db, payment);
    return record ? Names{record->id.to_string(), record->request_id} : Names{};
  });
  return names ? *names : Names{};
}

}  // namespace coffer::flows
