// cli/batch_file.hpp -- files that hold a batch of tridiagonal systems.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/band/tridiagonal.hpp>

namespace vouch::cli {

/// Systems one after another, those of different lengths with offsets.
struct batch_file {
  std::vector<double> dl, d, du, b;
  std::int64_t systems = 0;
  bool shared = false;                // one matrix for all right-hand sides
  bool table = false;                 // b has a row for each system
  std::vector<std::int64_t> offsets;  // systems + 1, or none where all are equally long

  batch_shape shape() const;
  batch_shape matrix_shape() const;
  /// Entries of the matrices as if each system had its own.
  std::int64_t nonzeros() const;
};

/// Text: a row a line, "dl d du b", a blank line behind each system, remarks from # on. Or an .npz archive with
/// arrays dl, d, du and b: of one dimension for one system, of two for a system in each row; dl, d and du may
/// have one dimension where b has two: then all share one matrix; with an array offsets the systems lie behind
/// one another. dl of a first row and du of a last one are there and not used.
///
/// Throws  file_error; parse_error
batch_file read_batch(const std::string& path);

}  // namespace vouch::cli
