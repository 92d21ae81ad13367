#include "cli/operations/books.h"

#include <algorithm>
#include <memory>

#include "api/ledger/csv.h"
#include "base/digest.h"
#include "base/text/ascii.h"
#include "cli/paging.h"

namespace coffer::cli {
namespace {

using store::BookAccount;
using store::BookAsset;
using store::BookEntry;
using store::BookPeriod;

/// Credits are negative in books. Always all decimal places, from which beancount infers how much
/// an entry set may be out of balance.
std::string debit(Amount credit) {
  std::string out = (-credit).to_string(Amount::kScale);
  out.append(out.find('.') + 1 + Amount::kScale - out.size(), '0');
  return out;
}

/// The name of an asset that all formats accept: its code if that has two or more characters and
/// only upper-case letters and digits, with a letter first, and is no word of beancount; otherwise
/// X- and its number.
std::string commodity(std::int64_t asset, std::string_view code) {
  const auto fits = [](char c) { return ascii::is_letter_or_digit(c) && ascii::to_upper(c) == c; };
  const bool plain = code.size() >= 2 && std::ranges::all_of(code, fits) &&
                     (code.front() < '0' || code.front() > '9') && code != "TRUE" &&
                     code != "FALSE" && code != "NULL";
  return plain ? std::string(code) : "X-" + std::to_string(asset);
}
std::string commodity(const BookAccount& account) {
  return commodity(account.asset, account.asset_code);
}

std::string name_of(const BookAccount& account) {
  const auto id = [](const auto& of) { return of ? of->to_string() : "none"; };
  const std::string asset = ":" + commodity(account);
  switch (account.kind) {
    case AccountKind::wallet:
      return "Liabilities:Wallets:A-" + id(account.association) + ":W-" + id(account.wallet) +
             asset;
    case AccountKind::issuance:
      return "Assets:Issuance" + asset;
    case AccountKind::liquidity:
      return "Equity:Liquidity" + asset;
    case AccountKind::fee:
      return "Income:Fees" + asset;
    case AccountKind::clearing:
      return "Assets:Clearing:C-" + id(account.connector) + asset;
  }
  throw InternalError("unknown kind of account");
}

std::string_view kind_of(const BookEntry& entry) {
  switch (entry.kind) {
    case store::JournalKind::payment:
      return entry.type ? name(*entry.type) : "payment";
    case store::JournalKind::funding:
      return "funding";
    case store::JournalKind::liquidity:
      return "liquidity";
    case store::JournalKind::refund:
      return "refund";
  }
  throw InternalError("unknown kind of entry set");
}

std::int64_t set_of(const BookEntry& entry) { return entry.entry / store::kLinesPerSet; }

/// One format. The calls come in this order; those of balances for each account.
class Format {
 public:
  virtual ~Format() = default;
  virtual std::string asset(const BookPeriod&, const BookAsset&) { return {}; }
  virtual std::string account(const BookPeriod&, const BookAccount&) { return {}; }
  virtual std::string begin_opening(const BookPeriod&) { return {}; }
  virtual std::string opening(const BookPeriod&, const BookAccount&) = 0;
  virtual std::string begin_set(const BookEntry&) { return {}; }
  virtual std::string entry(const BookEntry&) = 0;
  virtual std::string begin_closing(const BookPeriod&) { return {}; }
  virtual std::string closing(const BookPeriod&, const BookAccount&) = 0;
};

/// `"text"` for beancount.
std::string text_of_beancount(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

class Beancount final : public Format {
 public:
  std::string asset(const BookPeriod& period, const BookAsset& asset) override {
    return date_of(period.start) + " commodity " + commodity(asset.key, asset.code) +
           "\n  code: " + text_of_beancount(asset.code) +
           "\n  name: " + text_of_beancount(asset.name) + "\n";
  }
  std::string account(const BookPeriod& period, const BookAccount& account) override {
    return date_of(std::max(period.start, account.created_at)) + " open " + name_of(account) + " " +
           commodity(account) + "\n";
  }
  std::string begin_opening(const BookPeriod& period) override {
    return "\n" + date_of(period.start) + " * \"Opening balances\"\n";
  }
  std::string opening(const BookPeriod&, const BookAccount& account) override {
    return posting(account, account.opening);
  }
  std::string begin_set(const BookEntry& entry) override {
    std::string out = "\n" + date_of(entry.at) + " * " + text_of_beancount(kind_of(entry)) + " " +
                      text_of_beancount(entry.description) + "\n  entry-set: \"" +
                      std::to_string(set_of(entry)) + "\"\n  time: \"" + entry.at.to_string() +
                      "\"\n  hash: \"" + to_hex(entry.link) + "\"\n";
    if (entry.payment) out += "  payment: \"" + entry.payment->to_string() + "\"\n";
    if (!entry.transaction_id.empty()) {
      out += "  transaction-id: " + text_of_beancount(entry.transaction_id) + "\n";
    }
    return out;
  }
  std::string entry(const BookEntry& entry) override {
    return posting(entry.account, entry.amount);
  }
  std::string begin_closing(const BookPeriod&) override { return "\n"; }
  std::string closing(const BookPeriod& period, const BookAccount& account) override {
    return date_of(period.end) + " balance " + name_of(account) + " " + debit(account.closing) +
           " ~ 0 " + commodity(account) + "\n";
  }

 private:
  static std::string posting(const BookAccount& account, Amount amount) {
    return "  " + name_of(account) + "  " + debit(amount) + " " + commodity(account) + "\n";
  }
};

/// The note of an entry set for hledger: a semicolon would begin a comment, and a bar end the
/// payee.
std::string note_of_hledger(std::string_view text) {
  std::string out(text.empty() ? "" : " | ");
  for (const char c : text) {
    out += static_cast<unsigned char>(c) < ' ' || c == ';' || c == '|' ? ' ' : c;
  }
  return out;
}

class Hledger final : public Format {
 public:
  std::string asset(const BookPeriod&, const BookAsset& asset) override {
    return "commodity 1000.0000000 \"" + commodity(asset.key, asset.code) + "\"\n";
  }
  std::string account(const BookPeriod&, const BookAccount& account) override {
    return "account " + name_of(account) + "  ; opened:" + date_of(account.created_at) + "\n";
  }
  std::string begin_opening(const BookPeriod& period) override {
    return "\n" + date_of(period.start) + " * Opening balances\n";
  }
  std::string opening(const BookPeriod&, const BookAccount& account) override {
    return posting(account, account.opening) + "\n";
  }
  std::string begin_set(const BookEntry& entry) override {
    std::string out = "\n" + date_of(entry.at) + " * (" + std::to_string(set_of(entry)) + ") " +
                      std::string(kind_of(entry)) + note_of_hledger(entry.description) +
                      "  ; time:" + entry.at.to_string() + ", hash:" + to_hex(entry.link);
    if (entry.payment) out += ", payment:" + entry.payment->to_string();
    if (!entry.transaction_id.empty()) out += ", transaction-id:" + entry.transaction_id;
    return out + "\n";
  }
  std::string entry(const BookEntry& entry) override {
    return posting(entry.account, entry.amount) + "\n";
  }
  std::string begin_closing(const BookPeriod& period) override {
    // An assertion applies to its date, after the entries of that day.
    return "\n" + date_of(period.end.plus_ms(-kDayMs)) + " * Closing balances\n";
  }
  std::string closing(const BookPeriod&, const BookAccount& account) override {
    return posting(account, Amount()) + " = " + debit(account.closing) + " \"" +
           commodity(account) + "\"\n";
  }

 private:
  static std::string posting(const BookAccount& account, Amount amount) {
    return "    " + name_of(account) + "  " + debit(amount) + " \"" + commodity(account) + "\"";
  }
};

class Csv final : public Format {
 public:
  std::string asset(const BookPeriod&, const BookAsset&) override {
    if (std::exchange(has_header_, true)) return {};
    return "date,time,entrySet,line,kind,paymentId,transactionId,account,assetCode,amount,hash,"
           "description\r\n";
  }
  std::string opening(const BookPeriod& period, const BookAccount& account) override {
    return balance(period.start, "opening", account, account.opening);
  }
  std::string entry(const BookEntry& entry) override {
    return date_of(entry.at) + ',' + entry.at.to_string() + ',' + std::to_string(set_of(entry)) +
           ',' + std::to_string(entry.entry % store::kLinesPerSet) + ',' +
           std::string(kind_of(entry)) + ',' + (entry.payment ? entry.payment->to_string() : "") +
           ',' + api::csv_cell(entry.transaction_id) + ',' + name_of(entry.account) + ',' +
           entry.account.asset_code + ',' + debit(entry.amount) + ',' + to_hex(entry.link) + ',' +
           api::csv_cell(entry.description) + "\r\n";
  }
  std::string closing(const BookPeriod& period, const BookAccount& account) override {
    return balance(period.end, "closing", account, account.closing);
  }

 private:
  static std::string balance(Timestamp at, const char* kind, const BookAccount& account,
                             Amount amount) {
    return date_of(at) + ',' + at.to_string() + ",,," + kind + ",,," + name_of(account) + ',' +
           account.asset_code + ',' + debit(amount) + ",,\r\n";
  }
  bool has_header_ = false;
};

std::unique_ptr<Format> format_of(std::string_view name) {
  if (name == "beancount") return std::make_unique<Beancount>();
  if (name == "hledger") return std::make_unique<Hledger>();
  return std::make_unique<Csv>();
}

}  // namespace

void write_books(store::Connection& db, const BookPeriod& period, std::string_view format,
                 const std::function<void(const std::string&)>& take) {
  const auto out = format_of(format);
  store::each_book_asset(db, period,
                         [&](const BookAsset& asset) { take(out->asset(period, asset)); });
  store::each_book_account(
      db, period, [&](const BookAccount& account) { take(out->account(period, account)); });
  bool begun = false;
  store::each_book_account(db, period, [&](const BookAccount& account) {
    if (account.opening.is_zero()) return;
    if (!std::exchange(begun, true)) take(out->begin_opening(period));
    take(out->opening(period, account));
  });
  std::int64_t set = 0;
  store::each_book_entry(db, period, [&](const BookEntry& entry) {
    if (std::exchange(set, set_of(entry)) != set_of(entry)) take(out->begin_set(entry));
    take(out->entry(entry));
  });
  begun = false;
  store::each_book_account(db, period, [&](const BookAccount& account) {
    if (!std::exchange(begun, true)) take(out->begin_closing(period));
    take(out->closing(period, account));
  });
}

}  // namespace coffer::cli
