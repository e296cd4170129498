// bench/text_table.hpp -- a table of cells that are text already, and the wording of numbers in it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cli/report/units.hpp>

namespace vouch::bench {

using report::bytes_text, report::seconds_text;

/// A titled table; the same one is printed to the terminal and put into the HTML report.
class text_table {
 public:
  struct column {
    std::string title;
    bool left = false;  // text to the left, numbers to the right
  };

  text_table(std::string title, std::vector<column> columns)
      : title_(std::move(title)), columns_(std::move(columns)) {}

  /// Throws  shape_error  not as many cells as columns
  void add(std::vector<std::string> cells);
  /// A line below the table.
  void note(std::string line) { notes_.push_back(std::move(line)); }

  /// Columns aligned by their widest cell, two blanks between them; a repeated first cell is left out.
  std::string text() const;

  bool empty() const { return rows_.empty(); }
  const std::string& title() const { return title_; }
  const std::vector<column>& columns() const { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string title_;
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::string> notes_;
};

// What is not known is a dash.
std::string rate_text(std::optional<double> rate);          // bytes a second: "4.29 TB/s"
std::string count_text(std::optional<std::int64_t> count);  // "32,367"
std::string small_text(std::optional<double> number);       // "9.1e-09"
std::string ratio_text(std::optional<double> ratio);        // "12.3x"
std::string percent_text(std::optional<double> fraction);   // "81.3 %"
std::string change_text(std::optional<double> fraction);    // "+13.2 %"

}  // namespace vouch::bench
