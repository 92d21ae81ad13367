#include "flows/reconciliation/entry_import.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/limits/pace.h"

namespace coffer::flows {
namespace {

constexpr std::size_t kRowsPerCommit = 50;  // with rests, so that payments do not wait
constexpr int kMarksPerRead = 500;

/// An entry of the file, with its details.
struct Entry {
  std::size_t statement = 0;  // its position in the file
  BankLine line;
  std::vector<BankLine> parts = {};
  std::string mark = {};                   // if it adds something
  std::optional<std::int64_t> known = {};  // the line that was stored before
  std::int64_t key = 0;                    // the stored line
  bool completes = false;                  // the stored line lacks what this entry tells
};

std::vector<Entry> entries_of(StatementFile&& read) {
  std::vector<Entry> out;
  for (std::size_t i = 0; i < read.statements.size(); ++i) {
    BankStatement& statement = read.statements[i];
    std::vector<std::size_t> batches(statement.batches.size(), SIZE_MAX);
    for (BankLine& line : statement.lines) {
      if (!line.batch) {
        out.push_back({i, std::move(line)});
        continue;
      }
      std::size_t& at = batches[*line.batch];
      if (at == SIZE_MAX) {
        at = out.size();
        out.push_back({i, std::move(statement.batches[*line.batch])});
      }
      out[at].parts.push_back(std::move(line));
    }
  }
  return out;
}

/// The import of one file: which of its entries are stored, and what they add.
class Importer {
 public:
  Importer(const Context& context, const StatementToImport& file, std::int64_t key)
      : context_(context), file_(file), key_(key) {}

  Result<void> store_all(StatementFile&& read, StatementImport& out) {
    for (const BankStatement& one : read.statements) {
      auto& row = statements_.emplace_back();
      row.is = span_of(one);
      row.is.file = key_;
      row.is.position = static_cast<std::int64_t>(accounts_.size());
      accounts_.push_back(one.account);
    }
    for (std::size_t first = 0; first < statements_.size(); first += kRowsPerCommit) {
      COFFER_TRY_VOID(context_.write([&](store::WriteTx& tx) {
        const auto end = std::min(first + kRowsPerCommit, statements_.size());
        for (auto i = first; i < end; ++i) store::insert_bank_statement(tx, statements_[i]);
      }));
    }
    entries_ = entries_of(std::move(read));
    COFFER_TRY_VOID(look_up());
    Pace pace;
    for (std::size_t next = 0; next < entries_.size(); pace.rest()) {
      const StatementImport before = out;
      const std::size_t first = next;
      COFFER_TRY_VOID(context_.write([&](store::WriteTx& tx) {
        out = before;
        std::size_t lines = 0;
        for (next = first; next < entries_.size() && lines < kRowsPerCommit; ++next) {
          lines += 1 + entries_[next].parts.size();
          store_entry(tx, entries_[next], out);
        }
      }));
    }
    return note_differences(out);
  }

 private:
  /// Finds the stored line of each entry.
  Result<void> look_up() {
    std::map<std::string, std::vector<Entry*>> equal;
    for (Entry& one : entries_)
      equal[store::mark_of(accounts_[one.statement], one.line, 1)].push_back(&one);
    auto next = equal.begin();
    while (next != equal.end()) {
      COFFER_TRY_VOID(context_.read([&](store::Connection& db) -> Result<void> {
        for (int count = 0; count < kMarksPerRead && next != equal.end(); ++count, ++next)
          assign(db, next->second);
        return {};
      }));
    }
    return {};
  }

  /// Pairs equal entries with stored lines: first those with the same reference, then those of
  /// which one has none, then the others. What remains is new.
  void assign(store::Connection& db, const std::vector<Entry*>& equal) {
    const std::string& account = accounts_[equal.front()->statement];
    auto stored = store::equal_bank_lines(db, file_.environment, account, equal.front()->line);
    std::vector<bool> taken(stored.size());
    const auto pair = [&](const auto& fits) {
      std::size_t first = 0;
      for (Entry* one : equal) {
        while (first < stored.size() && taken[first]) ++first;
        for (std::size_t i = first; i < stored.size() && !one->known; ++i) {
          if (taken[i] || !fits(one->line.reference, stored[i].is.reference)) continue;
          if (are_apart(stored_statement(db, stored[i].statement), statements_[one->statement].is))
            continue;
          taken[i] = true;
          take(*one, stored[i]);
          if (one->completes)
            one->mark = store::mark_of(account, stored[i].is, static_cast<int>(i + 1));
        }
      }
    };
    pair([](const auto& a, const auto& b) { return a == b; });
    pair([](const auto& a, const auto& b) { return a.empty() || b.empty(); });
    pair([](const auto&, const auto&) { return true; });
    int occurrence = static_cast<int>(stored.size());
    for (Entry* one : equal)
      if (!one->known) one->mark = store::mark_of(account, one->line, ++occurrence);
  }

