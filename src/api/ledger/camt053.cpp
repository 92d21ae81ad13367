#include "api/ledger/camt053.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/characters.h"

namespace coffer::api {
namespace {

constexpr int kCamtPlaces = 5;
constexpr std::size_t kMax35 = 35;
constexpr std::size_t kMax70 = 70;
constexpr std::size_t kMax140 = 140;
constexpr std::size_t kMax500 = 500;

/// Length in bytes of the character that starts with `lead`. The text is valid UTF-8.
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
      // Unescaped, a parser may change it to a blank or a line feed.
      return "&#" + std::to_string(first) + ";";
  }
  if (first < 0x20 || character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf") {
    return "\xef\xbf\xbd";
  }
  return std::string(character);
}

/// A one-byte character that needs no escape.
bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '&' && c != '<' && c != '>' && c != '"';
}

void append_xml_text(std::string& out, std::string_view text, std::size_t max) {
  for (std::size_t count = 0; count < max && !text.empty(); ++count) {
    const std::size_t width = std::min(width_of(static_cast<unsigned char>(text[0])), text.size());
    if (is_plain(text[0])) {
      out += text[0];
    } else {
      out += escaped(text.substr(0, width));
    }
    text.remove_prefix(width);
  }
}

/// Appends elements to a text in order. Statements can have millions of elements.
class Xml {
 public:
  explicit Xml(std::string& out) : out_(out) {}
  template <class Content>
  Xml& element(std::string_view name, Content&& content) {
    out_.append("<").append(name).append(">");
    content();
    return close(name);
  }
  Xml& leaf(std::string_view name, std::string_view plain) {
    out_.append("<").append(name).append(">").append(plain);
    return close(name);
  }
  Xml& text(std::string_view name, std::string_view text, std::size_t max) {
    out_.append("<").append(name).append(">");
    append_xml_text(out_, text, max);
    return close(name);
  }
  /// Appends markup without escaping.
  Xml& raw(std::string_view markup) {
    out_.append(markup);
    return *this;
  }

 private:
  Xml& close(std::string_view name) {
    out_.append("</").append(name).append(">");
    return *this;
  }
  std::string& out_;
};

std::string_view currency(const AssetCode& asset) {
  const std::string& code = asset.value();
  const bool is_currency = code.size() == 3 && std::ranges::all_of(code, ascii::is_upper);
  return is_currency ? std::string_view(code) : "XXX";
}

Amount cut(Amount amount) { return truncate_to(amount, kCamtPlaces); }

Amount magnitude(Amount amount) { return amount.is_negative() ? -amount : amount; }

void add_amount(Xml& xml, const CamtStatement& statement, Amount amount) {
  xml.raw("<Amt Ccy=\"").raw(currency(statement.asset)).raw("\">");
  xml.raw(amount.to_string(statement.decimals)).raw("</Amt>");
}

void add_direction(Xml& xml, bool debit) {
  xml.raw(debit ? "<CdtDbtInd>DBIT</CdtDbtInd>" : "<CdtDbtInd>CRDT</CdtDbtInd>");
}

void add_date(Xml& xml, std::string_view name, std::string_view at) {
  xml.element(name, [&] { xml.leaf("DtTm", at); });
}

void add_balance(Xml& xml, const CamtStatement& statement, std::string_view code, Amount amount,
                 Timestamp at) {
  xml.element("Bal", [&] {
    xml.element("Tp", [&] { xml.element("CdOrPrtry", [&] { xml.leaf("Cd", code); }); });
    add_amount(xml, statement, magnitude(cut(amount)));
    add_direction(xml, amount.is_negative());
    add_date(xml, "Dt", at.to_string());
  });
  xml.raw("\n");
}

/// Every entry is a book transfer on one ledger; the transaction record shows the type of payment.
void add_transaction_code(Xml& xml, bool debit) {
  xml.raw("<BkTxCd><Domn><Cd>PMNT</Cd><Fmly>").leaf("Cd", debit ? "ICDT" : "RCDT");
  xml.raw("<SubFmlyCd>OTHR</SubFmlyCd></Fmly></Domn></BkTxCd>");
}

/// A longer reference, which only a provider can have issued, is in the additional information: a
/// part of it would identify nothing.
bool is_short(std::string_view reference) { return character_count(reference) <= kMax35; }

void add_references(Xml& xml, const StatementLine& line) {
  const bool named = line.reference && !line.reference->empty() && is_short(*line.reference);
  if (!line.payment && !named) return;
  xml.element("Refs", [&] {
    if (line.payment) {
      std::string id = line.payment->to_string();
      std::erase(id, '-');
      xml.leaf("AcctSvcrRef", id);
    }
    if (named) xml.text("EndToEndId", *line.reference, kMax35);
  });
}

