#include "flows/identity/sign_in_guard.h"

#include <algorithm>

#include "auth/secret_hash.h"
#include "base/check.h"
#include "base/digest.h"
#include "base/limits/guess_table.h"
#include "base/telemetry/log.h"
#include "base/telemetry/metrics.h"
#include "flows/identity/audit_log.h"
#include "store/identity/users.h"

namespace coffer::flows {
namespace {

constexpr std::size_t kNameBytesMax = 64;

constexpr GuessRule quarter_of_an_hour(int free) {
  constexpr std::int64_t kMs = 15 * kMinuteMs;
  return {GuessWeight::password, free, kMs, kMs, kMs};
}
constexpr GuessRule kSourceRule = quarter_of_an_hour(19);
/// Of a source over its limit, the first attempt on each account is still checked, because others
/// may share the address. This rule ends that.
constexpr GuessRule kFloodRule = quarter_of_an_hour(99);
constexpr GuessRule kLastRule = quarter_of_an_hour(0);
constexpr GuessRule kPairRule{.weight = GuessWeight::password,
                              .free = 4,
                              .first_ms = 15 * kMinuteMs,
                              .longest_ms = 24 * kHourMs,
                              .memory_ms = 24 * kHourMs};
constexpr GuessRule kAccountRule{.weight = GuessWeight::password,
                                 .free = 19,
                                 .first_ms = kMinuteMs / 2,
                                 .longest_ms = kMinuteMs,
                                 .memory_ms = kHourMs};
constexpr GuessRule kFactorRule{.weight = GuessWeight::second_factor,
                                .free = 4,
                                .first_ms = kMinuteMs,
                                .longest_ms = kHourMs,
                                .memory_ms = 24 * kHourMs};
/// Wrong passwords for all accounts together, from sources that the owner has not used before. They
/// are limited because each check takes a tenth of a second of processor time.
constexpr GuessRule kUnfamiliarRule{.weight = GuessWeight::second_factor,
                                    .free = 120,
                                    .first_ms = 1'000,
                                    .longest_ms = 1'000,
                                    .memory_ms = kMinuteMs};
constexpr std::string_view kUnfamiliar = "password\nunfamiliar";
constexpr GuessRule kUnidentifiedRule{
    .free = 50, .first_ms = kMinuteMs, .longest_ms = kMinuteMs, .memory_ms = kHourMs};
constexpr std::string_view kUnidentified = "audit\nstrangers";

GuessTable& table_of(const Context& context) {
  COFFER_CHECK(context.guesses != nullptr);
  return *context.guesses;
}

bool is_known(const Context& context, const Uuid& person, const std::string& network) {
  const auto found = context.read(
      [&](store::Connection& db) { return store::has_signed_in_from(db, person, network); });
  return found && *found;
}

constexpr std::size_t kGuardNonceBytes = 16;

std::string browser_proof(const Context& context, const GuardedAccount& account,
                          std::string_view nonce) {
  return to_base64url(
      as_text(context.hasher->hash("known browser\n" + account.id.to_string() + '\n' +
                                   std::to_string(account.version) + '\n' + std::string(nonce))));
}

bool is_known_browser(const Context& context, const GuardedAccount& account,
                      std::string_view text) {
  const auto dot = text.find('.');
  return dot != std::string_view::npos &&
         equal_constant_time(text.substr(dot + 1),
                             browser_proof(context, account, text.substr(0, dot)));
}

}  // namespace

std::string known_browser(const Context& context, const GuardedAccount& account) {
  const std::string nonce = to_base64url(context.random.bytes(kGuardNonceBytes));
  return nonce + '.' + browser_proof(context, account, nonce);
}

Problem too_many_failures(std::int64_t wait_ms) {
  return Problem(Slug::rate_limited, "Too many failed attempts. Wait before the next attempt.")
      .retry_after(static_cast<int>((wait_ms + 999) / 1'000));
}

Problem reject_wrong_secret(const Context& context, const SecretKeys& keys, Problem problem) {
  GuessTable& table = table_of(context);
  const std::int64_t now = context.clock.monotonic_ms();
  const bool names = !keys.named.empty();
  const std::int64_t wait =
      std::max(table.wait_ms(keys.source, now), names ? table.wait_ms(keys.named, now) : 0);
  if (wait > 0) return too_many_failures(wait);
  table.failed(keys.source, {.free = keys.source_free}, now);
  if (names) table.failed(keys.named, {}, now);
  return problem;
}

SignInGuard::SignInGuard(const Context& context, Kind kind, std::string_view name,
                         const std::optional<GuardedAccount>& account, const SignInSource& source)
    : context_(context),
      kind_(kind == Kind::operator_ ? "operator" : "user"),
      name_(name.substr(0, kNameBytesMax)),
      address_(source.address),
      source_("people\n" + source.network),
      flood_("flood\n" + source.network),
      account_(std::string(kind_) + '\n' + name_) {
  const bool is_browser = account && is_known_browser(context, *account, source.browser);
  // A known browser is counted apart from other clients of its network.
  pair_ = account_ + '\n' + (is_browser ? source.browser : source.network);
  last_ = "last\n" + pair_;
  factor_ = "code\n" + account_;
  known_ = is_browser || (account && is_known(context, account->id, source.network));
}

Result<void> SignInGuard::admit() const {
  GuessTable& table = table_of(context_);
  const std::int64_t now = context_.clock.monotonic_ms();
  std::int64_t wait = table.wait_ms(pair_, now);
  if (!known_) {
    wait = std::max({wait, table.wait_ms(flood_, now), table.wait_ms(last_, now),
                     table.wait_ms(account_, now), table.wait_ms(factor_, now),
                     table.wait_ms(kUnfamiliar, now)});
  }
  if (wait > 0) return unexpected(too_many_failures(wait));
  return {};
}

Problem SignInGuard::count_failure(Problem problem) const {
  GuessTable& table = table_of(context_);
  const std::int64_t now = context_.clock.monotonic_ms();
  const std::int64_t wait = known_ ? 0 : table.wait_ms(source_, now);
  if (wait > 0) table.failed(last_, kLastRule, now);
  table.failed(source_, kSourceRule, now);
  table.failed(flood_, kFloodRule, now);
  table.failed(pair_, kPairRule, now);
  return wait > 0 ? too_many_failures(wait) : problem;
}

Problem SignInGuard::wrong_password(Problem problem) const {
  GuessTable& table = table_of(context_);
  const std::int64_t now = context_.clock.monotonic_ms();
  table.failed(account_, kAccountRule, now);
  if (!known_) table.failed(kUnfamiliar, kUnfamiliarRule, now);
  return count_failure(std::move(problem));
}

Problem SignInGuard::wrong_second_factor(Problem problem) const {
  table_of(context_).failed(factor_, kFactorRule, context_.clock.monotonic_ms());
  log_warning("sign-in",
              "wrong code after the right password: another person may know the password",
              {{"kind", kind_}, {"name", name_}, {"address", address_}});
  if (context_.metrics != nullptr) {
    context_.metrics
        ->counter("coffer_second_factor_failures_total",
                  "Sign-ins with the right password and a wrong code.", {{"kind", kind_}})
        .add();
  }
  return count_failure(std::move(problem));
}

void SignInGuard::right() const {
  GuessTable& table = table_of(context_);
  for (const std::string* key : {&pair_, &account_, &factor_}) table.succeeded(*key);
}

bool may_record_unidentified(const Context& context) {
  GuessTable& table = table_of(context);
  const std::int64_t now = context.clock.monotonic_ms();
  if (table.wait_ms(kUnidentified, now) > 0) return false;
  table.failed(kUnidentified, kUnidentifiedRule, now);
  return true;
}

Problem reject_unidentified(const Context& context, const std::string& kind,
                            const std::string& command, const std::string& reason,
                            const Problem& problem, const SignInSource& source) {
  const Problem out =
      reject_wrong_secret(context, {.source = kind + '\n' + source.network}, problem);
  if (out.slug != Slug::unauthorized || !may_record_unidentified(context)) return out;
  const auto recorded =
      record_action(context, {"unknown", command, source_json(source), "unauthorized", reason});
  return recorded ? out : recorded.error();
}

}  // namespace coffer::flows
