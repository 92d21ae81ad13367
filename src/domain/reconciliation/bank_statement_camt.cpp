// camt.053 and camt.054 in any version. Elements are found by their local names; versions differ in
// few of them.
#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/next_part.h"
#include "base/text/whole_number.h"
#include "domain/reconciliation/bank_statement.h"
#include "domain/reconciliation/strict_xml.h"

namespace coffer {
namespace {

using pugi::xml_node;

// Elements that their parents have once. Others may repeat.
constexpr std::string_view kOnce =
    "Acct AcctSvcrRef AddtlNtryInf AddtlTxInf Amt AmtDtls BkToCstmrDbtCdtNtfctn BkToCstmrStmt"
    " BkTxCd BookgDt Ccy Cd CdOrPrtry CdtDbtInd Cdtr CdtrAcct CdtrRefInf Dbtr DbtrAcct Document"
    " Domn Dt DtTm ElctrncSeqNb EndToEndId Fmly FrToDt GrpHdr IBAN Id InstdAmt InstrId LglSeqNb"
    " MsgId Nm NtryRef PgNb PmtInfId PrtryAcct Pty Refs RltdPties RmtInf RvslInd StmtPgntn Sts"
    " SubFmlyCd Tp TtlChrgsAndTaxAmt TxAmt TxId ValDt";

/// The first element at a path such as `Acct/Id/IBAN`; empty if it is missing.
xml_node element(xml_node from, std::string_view path) {
  while (!path.empty() && from) {
    const std::string_view name = next_part(path, '/');
    xml_node found;
    for (xml_node child = from.first_child(); child && !found; child = child.next_sibling()) {
      if (local_name(child) == name) found = child;
    }
    from = found;
  }
  return from;
}

template <class F>
void each_element(const xml_node& from, std::string_view name, const F& f) {
  for (xml_node child = from.first_child(); child; child = child.next_sibling()) {
    if (local_name(child) == name) f(child);
  }
}

std::string_view text_at(const xml_node& from, std::string_view path) {
  return trimmed(element(from, path).child_value());
}

/// The first of these paths that has a text.
std::string_view first_text(const xml_node& from, std::initializer_list<std::string_view> paths) {
  for (const std::string_view path : paths)
    if (const auto text = text_at(from, path); !text.empty()) return text;
  return {};
}

class CamtReader {
 public:
  explicit CamtReader(std::string_view text) : text_(text) {}

  Result<StatementFile> read() {
    pugi::xml_document document;
    COFFER_TRY_VOID(read_strict_xml(text_, kOnce, document));
    const xml_node top = document.document_element();
    // An envelope has it beside a header.
    const xml_node root = local_name(top) == "Document" ? top : element(top, "Document");
    const std::string name = message_of(root);
    if (!name.starts_with("camt.053.001.") && !name.starts_with("camt.054.001."))
      return refused_at(line_of(top), "This is not a camt.053 or camt.054 document" +
                                          (name.empty() ? "" : ", but " + name));
    const xml_node message =
        element(root, name.starts_with("camt.053") ? "BkToCstmrStmt" : "BkToCstmrDbtCdtNtfctn");
    const xml_node next = message.next_sibling();
    if (const xml_node other = next ? next : message.previous_sibling())
      return refused_at(line_of(other), "The document has a second message");
    for (xml_node node = message.first_child(); node; node = node.next_sibling()) {
      if (local_name(node) != "Stmt" && local_name(node) != "Ntfctn") continue;
      COFFER_TRY_VOID(read_statement(node));
    }
    if (out_.statements.empty()) return refused_at(line_of(root), "The document has no statement");
    out_.note("Entries that are not booked were skipped", skipped_);
    out_.note("Batches whose transactions do not add up to them were read as one line", unsplit_);
    out_.note("Statements without both balances, so that no sum proves their lines", open_);
    return std::move(out_);
  }

 private:
  /// `camt.053.001.08`; empty without the namespace of a message.
  static std::string message_of(const xml_node& root) {
    constexpr std::string_view kNamespace = "urn:iso:std:iso:20022:tech:xsd:";
    for (const pugi::xml_attribute& one : root.attributes()) {
      const std::string_view value = one.value();
      if (value.starts_with(kNamespace)) return statement_text(value.substr(kNamespace.size(), 40));
    }
    return {};
  }

