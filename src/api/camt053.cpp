#include "api/camt053.h"

#include <algorithm>

namespace coffer::api {
namespace {

constexpr int kCamtPlaces = 5;
constexpr std::size_t kMax35 = 35;
constexpr std::size_t kMax70 = 70;
constexpr std::size_t kMax140 = 140;
constexpr std::size_t kMax500 = 500;

std::string element(std::string_view name, std::string_view content) {
  std::string out = "<";
  out.append(name).append(">").append(content).append("</").append(name).append(">");
  return out;
}

std::string text_element(std::string_view name, std::string_view text, std::size_t max) {
  return element(name, xml_text(text, max));
}

std::string date_element(std::string_view name, Timestamp at) {
  return element(name, element("DtTm", at.to_string()));
}

std::string currency(const AssetCode& asset) {
  const std::string& code = asset.value();
  const bool is_currency = code.size() == 3 && std::all_of(code.begin(), code.end(), [](char c) {
                             return c >= 'A' && c <= 'Z';
                           });
  return is_currency ? code : "XXX";
}

Amount cut(Amount amount) { return truncate_to(amount, kCamtPlaces); }

Amount magnitude(Amount amount) { return amount.is_negative() ? -amount : amount; }

std::string amount_element(const CamtStatement& statement, Amount amount) {
  return "<Amt Ccy=\"" + currency(statement.asset) + "\">" + amount.to_string(statement.decimals) +
         "</Amt>";
}

std::string direction(bool debit) { return element("CdtDbtInd", debit ? "DBIT" : "CRDT"); }

std::string balance(const CamtStatement& statement, std::string_view code, Amount amount,
                    Timestamp at) {
  return element("Bal", element("Tp", element("CdOrPrtry", element("Cd", code))) +
                            amount_element(statement, magnitude(cut(amount))) +
                            direction(amount.is_negative()) + date_element("Dt", at)) +
         "\n";
}

/// Every movement is a booking on one ledger; what kind of payment it was is in the record.
std::string transaction_code(bool debit) {
  const std::string family = element("Cd", debit ? "ICDT" : "RCDT") + element("SubFmlyCd", "OTHR");
  return element("BkTxCd", element("Domn", element("Cd", "PMNT") + element("Fmly", family)));
}

std::string references(const StatementLine& line) {
  std::string out;
  if (line.payment) {
    std::string id = line.payment->to_string();
    std::erase(id, '-');
    out += element("AcctSvcrRef", id);
  }
  if (line.reference && !line.reference->empty()) {
    out += text_element("EndToEndId", *line.reference, kMax35);
  }
  return out.empty() ? out : element("Refs", out);
}

std::string details(const CamtStatement& statement, const StatementLine& line, Amount amount) {
  const bool debit = line.amount.is_negative();
  std::string out = references(line) + amount_element(statement, amount) + direction(debit);
  if (line.counterparty && !line.counterparty->empty()) {
    const std::string party = element("Pty", text_element("Nm", *line.counterparty, kMax140));
    out += element("RltdPties", element(debit ? "Cdtr" : "Dbtr", party));
  }
  if (line.description && !line.description->empty()) {
    out += element("RmtInf", text_element("Ustrd", *line.description, kMax140));
  }
  return element("NtryDtls", element("TxDtls", out));
}

std::string exactly(const CamtStatement& statement, Amount amount) {
  return amount.to_string(statement.decimals) + " " + statement.asset.value();
}

/// Bytes of the character that starts with `lead`; the text is known to be UTF-8.
std::size_t width_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

std::string escaped(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  switch (first) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\t':
    case '\n':
    case '\r':
      // As it stands a parser may turn it into a blank or a line feed.
      return "&#" + std::to_string(first) + ";";
  }
  if (first < 0x20 || character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf") {
    return "\xef\xbf\xbd";
  }
  return std::string(character);
}

/// A character of one byte that stands for itself.
bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '&' && c != '<' && c != '>' && c != '"';
}

}  // namespace

std::string xml_text(std::string_view text, std::size_t max) {
  std::string out;
  for (std::size_t count = 0; count < max && !text.empty(); ++count) {
    const std::size_t width = std::min(width_of(static_cast<unsigned char>(text[0])), text.size());
    if (is_plain(text[0])) {
      out += text[0];
    } else {
      out += escaped(text.substr(0, width));
    }
    text.remove_prefix(width);
  }
  return out;
}

std::string camt053_opening(const CamtStatement& statement) {
  const std::string created = element("CreDtTm", statement.created.to_string());
  const std::string number = element("Othr", text_element("Id", statement.account_number, 34));
  const std::string name = statement.account_name.empty()
                               ? std::string()
                               : text_element("Nm", statement.account_name, kMax70);
  const std::string account =
      element("Id", number) +
      element("Tp", text_element("Prtry", statement.asset.value(), kMax35)) +
      element("Ccy", currency(statement.asset)) + name;
  const std::string range =
      element("FrDtTm", statement.start.to_string()) + element("ToDtTm", statement.end.to_string());
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\">\n<BkToCstmrStmt>\n" +
         element("GrpHdr", text_element("MsgId", statement.message_id, kMax35) + created) +
         "\n<Stmt>\n" + text_element("Id", statement.statement_id, kMax35) + created + "\n" +
         element("FrToDt", range) + "\n" + element("Acct", account) + "\n" +
         balance(statement, "OPBD", statement.opening, statement.start) +
         // A range that is not over yet closes, for now, when the document is made.
         balance(statement, "CLBD", statement.closing,
                 std::max(statement.start, std::min(statement.end, statement.created)));
}

std::string camt053_entry(const CamtStatement& statement, const StatementLine& line) {
  const Amount before = line.running_balance - line.amount;
  const Amount amount = magnitude(cut(line.running_balance) - cut(before));
  const bool debit = line.amount.is_negative();
  std::string out =
      text_element("NtryRef", line.row_id, kMax35) + amount_element(statement, amount) +
      direction(debit) + element("Sts", element("Cd", "BOOK")) + date_element("BookgDt", line.at) +
      date_element("ValDt", line.at) + transaction_code(debit) + details(statement, line, amount);
  if (amount != magnitude(line.amount)) {
    out +=
        text_element("AddtlNtryInf", "Exact amount: " + exactly(statement, line.amount), kMax500);
  }
  return element("Ntry", out) + "\n";
}

std::string camt053_closing(const CamtStatement& statement) {
  std::string about = "Asset: " + statement.asset.value();
  if (cut(statement.opening) != statement.opening || cut(statement.closing) != statement.closing) {
    about += ". Exact balances: opening " + exactly(statement, statement.opening) + ", closing " +
             exactly(statement, statement.closing);
  }
  return text_element("AddtlStmtInf", about, kMax500) +
         "\n</Stmt>\n</BkToCstmrStmt>\n</Document>\n";
}

}  // namespace coffer::api
