#include "support/sealed_edits.h"

#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "flows/operations/file_keys.h"
#include "store/commits/write_tx.h"
#include "store/ledger/known_rows.h"
#include "store/payments/open_payments.h"
#include "store/payments/payment_seal.h"
#include "store/rows/guarded_rows.h"
#include "support/unguarded.h"

namespace coffer::test {
namespace {

const std::string kPaymentsAfter = "SELECT payment, " +
                                   std::string(store::sealed_payment_columns()) +
                                   " FROM payments p WHERE payment > ?";

}  // namespace

SealedEdits::SealedEdits(const TestApp& app) : db_(app.config().db, store::OpenMode::read_write) {
  sqlite3_trace_v2(db_.handle(), 0, nullptr, nullptr);  // not for a QueryWatch, which is slow
  db_.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF");
  REQUIRE(flows::use_chain_keys(app.flows().sealer, db_));
  store::note_changed_rows(db_, app.config().db);
}

template <class Change>
void SealedEdits::commit(const Change& change) {
  db_.execute("BEGIN IMMEDIATE");
  change();
  store::write_row_digests(db_);
  db_.execute("COMMIT");
}

void SealedEdits::run(const std::string& sql) {
  commit([&] { db_.execute(sql); });
}

void SealedEdits::run_unguarded(const std::string& sql) {
  commit([&] { change_unguarded(db_, sql); });
}

void SealedEdits::seal_payments_after(std::int64_t last) {
  commit([&] {
    store::KnownRows known(db_);
    store::OpenPayments open;
    store::WriteTx tx(db_, known, open, {});
    store::Query rows(db_, kPaymentsAfter.c_str(), last);
    while (rows.step()) {
      const std::int64_t key = rows.integer(0);
      store::SealedPayment payment = store::read_sealed(rows, 1, key);
      if (!store::has_one_row(payment.type)) payment.text = store::payment_text(db_, key);
      db_.run("UPDATE payments SET mac = ? WHERE payment = ?",
              store::Blob{store::changed_payment_digest(db_, payment)}, key);
      if (!store::has_one_row(payment.type)) tx.provider_parts().push_back(key);
    }
    // The end of the ledger is not where its seal says, so this writes only the provider parts.
    store::seal_ledger(tx);
  });
}

}  // namespace coffer::test