  /// Moves to a place in the text. Most calls go forward.
  void at(std::size_t offset) {
    if (offset < offset_) {
      offset_ = 0;
      line_ = 1;
    }
    offset = std::min(offset, text_.size());
    line_ += static_cast<std::size_t>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(offset_),
                   text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    offset_ = offset;
  }
  std::size_t line_of(const xml_node& node) {
    if (const auto offset = node.offset_debug(); offset >= 0) at(static_cast<std::size_t>(offset));
    return line_;
  }

  Result<void> read_statement(const xml_node& node) {
    BankStatement statement;
    statement.line = line_of(node);
    statement.id = statement_text(text_at(node, "Id"));
    if (!statement.id.empty())
      statement.number = std::string(local_name(node)) + " " + statement.id;
    for (const char* path : {"ElctrncSeqNb", "LglSeqNb", "StmtPgntn/PgNb"})
      statement.page += statement_text(text_at(node, path)) + "/";
    statement.account = statement_text(
        first_text(node, {"Acct/Id/IBAN", "Acct/Id/Othr/Id", "Acct/Id/PrtryAcct/Id"}));
    if (statement.account.empty())
      return refused_at(statement.line, "The statement has no account");
    statement.currency = statement_text(text_at(node, "Acct/Ccy"));
    previous_.reset();
    for (xml_node child = node.first_child(); child; child = child.next_sibling()) {
      if (local_name(child) == "Bal") COFFER_TRY_VOID(read_balance(child, statement));
      if (local_name(child) == "Ntry") COFFER_TRY_VOID(read_entry(child, statement));
      if (count_ + statement.lines.size() > kStatementLinesMax)
        return refused_at(line_of(child),
                          "The file has more than 500,000 lines. Split it into several files");
    }
    if (!statement.opening) statement.opening = previous_;
    if (statement.currency.empty() && statement.opening)
      statement.currency = statement.opening->currency;
    if (statement.currency.empty() && !statement.lines.empty())
      statement.currency = statement.lines.front().currency;
    count_ += statement.lines.size();
    const bool whole = statement.opening && statement.closing;
    if (!whole && local_name(node) == "Stmt" && !statement.lines.empty()) ++open_;
    out_.statements.push_back(std::move(statement));
    return {};
  }

  Result<StatedAmount> read_amount(const xml_node& amount, std::size_t line) {
    std::string currency;
    for (const pugi::xml_attribute& one : amount.attributes())
      if (std::string_view(one.name()) == "Ccy") currency = statement_text(one.value());
    if (currency.empty()) return refused_at(line, "An amount has no currency");
    if (!is_statement_currency(currency))
      return refused_at(line, "\"" + currency + "\" is not a currency");
    // XML has no marks between thousands, and a comma could be either.
    const std::string_view text = trimmed(amount.child_value());
    if (text.find_first_not_of("0123456789.") != std::string_view::npos)
      return refused_at(line, "\"" + statement_text(text.substr(0, 40)) + "\" is not an amount");
    COFFER_TRY(const Amount value, stated_amount(text, '.', line));
    return StatedAmount{value, currency};
  }

  /// With the sign of its direction.
  Result<StatedAmount> read_directed(const xml_node& node) {
    const std::size_t line = line_of(node);
    const xml_node amount = element(node, "Amt");
    if (!amount) return refused_at(line, "The amount is missing");
    COFFER_TRY(StatedAmount out, read_amount(amount, line));
    const std::string_view direction = text_at(node, "CdtDbtInd");
    if (direction != "CRDT" && direction != "DBIT")
      return refused_at(line, "CdtDbtInd is neither CRDT nor DBIT");
    if (direction == "DBIT") out.amount = -out.amount;
    return out;
  }

  Result<void> read_balance(const xml_node& node, BankStatement& statement) {
    const std::string_view type = first_text(node, {"Tp/CdOrPrtry/Cd", "Tp/CdOrPrtry/Prtry"});
    if (type.empty()) return refused_at(line_of(node), "The balance has no type");
    const bool previous = type == "PRCD";
    if (!previous && type != "OPBD" && type != "CLBD") return {};
    auto& balance = type == "CLBD" ? statement.closing : previous ? previous_ : statement.opening;
    if (balance)
      return refused_at(line_of(node),
                        "The statement has the balance " + std::string(type) + " twice");
    COFFER_TRY(balance, read_directed(node));
    return {};
  }

