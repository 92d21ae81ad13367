#include "store/webhooks/event_id.h"

#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/digest.h"

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

void event_id_sql(sqlite3_context* call, int, sqlite3_value** arguments) {
  const void* key = sqlite3_value_blob(arguments[0]);
  if (static_cast<std::size_t>(sqlite3_value_bytes(arguments[0])) != kKeyBytes) {
    return sqlite3_result_error(call, "the key of event IDs is missing", -1);
  }
  const Uuid id =
      event_id({static_cast<const char*>(key), kKeyBytes}, sqlite3_value_int64(arguments[1]),
               sqlite3_value_int64(arguments[2]), sqlite3_value_int64(arguments[3]));
  sqlite3_result_blob(call, id.bytes.data(), static_cast<int>(id.bytes.size()), SQLITE_TRANSIENT);
}

}  // namespace

void add_event_id(sqlite3* database) {
  constexpr int kArguments = 4;
  const int code = sqlite3_create_function_v2(database, "event_id", kArguments,
                                              SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                              event_id_sql, nullptr, nullptr, nullptr);
  COFFER_CHECK(code == SQLITE_OK);
}

void keep_event_id_key(Connection& writer, Random& random) {
  writer.run(kKeepKey, Blob{random.bytes(kKeyBytes)});
}

}  // namespace coffer::store
