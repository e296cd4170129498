// vouch/distributed/row_partition.hpp -- which rows stand on which rank.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Rows in their natural order, a run of whole blocks for each rank; a run may be empty.
class row_partition {
 public:
  /// Rows of a block: the leaves of every sum, whatever the number of ranks.
  static constexpr std::int64_t block_rows = 1024;

  row_partition() = default;
  /// Cuts between blocks where each rank comes to have about as many entries; entries_of has one element for each block.
  row_partition(std::int64_t rows, int ranks, std::span<const std::int64_t> entries_of);

  static std::int64_t blocks_of(std::int64_t rows) { return (rows + block_rows - 1) / block_rows; }

  std::int64_t rows() const { return rows_; }
  int ranks() const { return static_cast<int>(first_block_.size()) - 1; }
  std::int64_t blocks() const { return blocks_of(rows_); }
  /// The first block or row of a rank; of rank ranks() one behind the last.
  std::int64_t first_block(int rank) const { return first_block_[static_cast<std::size_t>(rank)]; }
  std::int64_t first_row(int rank) const {
    const std::int64_t row = first_block(rank) * block_rows;
    return row < rows_ ? row : rows_;
  }
  std::int64_t rows_of(int rank) const { return first_row(rank + 1) - first_row(rank); }
  int owner(std::int64_t row) const;

 private:
  std::int64_t rows_ = 0;
  std::vector<std::int64_t> first_block_{0, 0};
};

}  // namespace vouch