void add_details(Xml& xml, const CamtStatement& statement, const StatementLine& line,
                 Amount amount) {
  const bool debit = line.amount.is_negative();
  const auto transaction = [&] {
    add_references(xml, line);
    add_amount(xml, statement, amount);
    add_direction(xml, debit);
    if (line.counterparty && !line.counterparty->empty()) {
      const auto party = [&] { xml.text("Nm", *line.counterparty, kMax140); };
      xml.element("RltdPties", [&] {
        xml.element(debit ? "Cdtr" : "Dbtr", [&] { xml.element("Pty", party); });
      });
    }
    if (line.description && !line.description->empty()) {
      xml.element("RmtInf", [&] { xml.text("Ustrd", *line.description, kMax140); });
    }
    if (line.reference && !is_short(*line.reference)) {
      xml.text("AddtlTxInf", "Reference: " + *line.reference, kMax500);
    }
  };
  xml.element("NtryDtls", [&] { xml.element("TxDtls", transaction); });
}

std::string exactly(const CamtStatement& statement, Amount amount) {
  return amount.to_string(statement.decimals) + " " + statement.asset.value();
}

void add_account(Xml& xml, const CamtStatement& statement) {
  const auto number = [&] { xml.text("Id", statement.account_number, 34); };
  xml.element("Id", [&] { xml.element("Othr", number); });
  xml.element("Tp", [&] { xml.text("Prtry", statement.asset.value(), kMax35); });
  xml.leaf("Ccy", currency(statement.asset));
  if (!statement.account_name.empty()) xml.text("Nm", statement.account_name, kMax70);
}

}  // namespace

std::string xml_text(std::string_view text, std::size_t max) {
  std::string out;
  append_xml_text(out, text, max);
  return out;
}

std::string camt053_opening(const CamtStatement& statement) {
  const std::string created = statement.created.to_string();
  std::string out;
  Xml xml(out);
  xml.raw(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\">\n<BkToCstmrStmt>\n");
  xml.element("GrpHdr",
              [&] { xml.text("MsgId", statement.message_id, kMax35).leaf("CreDtTm", created); });
  xml.raw("\n<Stmt>\n").text("Id", statement.statement_id, kMax35);
  xml.leaf("CreDtTm", created).raw("\n");
  xml.element("FrToDt", [&] {
    xml.leaf("FrDtTm", statement.start.to_string()).leaf("ToDtTm", statement.end.to_string());
  });
  xml.raw("\n").element("Acct", [&] { add_account(xml, statement); }).raw("\n");
  add_balance(xml, statement, "OPBD", statement.opening, statement.start);
  // If the period has not ended yet, the closing balance has the creation time of the document.
  add_balance(xml, statement, "CLBD", statement.closing,
              std::max(statement.start, std::min(statement.end, statement.created)));
  return out;
}

void append_camt053_entry(std::string& out, const CamtStatement& statement,
                          const StatementLine& line) {
  const Amount before = line.running_balance - line.amount;
  const Amount amount = magnitude(cut(line.running_balance) - cut(before));
  const bool debit = line.amount.is_negative();
  const std::string at = line.at.to_string();
  Xml xml(out);
  xml.element("Ntry", [&] {
    xml.text("NtryRef", line.row_id, kMax35);
    add_amount(xml, statement, amount);
    add_direction(xml, debit);
    xml.raw("<Sts><Cd>BOOK</Cd></Sts>");
    add_date(xml, "BookgDt", at);
    add_date(xml, "ValDt", at);
    add_transaction_code(xml, debit);
    add_details(xml, statement, line, amount);
    if (amount != magnitude(line.amount)) {
      xml.text("AddtlNtryInf", "Exact amount: " + exactly(statement, line.amount), kMax500);
    }
  });
  xml.raw("\n");
}

std::string camt053_closing(const CamtStatement& statement) {
  std::string about = "Asset: " + statement.asset.value();
  if (cut(statement.opening) != statement.opening || cut(statement.closing) != statement.closing) {
    about += ". Exact balances: opening " + exactly(statement, statement.opening) + ", closing " +
             exactly(statement, statement.closing);
  }
  std::string out;
  Xml(out).text("AddtlStmtInf", about, kMax500).raw("\n</Stmt>\n</BkToCstmrStmt>\n</Document>\n");
  return out;
}

}  // namespace coffer::api
