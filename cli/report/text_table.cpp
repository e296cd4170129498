#include "text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>

namespace vouch::report {
namespace {

constexpr const char* unknown = "-";

// Three significant digits with the prefix that leaves one to three of them before the point.
std::string scaled(double number, const char* unit) {
  constexpr struct {
    double size;
    const char* prefix;
  } prefixes[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}};
  for (const auto& p : prefixes)
    if (std::fabs(number) >= 0.9995 * p.size) {
      const double digits = number / p.size;
      const int decimals = std::fabs(digits) < 9.995 ? 2 : std::fabs(digits) < 99.95 ? 1 : 0;
      return fmt::format("{:.{}f} {}{}", digits, decimals, p.prefix, unit);
    }
  return fmt::format("{:.3g} n{}", number * 1e9, unit);
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

void text_table::add(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw shape_error(
        fmt::format("table '{}' has {} columns, the row {}", title_, columns_.size(), cells.size()));
  rows_.push_back(std::move(cells));
}

std::string text_table::text() const {
  std::vector<std::size_t> width;
  for (const column& c : columns_) width.push_back(c.title.size());
  for (const auto& row : rows_)
    for (std::size_t k = 0; k < row.size(); ++k) width[k] = std::max(width[k], row[k].size());

  std::string out = title_ + '\n';
  const auto padded = [&](std::size_t k, const std::string& cell) {
    const char* gap = k == 0 ? "" : "  ";
    return columns_[k].left ? fmt::format("{}{:<{}}", gap, cell, width[k])
                            : fmt::format("{}{:>{}}", gap, cell, width[k]);
  };
  std::string head, rule;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    head += padded(k, columns_[k].title);
    rule += padded(k, std::string(width[k], '-'));
  }
  append_line(out, head);
  append_line(out, rule);
  const std::string* first = nullptr;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool repeated = k == 0 && first != nullptr && *first == row[0];
      line += padded(k, repeated ? "" : row[k]);
    }
    append_line(out, line);
    first = &row[0];
  }
  for (const std::string& line : notes_) append_line(out, line);
  return out;
}

std::string seconds_text(std::optional<double> seconds) {
  if (!seconds) return unknown;
  return *seconds == 0   ? "0 s"
         : *seconds >= 1 ? fmt::format("{:.{}f} s", *seconds, *seconds < 99.95 ? 2 : 0)
                         : scaled(*seconds, "s");
}

std::string bytes_text(double bytes) { return scaled(bytes, "B"); }

std::string rate_text(std::optional<double> rate) { return rate ? scaled(*rate, "B/s") : unknown; }

std::string count_text(std::optional<std::int64_t> count) {
  if (!count) return unknown;
  std::string digits = std::to_string(*count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (*count < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string small_text(std::optional<double> number) {
  return number ? fmt::format("{:.1e}", *number) : unknown;
}

std::string ratio_text(std::optional<double> ratio) {
  if (!ratio) return unknown;
  return fmt::format("{:.{}f}x", *ratio, *ratio < 9.995 ? 2 : *ratio < 99.95 ? 1 : 0);
}

std::string percent_text(std::optional<double> fraction) {
  return fraction ? fmt::format("{:.1f} %", 100 * *fraction) : unknown;
}

std::string change_text(std::optional<double> fraction) {
  return fraction ? fmt::format("{:+.1f} %", 100 * *fraction) : unknown;
}

}  // namespace vouch::report