  /// A date, or the date of a time as the bank writes it. Both may have a time zone.
  Result<std::optional<Timestamp>> read_day(const xml_node& node, std::size_t line) {
    const std::string_view text = first_text(node, {"Dt", "DtTm"});
    if (!node) return std::optional<Timestamp>();
    const std::string day(text.substr(0, 10));
    std::string time(text.substr(day.size()));
    if (!time.starts_with('T')) time.insert(0, "T00:00:00");
    if (time.find_first_of("Z+-") == std::string::npos) time += 'Z';
    const auto found = Timestamp::parse(day);
    if (!found || found->ms < 0 || !Timestamp::parse("2000-01-01" + time))
      return refused_at(line, "\"" + statement_text(text.substr(0, 40)) + "\" is not a date");
    return found;
  }

  Result<void> read_entry(const xml_node& node, BankStatement& statement) {
    const std::string_view status = first_text(node, {"Sts/Cd", "Sts"});
    if (status == "PDNG" || status == "INFO" || status == "FUTR") {
      ++skipped_;
      return {};
    }
    BankLine line;
    line.line = line_of(node);
    if (status != "BOOK")
      return refused_at(line.line, "The status of the entry must be BOOK, PDNG, INFO or FUTR");
    COFFER_TRY(const StatedAmount amount, read_directed(node));
    line.amount = amount.amount;
    line.currency = amount.currency;
    COFFER_TRY(const auto booked, read_day(element(node, "BookgDt"), line.line));
    COFFER_TRY(line.value_on, read_day(element(node, "ValDt"), line.line));
    if (!booked && !line.value_on) return refused_at(line.line, "The entry has no date");
    line.booked_on = booked ? *booked : *line.value_on;
    line.bank_reference = stated_reference(first_text(node, {"AcctSvcrRef", "NtryRef"}));
    line.code = code_of(node);
    std::vector<xml_node> details;
    each_element(node, "NtryDtls", [&](const xml_node& batch) {
      each_element(batch, "TxDtls", [&](const xml_node& one) { details.push_back(one); });
    });
    COFFER_TRY(const bool split, split_entry(node, details, line, statement));
    if (split) return {};
    for (const xml_node& one : details) COFFER_TRY_VOID(put_detail_of(one, line));
    // Of several transactions, none tells what the entry was before its conversion.
    if (details.size() > 1) line.original.reset();
    BankLine whole = line;
    whole.charges = Amount();
    COFFER_TRY_VOID(put_stated_amounts(node, whole));
    if (line.charges.is_zero()) line.charges = whole.charges;
    if (!line.original) line.original = std::move(whole.original);
    append_statement_text(line.text, text_at(node, "AddtlNtryInf"));
    statement.lines.push_back(std::move(line));
    return {};
  }

  /// An entry whose transactions have amounts that add up to it becomes a line for each of them.
  Result<bool> split_entry(const xml_node& node, const std::vector<xml_node>& details,
                           const BankLine& entry, BankStatement& statement) {
    const auto amount_of = [](const xml_node& one) {
      return element(one, "Amt") ? element(one, "Amt") : element(one, "AmtDtls/TxAmt/Amt");
    };
    if (details.size() < 2 || std::ranges::none_of(details, amount_of)) return false;
    std::vector<BankLine> lines;
    Amount sum;
    for (const xml_node& one : details) {
      const xml_node amount = amount_of(one);
      if (!amount) return ++unsplit_, false;
      BankLine line = entry;
      line.line = line_of(one);
      COFFER_TRY(const StatedAmount stated, read_amount(amount, line.line));
      if (stated.currency != entry.currency) return ++unsplit_, false;
      const std::string_view direction = first_text(one, {"CdtDbtInd"});
      const bool debit = direction.empty() ? entry.amount.is_negative() : direction == "DBIT";
      line.amount = debit ? -stated.amount : stated.amount;
      auto next = sum.add(line.amount);
      if (!next) return refused_at(line.line, "The sum exceeds the largest amount");
      sum = *next;
      line.bank_reference = stated_reference(text_at(one, "Refs/AcctSvcrRef"));
      if (line.bank_reference.empty() && !entry.bank_reference.empty())
        line.bank_reference = entry.bank_reference + "/" + std::to_string(lines.size() + 1);
      COFFER_TRY_VOID(put_detail_of(one, line));
      append_statement_text(line.text, text_at(node, "AddtlNtryInf"));
      lines.push_back(std::move(line));
    }
    if (sum != entry.amount) return ++unsplit_, false;
    if (!entry.amount.is_zero()) {
      for (BankLine& line : lines) line.batch = statement.batches.size();
      append_statement_text(statement.batches.emplace_back(entry).text,
                            text_at(node, "AddtlNtryInf"));
    }
    std::ranges::move(lines, std::back_inserter(statement.lines));
    return true;
  }

