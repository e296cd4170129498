// vouch/sparse/structure.hpp -- facts of a sparse matrix that decide how it can be solved.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// How |a_ii| compares with the sum of |a_ij|, j != i, in every row.
enum class dominance { none, weak, strict };

/// "none", "weak", "strict".
const char* name(dominance kind);

/// An entry a_ij that differs from a_ji; mirrored is 0 where a_ji is not stored.
struct unsymmetric_entry {
  std::int64_t row = 0;
  std::int64_t col = 0;
  double value = 0;
  double mirrored = 0;
};

/// Row numbers count from 0; -1 means that there is none.
struct structure_facts {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nonzeros = 0;
  bool square = false;

  bool pattern_symmetric = false;                      // a_ij is stored exactly where a_ji is
  bool symmetric = false;                              // a_ij == a_ji, what is not stored being 0
  std::optional<unsymmetric_entry> first_unsymmetric;  // by rows, then columns; of a square matrix
  // Not symmetric, but the real form (vouch/solve/complex.hpp) of a complex matrix that equals its transpose.
  bool complex_symmetric = false;

  bool diagonal_positive = false;                // every a_ii > 0
  bool diagonal_negative = false;                // every a_ii < 0
  std::int64_t first_zero_diagonal = -1;         // a_ii missing or 0
  std::int64_t first_nonpositive_diagonal = -1;  // !(a_ii > 0)
  double diagonal_least = 0;                     // |a_ii|, the least and the largest; of a square matrix
  double diagonal_largest = 0;

  dominance dominant = dominance::none;
  double dominance_ratio = 0;     // smallest |a_ii| / sum |a_ij|; infinite for a diagonal matrix
  std::int64_t weakest_row = -1;  // the first row with that ratio; -1 where it is infinite
  std::int64_t strictly_dominant_rows = 0;

  std::int64_t bandwidth_lower = 0;  // largest i - j of a stored entry, at least 0
  std::int64_t bandwidth_upper = 0;  // largest j - i
  std::int64_t entries_min = 0;      // of a row
  std::int64_t entries_max = 0;
  double entries_mean = 0;
  std::int64_t empty_rows = 0;

  bool row_sums_zero = false;           // |sum a_ij| <= 32 u sum |a_ij| in every row: A*ones = 0
  std::int64_t distinct_diagonals = 0;  // distinct j - i; diagonals_cap + 1 stands for more
  int block_size = 1;                   // largest of 6, 3, 2 for which A consists of dense aligned blocks

  static constexpr std::int64_t diagonals_cap = 64;
  std::int64_t bandwidth() const {
    return bandwidth_lower > bandwidth_upper ? bandwidth_lower : bandwidth_upper;
  }
};

/// All of it.
///
/// Memory  A lives on dev. On a GPU a bit for each row and column besides.
/// Types   T is float or double; sums are formed in double.
/// Result  The same on every device and for any number of threads. Dominance is judged up to the rounding of a row's sum: a row
///         whose ratio lies within 16 u of 1 counts as weakly dominant.
/// Cost    About two passes over A; a binary search for each entry above the diagonal where rows are long.
///         A square unsymmetric matrix is searched once more, and copied to the CPU from a GPU where it is the real
///         form of a complex one. Waits for a GPU.
template <real T>
structure_facts structure(const device& dev, csr_view<const T> A);

/// Number of connected components of the graph with an edge between i and j for every stored a_ij.
///
/// Shapes  A is square.
/// Memory  A lives on the CPU; 4 n bytes besides.
/// Cost    O(nnz), one pass.
/// Throws  value_error  dev is a GPU
///         shape_error  A is not square
/// Source  Concurrent union-find: Jayanti, Tarjan, PODC 2016.
template <real T>
std::int64_t connected_components(const device& dev, csr_view<const T> A);

}  // namespace vouch
