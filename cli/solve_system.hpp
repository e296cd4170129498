// cli/solve_system.hpp -- the system that vouch solve reads: matrix, right-hand sides, starts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/csr.hpp>

#include "solve_request.hpp"

namespace vouch::cli {

/// Seconds of the parts of a run.
struct spent_seconds {
  double cuda_start = 0, read = 0, setup = 0, transfer = 0, solve = 0, write = 0, total = 0;

  void add(const solve_times& times) {
    cuda_start += times.cuda_start;
    setup += times.setup;
    transfer += times.transfer;
    solve += times.solve;
  }
};

/// A X = B with as many columns as there are right-hand sides; vectors live on the CPU.
struct linear_system {
  std::string file;
  std::string rhs;               // ones, row-sums or a file
  csr<double> A;                 // on the device that read it; empty where the matrix is dense
  std::optional<vectors> dense;  // by columns
  std::int64_t columns = 1;
  array<double> b;        // column by column
  array<double> start;    // likewise
  spent_seconds seconds;  // setup: of vectors that no file holds

  std::int64_t rows() const { return dense ? dense->rows : A.rows; }
  std::int64_t cols() const { return dense ? dense->cols : A.cols; }
  /// All right-hand sides.
  matrix_view<const double> block_of_b() const {
    return {b.data(), rows(), columns, std::max<std::int64_t>(1, rows())};
  }
  /// All solutions, which x holds.
  matrix_view<double> block_of_x(array<double>& x) const {
    return {x.data(), cols(), columns, std::max<std::int64_t>(1, cols())};
  }
  /// The entries of a dense matrix.
  matrix_view<const double> entries() const {
    return {dense->values.data(), dense->rows, dense->cols, std::max<std::int64_t>(1, dense->rows)};
  }
};

/// Fills b and columns for the matrix that is there: from is ones, row-sums or a file.
///
/// Throws  what the readers throw; shape_error  a wrong length: the text names the files
void take_rhs(const device& cpu, const std::string& from, linear_system& system);

/// The matrix of any file that read_matrix() takes; of a dense one without its zeros.
csr<double> read_sparse(const device& cpu, const std::string& path,
                        std::optional<matrix_market_header>* header = nullptr);

/// Reads a matrix, a sparse one into the memory of dev where a GPU has the room; the vectors are not there yet.
///
/// Throws  what the readers throw
linear_system read_system_matrix(const device& cpu, const device& dev, const std::string& path);

/// A solver for the matrix that is there, which must outlive it; cpu is where a dense one lives.
solver make_solver(const device& cpu, const linear_system& system, const solve_options& options);

/// Reads the vectors of the request and checks that all fits together.
///
/// Throws  what the readers throw; shape_error where a vector has the wrong length: the texts name the files
void take_vectors(const device& cpu, const solve_request& request, linear_system& system);

}  // namespace vouch::cli
