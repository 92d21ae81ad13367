#include "cli/demo/demo_text.h"

#include "base/check.h"
#include "base/text/shell_word.h"
#include "cli/settings.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kStartText = R"text(coffer demo: @origin@   (Ctrl-C stops it)
  data     @database@
  secrets  @secrets@
@env@  API      @origin@/v1/openapi.json
  docs     @origin@/docs
@admin@  events   coffer listen --forward-to http://127.0.0.1:3000/hooks@db@

Paste into another terminal, one command after another:

1. A token:

  KEY=@api_key@
  TOKEN=$(@curl@ @origin@/v1/auth/token -H 'Content-Type: application/json' \
    -d '{"clientId":"@client_id@","clientSecret":"@client_secret@"}' \
    | sed -n 's/.*"accessToken" *: *"\([^"]*\)".*/\1/p')

2. Send 12.50 USDC from @from_name@ to @to_name@:

  @curl@ @origin@/v1/payments/p2p/own \
    -H "x-svc-auth: $KEY" -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' \
    -d '{"transactionId":"@transaction@","sendingAssetCode":"USDC","amount":"12.50",
        "sourceWalletId":"@from_id@",
        "destinationWalletId":"@to_id@"}'

3. See it settled:

  @curl@ '@origin@/v1/transactions?transactionId=@transaction@' \
    -H "x-svc-auth: $KEY" -H "Authorization: Bearer $TOKEN"

)text";

}  // namespace

std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string out;
  for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@')) {
    const auto end = text.find('@', at + 1);
    COFFER_CHECK(end != std::string_view::npos);
    const auto value = values.find(text.substr(at + 1, end - at - 1));
    COFFER_CHECK(value != values.end());
    out.append(text.substr(0, at)).append(value->second);
    text.remove_prefix(end + 1);
  }
  return out.append(text);
}

std::string demo_start_text(const Demo& demo, const DemoPlace& place,
                            const std::string& transaction) {
  const store::WalletRow& from = demo.world.wallets.at(0);
  const store::WalletRow& to = demo.world.wallets.at(1);
  const bool own_place = demo_database() != place.database;
  const std::string trust =
      place.certificate.empty() ? "" : " --cacert " + shell_word(place.certificate);
  const std::string admin = place.admin.empty() ? ""
                                                : "  admin    " + place.admin + "   user " +
                                                      std::string(kDemoOperator) + ", password " +
                                                      demo.secrets.admin_password.reveal() + "\n";
  return filled(kStartText, {{"origin", place.origin},
                             {"admin", admin},
                             {"database", place.database},
                             {"secrets", demo_secrets_path(place.database)},
                             {"env", place.env.empty() ? "" : "  env      " + place.env + "\n"},
                             {"db", own_place ? " --db " + shell_word(place.database) : ""},
                             {"curl", "curl -s" + trust},
                             {"api_key", demo.secrets.api_key.reveal()},
                             {"client_id", demo.secrets.client_id},
                             {"client_secret", demo.secrets.client_secret.reveal()},
                             {"transaction", transaction},
                             {"from_name", from.name},
                             {"from_id", from.id.to_string()},
                             {"to_name", to.name},
                             {"to_id", to.id.to_string()}});
}

}  // namespace coffer::cli
