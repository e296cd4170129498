// vouch/io/tridiagonal_systems.hpp -- files that hold tridiagonal systems.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Systems one after another, those of different lengths with offsets, and their right-hand sides.
struct tridiagonal_systems {
  std::vector<double> dl, d, du, b;
  std::int64_t systems = 0;
  bool shared = false;                // one matrix for all right-hand sides
  bool table = false;                 // b has a row for each system
  std::vector<std::int64_t> offsets;  // systems + 1, or none where all are equally long

  /// How the right-hand sides lie, and the matrices. Both refer to offsets.
  batch_shape shape() const;
  batch_shape matrix_shape() const;
  tridiagonal_view<const double> matrices() const { return {dl.data(), d.data(), du.data(), matrix_shape()}; }
  batch_view<const double> rhs() const { return {b.data(), shape()}; }
  /// Entries of the matrices as if each system had its own.
  std::int64_t nonzeros() const;
};

/// Text: a row a line, "dl d du b", a blank line behind each system, remarks from # on. Or an .npz archive with
/// arrays dl, d, du and b: of one dimension for one system, of two for a system in each row; dl, d and du may
/// have one dimension where b has two: then all share one matrix; with an array offsets the systems lie behind
/// one another. dl of a first row and du of a last one are there and not used.
///
/// Result  At least one system.
/// Throws  file_error   missing, unreadable or a directory
///         parse_error  the file breaks its format or holds no system
tridiagonal_systems read_tridiagonal_systems(const std::string& path);

}  // namespace vouch
