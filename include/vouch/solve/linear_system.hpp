// vouch/solve/linear_system.hpp -- systems from files: matrix, right-hand sides, starts, how far the data may be off.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/text/file.hpp>
#include <vouch/verify/interval_data.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace VOUCH_PUBLIC vouch {

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
  array<double> b;      // column by column
  array<double> start;  // likewise

  std::int64_t rows() const { return dense ? dense->rows : A.rows; }
  std::int64_t cols() const { return dense ? dense->cols : A.cols; }
  /// Of the file's numbers, real or complex.
  std::int64_t equations() const { return complex_entries ? rows() / 2 : rows(); }
  std::int64_t unknowns() const { return complex_entries ? cols() / 2 : cols(); }
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

/// Reads a matrix, a sparse one into the memory of dev where a GPU has the room; the vectors are not there yet.
///
/// Throws  as read_any_matrix()
linear_system read_linear_system(const device& cpu, const device& dev, const std::string& path);

/// Fills b and columns for the matrix that is there: from is "ones", "row-sums", which is A times ones, every row summed in
/// twice the precision, or a file.
///
/// Throws  as read_any_vectors(); shape_error  a wrong length: the text names the files
void take_rhs(const device& cpu, const std::string& from, linear_system& system);

/// Fills the starts for the right-hand sides that are there: from is "zeros", "ones" or a file, of which one column serves
/// all. Throws as take_rhs().
void take_start(const device& cpu, const std::string& from, linear_system& system);

/// The vectors of a file, as those of the system are, with as many elements as it has equations or unknowns. Throws as
/// take_rhs().
vectors read_system_vectors(const device& cpu, const std::string& path, const linear_system& system,
                            std::int64_t length);

/// The columns of a file that the matrix nearly annihilates, for multigrid.
///
/// Throws  as read_vectors(); shape_error  another number of rows; value_error  the system is complex
near_nullspace read_near_nullspace(const device& cpu, const std::string& path, const linear_system& system);

/// The rigid body modes of the nodes in a file, of 2 or 3 numbers a line, each with as many unknowns. Throws likewise.
near_nullspace read_rigid_body_modes(const device& cpu, const std::string& path, const linear_system& system);

/// A solver for the matrix that is there, which must outlive it; cpu is where a dense one lives.
solver make_solver(const device& cpu, const linear_system& system, const solve_options& options);

/// The solutions, as the system's file has its numbers: real or complex.
void write_solution(atomic_file& file, const linear_system& system, const array<double>& x);

/// How far the data of a system may be from what was read: the sum of all that is said.
struct radii_request {
  uncertainty within{};                   // relative, of all entries
  std::string matrix_file{}, rhs_file{};  // entry by entry; "": none
  bool decimal = false;  // the decimal numbers count, as files have them, not the doubles nearest to them
};

/// The radii of A and of the right-hand sides, column by column, rounded upwards. Files of radii are read as decimal numbers.
///
/// Throws  as the readers; shape_error  a file of another shape; value_error  a negative radius, or decimal numbers from
///         what cannot be read twice
data_radii read_radii(const device& cpu, const radii_request& request, const linear_system& system);

}  // namespace vouch
