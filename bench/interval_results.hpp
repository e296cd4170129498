// bench/interval_results.hpp -- what the suite interval-blas measures, before it becomes rows and tables.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite.hpp"

namespace vouch::bench {

/// One routine, size and device.
struct interval_cell {
  std::string routine;   // "axpy", "gemm tight", ...
  std::string operands;  // "interval", "point x interval", ...
  std::int64_t n = 0;    // elements of a vector, order of a matrix
  std::string device;
  std::string precision;
  double seconds = 0;
  double bytes = 0;                      // read and written at least
  double operations = 0;                 // 2 for a product that is added
  std::optional<double> with_transfer;   // seconds with operands from and result to host memory
  std::optional<double> plain;           // seconds of cuBLAS or OpenBLAS on points of the same precision
  std::optional<double> boost_standard;  // seconds of Boost.Interval, on as many threads
  std::optional<double> boost_fastest;
};

/// How much wider a mode encloses a product than the mode tight does, over the entries of the product.
struct tightness_cell {
  std::string mode;
  std::string operands;
  std::string device;
  double median = 0;
  double largest = 0;
};

/// Whether a routine gave the same bits twice.
struct repetition_cell {
  std::string routine;
  std::string device;
  bool same = false;
};

/// A call of a function that a header defines, and what it takes without the question about the floating-point
/// environment.
struct question_cell {
  std::string call;
  double seconds = 0, unasked = 0;  // medians
  double ratio = 0;                 // median of pairs of runs
};

struct interval_results {
  machine_facts machine;
  std::vector<interval_cell> cells;
  std::vector<tightness_cell> tightness;
  std::vector<repetition_cell> repetitions;
  std::vector<question_cell> questions;
  std::vector<std::string> notes;  // what could not be measured, and why
};

/// Times every routine on every device; interval_cases.cpp.
interval_results measure_intervals(const suite_options& options, const std::vector<bench_device>& devices,
                                   const machine_facts& machine);

/// The figures that have a bar, and all others, as rows; interval_rows.cpp.
std::vector<bench_row> interval_rows(const interval_results& results);
/// Tables and plots.
std::vector<report_section> interval_sections(const interval_results& results);

}  // namespace vouch::bench
