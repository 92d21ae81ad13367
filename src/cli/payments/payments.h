// coffer payment: payments of all tenants, for the operator.
#pragma once

#include "cli/command.h"
#include "cli/paging.h"
#include "store/operations/payment_story.h"
#include "store/payments/payments.h"

namespace coffer::cli {

/// Texts by name as records `{name, value}`.
std::vector<Record> pairs(const std::map<std::string, std::string>& texts);
/// The fields of a payment in lists.
Record payment_record(const store::PaymentRecord& payment, Owners& owners);
/// `sourceName`, `sourceAccount`, `destinationName` and `destinationAccount`, with all but the last
/// four characters of an account masked.
void put_sides(Record& record, const store::StorySides& sides);

/// A row of a bulk payment file (docs/operating.md#bulk-payments): CSV whose columns are the fields
/// of the payment routes of the API.
struct BulkRow {
  std::size_t line = 1;
  PaymentRequest request;  // of an off-ramp: without its quote
  // For an off-ramp, which coffer quotes:
  std::optional<ConnectorId> connector;
  Amount amount;
  std::optional<QuoteId> quote = {};              // of a preview
  std::optional<std::string> preview_check = {};  // of that preview
};
/// Cells of a row by the name of their column.
using BulkCells = std::vector<std::pair<std::string, std::string>>;
/// One row; its errors name the columns.
Result<BulkRow> read_bulk_row(const BulkCells& cells);

/// `malformed-request` lists every invalid cell, as `line 3: amount`, every repeated transactionId,
/// and every column that is not a field of any payment.
Result<std::vector<BulkRow>> read_bulk_rows(std::string_view csv);

/// coffer payment create and coffer payment bulk.
std::vector<Command> submitting_commands();

Result<CommandResult> show_payment(Session& session, store::Connection& db,
                                   const Arguments& arguments);
Result<CommandResult> retry_payment(Session& session, const Arguments& arguments);
Result<CommandResult> resolve_payment(Session& session, const Arguments& arguments);
Result<CommandResult> reverse_payment(Session& session, const Arguments& arguments);
/// The amount that the payment debits from its wallet or credits to it.
std::optional<MovedAmount> resolved_amount(Session& session, const Arguments& arguments);
/// The amount to give back; at most the sent amount.
std::optional<MovedAmount> reversed_amount(Session& session, const Arguments& arguments);

}  // namespace coffer::cli
