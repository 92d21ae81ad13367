// The signature headers of the provider protocol: lines for timestamp, signature and path, then a
// body.
#include "outbound/providers/provider_signature.h"

#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

using namespace outbound;

constexpr Timestamp kNow{1'767'225'600'000};

void check(std::string_view input) {
  static const Secret secret(std::string(32, 's')), other(std::string(32, 'o'));
  const auto [timestamp_line, rest] = split(input, '\n');
  const auto [signature_line, rest_of_rest] = split(rest, '\n');
  const auto [path, body] = split(rest_of_rest, '\n');
  const std::string timestamp(timestamp_line), signature(signature_line);
  const SignedMessage message{"POST", path, body};
  // Fuzzer input cannot be signed without the secret.
  const auto raw = verify(secret, kNow, &timestamp, &signature, message);
  HOLDS(!raw && raw.error().slug == Slug::unauthorized);
  HOLDS(!verify(secret, kNow, nullptr, &signature, message));
  HOLDS(!verify(Secret(), kNow, &timestamp, &signature, message));

  const ProviderHeaders headers = sign(secret, kNow, message);
  const std::string& now_text = headers[0].second;
  const std::string& good = headers[1].second;
  HOLDS(verify(secret, kNow, &now_text, &good, message).has_value());
  HOLDS(!verify(other, kNow, &now_text, &good, message));
  HOLDS(!verify(secret, kNow.plus_ms(kSignatureSkewMs + 1), &now_text, &good, message));
  const std::string longer = std::string(body) + "x";
  HOLDS(!verify(secret, kNow, &now_text, &good, {"POST", path, longer}));
  HOLDS(!verify(secret, kNow, &now_text, &good, {"GET", path, body}));
  // The first signature is checked whatever follows it; alone, it must be complete.
  const std::string followed = good + "," + signature;
  HOLDS(verify(secret, kNow, &now_text, &followed, message).has_value());
  const std::string cut = good.substr(0, input.size() % good.size());
  HOLDS(!verify(secret, kNow, &now_text, &cut, message));
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
