// cli/solve_system.hpp -- the system that vouch solve reads: matrix, right-hand sides, starts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
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

/// A X = B with as many columns as there are right-hand sides; vectors live on the CPU. A complex matrix is here by its
/// real form (vouch/solve/complex.hpp), vectors then by the parts of their elements in turns.
struct linear_system {
  std::string file;
  std::string rhs;                              // ones, row-sums or a file
  csr<double> A;                                // on the device that read it; empty where the matrix is dense
  std::optional<vectors> dense;                 // by columns
  std::optional<std::int64_t> complex_entries;  // of a complex matrix
  bool complex_columns = false;                 // of a real matrix: two columns are real and imaginary parts
  std::int64_t columns = 1;
  array<double> b;        // column by column
  array<double> start;    // likewise
  spent_seconds seconds;  // setup: of vectors that no file holds

  std::int64_t rows() const { return dense ? dense->rows : A.rows; }
  std::int64_t cols() const { return dense ? dense->cols : A.cols; }
  /// Of the file's numbers, real or complex.
  std::int64_t equations() const { return complex_entries ? rows() / 2 : rows(); }
  std::int64_t unknowns() const { return complex_entries ? cols() / 2 : cols(); }
  std::int64_t entries_of(const structure_facts& facts) const {
    return complex_entries.value_or(facts.nonzeros);
  }
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

/// Reads what --coordinates or --near-nullspace names into the options; nothing where neither was given.
///
/// Throws  what the readers throw; shape_error  a file of another length
void take_near_nullspace(const device& cpu, const linear_system& system, solve_request& request);

/// Fills b and columns for the matrix that is there: from is ones, row-sums or a file.
///
/// Throws  what the readers throw; shape_error  a wrong length: the text names the files
void take_rhs(const device& cpu, const std::string& from, linear_system& system);

/// The vectors of a file, as those of the system are, with as many elements as it has equations or unknowns.
///
/// Throws  what the readers throw; shape_error  another length
vectors read_system_vectors(const device& cpu, const std::string& path, const linear_system& system,
                            std::int64_t length);

/// The key "matrix" of a system: of a complex one with its field, and "symmetric" says whether it is Hermitian.
nlohmann::ordered_json matrix_json(const linear_system& system, const structure_facts& facts);

/// The solutions, as the system's file has its numbers: real or complex.
void write_solution(atomic_file& file, const linear_system& system, const array<double>& x);

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
