#include "cli/table.h"

#include <algorithm>
#include <array>

#include "base/text/columns.h"

namespace coffer::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kTextEnough = 16;
constexpr std::size_t kTextLeast = 8;
constexpr std::size_t kIdLeast = 13;    // an ellipsis and the last group of a UUID
constexpr std::size_t kKeyEnough = 40;  // longer ones consist of IDs
constexpr std::size_t kStages = 4;

/// The width of a column, and its minimum at each stage of shrinking. Each stage continues from the
/// previous one.
struct Plan {
  std::size_t width = 0;
  std::size_t whole = 0;   // without cutting anything
  std::size_t values = 0;  // the widest value
  bool id = false;
  std::array<std::size_t, kStages> least{};
};

Plan plan_of(const Table& table, std::size_t at, bool first_id, bool has_key) {
  Plan out;
  for (const auto& row : table.rows) out.values = std::max(out.values, columns_of(row[at].text));
  const Table::Column& column = table.columns[at];
  out.whole = std::max(out.values, columns_of(column.heading));
  out.width = out.whole;
  out.id = column.kind == Table::Kind::id;
  const auto down_to = [&](std::size_t least) { return std::min(out.width, least); };
  switch (column.kind) {
    case Table::Kind::text:
      out.least = {down_to(kTextEnough), down_to(kTextLeast), down_to(kTextLeast),
                   down_to(kTextLeast)};
      break;
    case Table::Kind::key:
      out.least = {out.values, out.values, out.values, std::min(out.values, kKeyEnough)};
      break;
    case Table::Kind::exact:
      out.least = {std::max(out.values, down_to(kTextLeast)), out.values, out.values, out.values};
      break;
    case Table::Kind::id:
      out.least = {out.width, has_key ? down_to(kIdLeast) : out.width,
                   first_id && !has_key ? out.width : down_to(kIdLeast), down_to(kIdLeast)};
      break;
  }
  return out;
}

std::vector<Plan> plans_of(const Table& table) {
  std::vector<Plan> out;
  bool ids = false;
  const bool has_key = std::ranges::any_of(
      table.columns, [](const auto& column) { return column.kind == Table::Kind::key; });
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool is_id = table.columns[i].kind == Table::Kind::id;
    out.push_back(plan_of(table, i, is_id && !ids, has_key));
    ids = ids || is_id;
  }
  return out;
}

std::size_t total_of(const std::vector<Plan>& plans) {
  std::size_t total = plans.empty() ? 0 : (plans.size() - 1) * kGap;
  for (const Plan& plan : plans) total += plan.width;
  return total;
}

/// Shrinks the widest column that may shrink until the table fits; returns false if it cannot.
bool shrink(std::vector<Plan>& plans, std::size_t columns) {
  for (std::size_t stage = 0; stage < kStages;) {
    if (total_of(plans) <= columns) return true;
    Plan* widest = nullptr;
    for (Plan& plan : plans) {
      if (plan.width <= plan.least[stage]) continue;
      if (widest == nullptr || plan.width > widest->width) widest = &plan;
    }
    if (widest == nullptr) {
      ++stage;
    } else {
      // A partly cut ID is no more useful than its last group.
      widest->width = widest->id ? widest->least[stage] : widest->width - 1;
    }
  }
  return total_of(plans) <= columns;
}

/// Distributes remaining space to the narrowest columns. IDs get none, because they are either cut
/// to their last group or whole.
void grow(std::vector<Plan>& plans, std::size_t columns) {
  for (std::size_t room = columns - total_of(plans); room > 0; --room) {
    Plan* narrowest = nullptr;
    for (Plan& plan : plans) {
      if (plan.id || plan.width == plan.whole) continue;
      if (narrowest == nullptr || plan.width < narrowest->width) narrowest = &plan;
    }
    if (narrowest == nullptr) return;
    ++narrowest->width;
  }
}

class Line {
 public:
  Line(const std::vector<Plan>& plans, bool colour) : plans_(plans), colour_(colour) {}

  void add(const Cell& cell, Kept kept) {
    const std::size_t width = plans_[count_].width;
    const std::string text = cut_to(cell.text, width, kept);
    text_ += shaded(cell.shade, text, colour_);
    if (++count_ < plans_.size()) text_.append(width + kGap - columns_of(text), ' ');
  }
  void print(std::ostream& out) const { out << text_ << '\n'; }

 private:
  const std::vector<Plan>& plans_;
  const bool colour_;
  std::size_t count_ = 0;
  std::string text_;
};

}  // namespace

Fit print_table(const Console& console, const Table& table) {
  std::vector<Plan> plans = plans_of(table);
  if (console.terminal && console.columns > 0) {
    const auto columns = static_cast<std::size_t>(console.columns);
    if (!shrink(plans, columns)) return Fit::too_wide;
    grow(plans, columns);
  }
  Line heading(plans, console.shades_out());
  for (const Table::Column& column : table.columns) {
    heading.add({column.heading, Shade::bold}, Kept::start);
  }
  heading.print(console.out);
  for (const auto& row : table.rows) {
    Line line(plans, console.shades_out());
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.add(row[i], table.columns[i].kind == Table::Kind::id ? Kept::end : Kept::start);
    }
    line.print(console.out);
  }
  const bool cut =
      std::ranges::any_of(plans, [](const Plan& plan) { return plan.width < plan.values; });
  return cut ? Fit::cut : Fit::whole;
}

}  // namespace coffer::cli