  static std::string code_of(const xml_node& node) {
    std::string out(text_at(node, "BkTxCd/Domn/Cd"));
    for (const char* path : {"BkTxCd/Domn/Fmly/Cd", "BkTxCd/Domn/Fmly/SubFmlyCd"}) {
      if (const auto part = text_at(node, path); !part.empty()) out.append("-").append(part);
    }
    return statement_text(out.empty() ? text_at(node, "BkTxCd/Prtry/Cd") : out);
  }

  /// References, texts and parties of a transaction. Those of several are in one text.
  Result<void> put_detail_of(const xml_node& node, BankLine& line) {
    std::string reference;
    for (const char* path :
         {"Refs/EndToEndId", "Refs/InstrId", "Refs/TxId", "Refs/PmtInfId", "Refs/MsgId"}) {
      if (reference.empty()) reference = stated_reference(text_at(node, path));
    }
    if (line.reference.empty()) {
      line.reference = reference;
    } else if (reference != line.reference) {
      append_statement_text(line.text, reference);
    }
    if (line.bank_reference.empty())
      line.bank_reference = stated_reference(text_at(node, "Refs/AcctSvcrRef"));
    const xml_node information = element(node, "RmtInf");
    each_element(information, "Ustrd",
                 [&](const xml_node& one) { append_statement_text(line.text, one.child_value()); });
    each_element(information, "Strd", [&](const xml_node& one) {
      append_statement_text(line.text, text_at(one, "CdtrRefInf/Ref"));
      append_statement_text(line.text, text_at(one, "AddtlRmtInf"));
    });
    append_statement_text(line.text, text_at(node, "AddtlTxInf"));
    const xml_node parties = element(node, "RltdPties");
    bool paid = line.amount.is_negative();
    // Many banks name the party that a reversal is for as it was in the first payment.
    const bool reversal = text_at(node.parent().parent(), "RvslInd") == "true";
    if (reversal && !element(parties, paid ? "Cdtr" : "Dbtr")) paid = !paid;
    const xml_node party = element(parties, paid ? "Cdtr" : "Dbtr");
    const xml_node account = element(parties, paid ? "CdtrAcct" : "DbtrAcct");
    if (line.party_name.empty())
      line.party_name = statement_text(first_text(party, {"Nm", "Pty/Nm"}));
    if (line.party_account.empty())
      line.party_account = statement_text(first_text(account, {"Id/IBAN", "Id/Othr/Id"}));
    return put_stated_amounts(node, line);
  }

  /// What the bank deducted, and what it converted.
  Result<void> put_stated_amounts(const xml_node& node, BankLine& line) {
    if (const xml_node instructed = element(node, "AmtDtls/InstdAmt/Amt")) {
      COFFER_TRY(StatedAmount original, read_amount(instructed, line.line));
      if (original.currency != line.currency) line.original = std::move(original);
    }
    std::vector<xml_node> parts;
    each_element(node, "Chrgs", [&](const xml_node& charges) {
      if (const xml_node total = element(charges, "TtlChrgsAndTaxAmt"))
        return parts.push_back(total);
      const std::size_t before = parts.size();
      each_element(charges, "Rcrd",
                   [&](const xml_node& one) { parts.push_back(element(one, "Amt")); });
      if (parts.size() == before) parts.push_back(element(charges, "Amt"));
    });
    for (const xml_node& part : parts) {
      if (!part) continue;
      COFFER_TRY(const StatedAmount stated, read_amount(part, line.line));
      if (stated.currency != line.currency) continue;
      const bool back = text_at(part.parent(), "CdtDbtInd") == "CRDT";
      auto next = line.charges.add(back ? -stated.amount : stated.amount);
      if (!next) return refused_at(line.line, "The sum exceeds the largest amount");
      line.charges = *next;
    }
    if (line.charges.is_negative()) line.charges = Amount();
    return {};
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  std::size_t line_ = 1;
  std::size_t count_ = 0;
  std::size_t skipped_ = 0;
  std::size_t unsplit_ = 0;
  std::size_t open_ = 0;
  std::optional<StatedAmount> previous_;  // balance PRCD of the statement
  StatementFile out_;
};

}  // namespace

Result<StatementFile> read_camt(std::string_view text) { return CamtReader(text).read(); }

}  // namespace coffer
