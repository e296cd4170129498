// bench/results.hpp -- what a suite hands back: rows for programs, sections for people.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine.hpp"
#include "text_table.hpp"

namespace vouch::bench {

/// One figure. What was not measured or does not apply has no value.
struct bench_row {
  std::string case_name;
  std::string device;     // "cpu1" (one thread), "cpu" (all threads), "gpu"
  std::string precision;  // "double", "single"
  std::string metric;     // "iterations", "time_per_iteration", ...
  std::optional<double> value;
  std::string unit;             // SI: "s", "B", "B/s"; "1" for counts and ratios
  std::optional<double> floor;  // what the hardware allows at best, in the same unit, measured in this run
  std::optional<double> peer;   // another program's figure, same unit, same run
  std::optional<double> ratio;  // how many times better than the peer; without a peer: floor / value
  std::optional<double> bar;    // what must be reached
  std::optional<bool> pass;     // none where the figure or the bar is missing
};

/// A drawing with its caption.
struct figure {
  std::string caption;
  std::string svg;
};

/// One chapter of the report.
struct report_section {
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<text_table> tables;
  std::vector<figure> figures;
};

struct suite_results {
  std::string suite;
  std::string title;
  machine_facts machine;
  std::vector<bench_row> rows;
  std::vector<report_section> sections;
  bool interrupted = false;
};

/// All eleven keys, null where there is no value.
nlohmann::ordered_json to_json(const bench_row& row);
/// The object of schema vouch.bench/1.
nlohmann::ordered_json to_json(const suite_results& results);

/// All sections as plain text.
std::string to_text(const suite_results& results);

/// Bars reached, bars missed, bars not measured: "12 of 14 bars reached, 2 not measured"; or that there are
/// none.
std::string bars_text(const std::vector<bench_row>& rows);
/// The rows that have a bar.
text_table bars_table(const std::vector<bench_row>& rows);

}  // namespace vouch::bench
