// vouch/io/sparse_systems.hpp -- files that hold sparse systems whose matrices have one pattern.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Square matrices by rows, and right-hand sides: of every system, or one for all.
struct sparse_systems {
  std::int64_t systems = 0, rows = 0;
  std::vector<std::int64_t> row_ptr;
  std::vector<std::int32_t> col;
  std::vector<double> values, b;
  bool one_matrix = false, one_rhs = false;
};

/// An .npz archive with the arrays indptr and indices, data and b: of two dimensions with a system in each row, of one
/// where one matrix, or one right-hand side, serves all. Other arrays are not looked at.
///
/// Result  Nothing where the file is no .npz archive or a pipe, or holds no indptr. At least one system. Numbers may be NaN.
/// Throws  file_error   missing, unreadable or a directory
///         parse_error  an array is absent, shapes do not fit, indices are no whole numbers of 32 bits
std::optional<sparse_systems> read_sparse_systems(const std::string& path);

}  // namespace vouch
