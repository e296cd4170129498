// bench/cg_results.hpp -- everything the CG suite measured, and how it becomes tables and rows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cg_cases.hpp"
#include "cg_measure.hpp"
#include "results.hpp"

namespace vouch::bench {

/// A case without its matrix.
struct cg_case_facts {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  std::optional<published_figures> figures;
  std::string remark;
};

/// What `--device auto` takes for a case.
struct automatic_choice {
  std::string case_name;
  bool gpu = false;
  std::string why;
};

struct cg_results {
  std::vector<cg_case_facts> cases;
  std::vector<solve_cell> solves;
  std::vector<iteration_cell> iterations;  // on the cases
  std::vector<iteration_cell> scaling;     // on Poisson problems, by dimension, then by size
  std::vector<automatic_choice> choices;   // only where both devices are measured
  bool published_set = true;               // the cases are those of the published table
};

/// Rules of solve_cell.
inline constexpr const char* published_rule = "published";
inline constexpr const char* true_rule = "true";
inline constexpr const char* fixed_rule = "fixed";

/// The first cell that fits, or nullptr.
const solve_cell* find_solve(const cg_results& results, const std::string& case_name, const std::string& device,
                             const std::string& precision, const std::string& rule);
const iteration_cell* find_iterations(const std::vector<iteration_cell>& cells, const std::string& case_name,
                                      const std::string& device, const std::string& precision,
                                      const std::string& layout = "automatic");

/// Unknowns from which the GPU's double-precision iteration is quicker than the CPU's best, interpolated
/// between sizes; none where the measured sizes do not bracket it.
std::optional<double> break_even(const std::vector<iteration_cell>& scaling, int dimensions);

/// The published tables and ours beside them.
std::vector<report_section> cg_sections(const cg_results& results);

/// Time an iteration over the number of unknowns.
std::vector<figure> scaling_figures(const std::vector<iteration_cell>& scaling, int dimensions);
/// The residual over the iterations for each case, with every preconditioner.
std::vector<figure> convergence_figures(const cg_results& results);

/// Everything measured, then every bar.
std::vector<bench_row> cg_rows(const cg_results& results);
/// The bars alone.
std::vector<bench_row> cg_bars(const cg_results& results);

}  // namespace vouch::bench
