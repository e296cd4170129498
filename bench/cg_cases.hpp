// bench/cg_cases.hpp -- the systems that the CG suite solves, and what was published of them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <vouch/sparse/csr.hpp>

#include "suite.hpp"

namespace vouch::bench {

/// What the thesis of 2010 reports of one matrix; single precision, stop at ||r|| < 1e-5.
struct published_figures {
  double cpu_seconds = 0;
  std::int64_t cpu_iterations = 0;
  std::optional<double> cuda_seconds;  // none where it found no solution
  std::optional<std::int64_t> cuda_iterations;
};

/// The figures of a matrix by its usual lower-case name; none where it was not published.
std::optional<published_figures> published(const std::string& name);

/// One system A x = A * ones.
struct cg_case {
  std::string name;
  csr<double> A;  // on the CPU
  std::optional<published_figures> figures;
  std::string remark;  // "reconstructed", "stands in for bcsstk17", or empty
};

/// Which matrices there are to solve, without reading them.
struct cg_case_source {
  std::string name;
  std::string file;  // empty: generated
};

/// The matrices named in the options, else those of the published table that stand in options.data, and the
/// generated stand-in for what is missing there.
std::vector<cg_case_source> published_cases(const suite_options& options);

/// Reads or generates one.
cg_case load(const device& cpu, const cg_case_source& source);

/// A Poisson problem of the scaling table: side^dimensions points.
struct poisson_size {
  int dimensions = 2;
  std::int64_t side = 0;
  std::int64_t rows() const { return dimensions == 2 ? side * side : side * side * side; }
  std::string name() const;  // "poisson 2d 512", "poisson 3d 256"
};

/// Sizes from small to what the suite measures at most.
std::vector<poisson_size> poisson_sizes(int dimensions, bool quick);

/// Its matrix, 5-point or 7-point.
csr<double> poisson_matrix(const device& cpu, const poisson_size& size);

/// A * ones, each sum rounded once to T.
template <real T>
std::vector<T> row_sums(csr_view<const T> A);

}  // namespace vouch::bench