  /// A line without a match that has neither parts nor a reference takes those of the entry.
  static void take(Entry& one, const store::BankLineRow& stored) {
    one.known = one.key = stored.key;
    if (stored.state == LineState::replaced) return;
    if (one.parts.empty() && stored.is.reference.empty() && !one.line.reference.empty())
      one.parts.push_back(one.line);
    one.completes = !one.parts.empty() && stored.state != LineState::matched;
  }

  const StatementSpan& stored_statement(store::Connection& db, std::int64_t key) {
    const auto [at, is_new] = known_statements_.try_emplace(key);
    if (is_new) at->second = store::bank_statement(db, key).is;
    return at->second;
  }

  void store_entry(store::WriteTx& tx, Entry& one, StatementImport& out) {
    const auto leaves = static_cast<std::int64_t>(std::max<std::size_t>(1, one.parts.size()));
    if (!one.known) {
      const auto key = insert(tx, one, one.line, one.mark, std::nullopt);
      if (!key) return;
      one.key = *key;
      out.stored += leaves;
    } else if (!one.completes || store::line_state(tx.db(), one.key) >= LineState::matched) {
      return;
    } else {
      ++out.completed;
    }
    if (one.parts.empty()) return;
    for (std::size_t i = 0; i < one.parts.size(); ++i) {
      const std::string mark =
          store::mark_of(accounts_[one.statement], one.parts[i], static_cast<int>(i + 1), one.mark);
      insert(tx, one, one.parts[i], mark, one.key);
    }
    store::replace_offers(tx, one.key, {});
    store::set_line_state(tx, one.key, LineState::replaced);
  }

  std::optional<std::int64_t> insert(store::WriteTx& tx, const Entry& one, const BankLine& line,
                                     const std::string& mark,
                                     std::optional<std::int64_t> replaces) {
    store::BankLineRow row;
    row.id = tx.new_id<BankLineId>(context_.random);
    row.file = key_;
    row.statement = statements_[one.statement].key;
    row.replaces = replaces;
    row.environment = file_.environment;
    row.connector = file_.connector;
    row.account = accounts_[one.statement];
    row.is = line;
    if (!store::insert_bank_line(tx, row, mark)) return std::nullopt;
    return row.key;
  }

  /// Lines that other files gave to the days of statements with balances, which prove that these do
  /// not have them. One note per account.
  Result<void> note_differences(StatementImport& out) {
    struct Doubt {
      Timestamp first, last;
      std::set<std::int64_t> lines = {};
    };
    std::set<std::int64_t> own;
    for (const Entry& one : entries_) own.insert(one.key);
    std::map<std::string, Doubt> doubts;
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      const StatementSpan& is = statements_[i].is;
      if (!is.opening || !is.closing || !is.first_day) continue;
      COFFER_TRY(const auto lines, context_.read([&](store::Connection& db) {
        return store::lines_without_balances(db, file_.environment, accounts_[i], is.currency,
                                             *is.first_day, *is.last_day);
      }));
      for (const std::int64_t line : lines) {
        if (own.contains(line)) continue;
        Doubt& of =
            doubts.try_emplace(accounts_[i], Doubt{*is.first_day, *is.last_day}).first->second;
        of.first = std::min(of.first, *is.first_day);
        of.last = std::max(of.last, *is.last_day);
        of.lines.insert(line);
      }
    }
    for (const auto& [account, of] : doubts) {
      out.notes.push_back("Account " + account + ", " + of.first.to_string().substr(0, 10) +
                          " to " + of.last.to_string().substr(0, 10) +
                          ": other files have lines that this file does not have, and its balances "
                          "agree without them: " +
                          std::to_string(of.lines.size()) + ".");
    }
    return {};
  }

  const Context& context_;
  const StatementToImport& file_;
  std::int64_t key_;
  std::vector<store::BankStatementRow> statements_ = {};  // of the file
  std::vector<std::string> accounts_ = {};                // of these
  std::map<std::int64_t, StatementSpan> known_statements_ = {};
  std::vector<Entry> entries_ = {};
};

}  // namespace

Result<void> store_entries(const Context& context, const StatementToImport& file, std::int64_t key,
                           StatementFile&& read, StatementImport& out) {
  return Importer(context, file, key).store_all(std::move(read), out);
}

}  // namespace coffer::flows
