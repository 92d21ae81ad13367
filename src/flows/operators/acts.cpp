#include "flows/operators/acts.h"

#include "store/identity/acts.h"

namespace coffer::flows {
namespace {

Result<std::int64_t> append(const Context& context, const store::NewAct& act) {
  return store::run_for<std::int64_t>(
      context.queue,
      [&](store::WriteTx& tx) -> Result<std::int64_t> { return store::append_act(tx, act); });
}

}  // namespace

Result<std::int64_t> record_act(const Context& context, const Actor& actor,
                                const std::string& command, const std::string& arguments) {
  return append(context, {actor.name, command, arguments, std::nullopt});
}

Result<void> record_outcome(const Context& context, std::int64_t act, const Actor& actor,
                            const std::string& command, const std::string& outcome,
                            const std::string& answer) {
  COFFER_TRY_VOID(append(context, {actor.name, command, answer, act, outcome}));
  return {};
}

}  // namespace coffer::flows
