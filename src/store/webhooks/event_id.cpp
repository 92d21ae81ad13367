#include "store/webhooks/event_id.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/digest.h"
#include "store/payments/payments.h"

namespace coffer::store {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr const char* kKeepKey =
    "INSERT INTO meta (name, value) VALUES ('event_id_key', ?) ON CONFLICT (name) DO NOTHING";

/// Supplies the bytes of a MAC in place of random bytes.
class MacBytes final : public Random {
 public:
  explicit MacBytes(const Sha256& mac) : mac_(mac) {}
  void fill(std::span<std::uint8_t> out) override {
    COFFER_CHECK(out.size() <= mac_.size());
    std::copy_n(mac_.begin(), out.size(), out.begin());
  }

 private:
  const Sha256 mac_;
};

Uuid event_id(std::string_view key, std::int64_t tenant, std::int64_t sequence, std::int64_t at) {
  const std::string text =
      std::to_string(tenant) + '|' + std::to_string(sequence) + '|' + std::to_string(at);
  return MacBytes(hmac_sha256(key, text)).uuid_v7({at});
}

void event_id_sql(SqlCall& call) {
  const std::string_view key = call.blob(0);
  if (key.size() != kKeyBytes) return call.fail("the key of event IDs is missing");
  const Uuid id = event_id(key, call.integer(1), call.integer(2), call.integer(3));
  call.set_result(Blob{as_text(id.bytes)});
}

}  // namespace

std::span<const SqlFunction> functions_of_every_connection() {
  // event_id(key, tenant, sequence, at) fails without a key.
  static const std::array<SqlFunction, 2> functions{
      {{"event_id", 4, event_id_sql}, metadata_term_function()}};
  return functions;
}

void keep_event_id_key(Connection& writer, Random& random) {
  writer.run(kKeepKey, Blob{random.bytes(kKeyBytes)});
}

}  // namespace coffer::store
