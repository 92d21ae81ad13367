#include "flows/operations/export.h"

#include <optional>

#include "app/app.h"
#include "base/files/durable_file.h"
#include "cli/command_groups.h"
#include "cli/operations/books.h"
#include "cli/operations/verify.h"
#include "cli/paging.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "store/operations/export.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kAllData = "ndjson";
constexpr std::string_view kExportFormats = "ndjson|hledger|beancount|csv";
constexpr std::size_t kPieceBytes = 256 * 1024;

Result<CommandResult> run_export(Session& session, const Arguments& arguments) {
  const std::string& path = arguments.text("FILE");
  const std::string& format = arguments.text("format");
  COFFER_TRY(const DaysArgument days, days_argument(arguments));
  const bool books = format != kAllData;
  if (!books && (days.from || days.to || arguments.has("environment"))) {
    return unexpected(Slug::malformed_request,
                      "--from, --to and --environment are for books: add --format " +
                          std::string(kExportFormats.substr(kAllData.size() + 1)) + ".");
  }
  const auto environment =
      optional_term<Environment>(arguments, "environment").value_or(Environment::production);
  std::optional<PartialFile> file;
  if (path != "-") {
    COFFER_TRY(auto created, PartialFile::create(path));
    file.emplace(std::move(created));
  }
  std::string piece;
  Result<void> written;
  const auto flush = [&] {
    if (file) {
      if (written) written = file->append(piece);
    } else {
      session.console.out << piece << std::flush;
      if (!session.console.out) throw ProgressLine::Stopped{ProgressLine::kOutputFails};
    }
    piece.clear();
  };
  Console console = session.console;
  // Progress and output would interleave on the same terminal.
  console.progress = console.progress && (file || !console.terminal);
  ProgressLine line(console, session.interruption);
  std::vector<std::pair<std::string, std::int64_t>> counted;
  const auto take = [&](const std::string& text) {
    piece += text;
    if (piece.size() >= kPieceBytes) flush();
  };
  COFFER_TRY_VOID(
      with_consistent_copy(session, "export", line.shower(), [&](const std::string& from) {
        if (!books) {
          counted = flows::export_everything(from, flows::ExportSink{take, line.shower()});
          return;
        }
        store::ExportReader reader(from);
        const auto period = store::book_period(reader.db(), environment, days.from, days.to);
        write_books(reader.db(), period, format, take);
      }));
  flush();
  COFFER_TRY_VOID(std::move(written));
  if (!file) return CommandResult{};
  COFFER_TRY_VOID(file->publish());
  Record record{{"file", path}};
  for (const auto& [type, count] : counted) record.emplace_back(type, count);
  return CommandResult{.records = {std::move(record)}};
}

}  // namespace

std::vector<Command> export_commands() {
  return {
      {.path = "export",
       .summary = "Export all data as JSON lines, without secrets",
       .run = run_export,
       .role = OperatorRole::administrator,
       .arguments = {path_positional("File to create; - is standard output", true),
                     choice("format", kExportFormats,
                            "Everything (ndjson), or the books of one environment", kAllData),
                     option("from", "DATE", "First day of the books; by default the first entry"),
                     option("to", "DATE",
                            "Day after the last of the books; by default after the last entry"),
                     choice_of<Environment>("environment",
                                            "Environment of the books; without it, production")},
       .prints_data = false,
       .details = "The export is a consistent snapshot, with one object per line and `type` "
                  "first. It is for other\nprograms and cannot be restored; use backups for "
                  "that. docs/operating.md lists the types. The books have every account, "
                  "entry\nset and balance of a period for an accountant's program."}};
}

}  // namespace coffer::cli
