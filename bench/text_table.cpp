#include "text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <vouch/core/error.hpp>

namespace vouch::bench {
namespace {

constexpr const char* unknown = "-";

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

std::string rate_text(std::optional<double> rate) { return rate ? bytes_text(*rate) + "/s" : unknown; }

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

}  // namespace vouch::bench
