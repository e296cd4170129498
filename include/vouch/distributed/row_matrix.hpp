// vouch/distributed/row_matrix.hpp -- a sparse matrix whose rows stand on several ranks, and which rows on which.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/distributed/communicator.hpp>
#include <vouch/sparse/csr.hpp>

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

/// Indices from 0.
struct matrix_entry {
  std::int32_t row = 0;
  std::int32_t col = 0;
  double value = 0;
};

/// This rank's rows of a square matrix, and which elements of the others' vectors they need.
///
/// A vector that is multiplied has length() elements: those of this rank's rows, then the halo, which begin_halo() and
/// end_halo() fetch. Column j of local() is element j of it. The entries of a row stand in the order of their columns in
/// the whole matrix, so that sums over a row have the same bits on any number of ranks.
class row_matrix {
 public:
  /// Brings every entry to the rank that has its row. Duplicates are summed in the order of ranks, and of their entries.
  ///
  /// Memory  Three times the entries while it works; ranks must outlive the result.
  /// Throws  value_error, on every rank  rows outside 0 to 2^31 - 1, an entry outside the matrix
  ///         shape_error, on every rank  a rank's rows and halo exceed 2^31 - 1 elements
  static row_matrix from_entries(communicator& ranks, std::int64_t rows, std::vector<matrix_entry> entries);

  communicator& ranks() const { return pattern_->ranks; }
  const row_partition& partition() const { return pattern_->partition; }
  std::int64_t first_row() const { return pattern_->first_row; }
  /// This rank's.
  std::int64_t rows() const { return pattern_->rows; }
  std::int64_t blocks() const { return row_partition::blocks_of(rows()); }
  std::int64_t length() const { return rows() + static_cast<std::int64_t>(pattern_->halo.size()); }
  /// Of all ranks.
  std::int64_t all_rows() const { return partition().rows(); }
  std::int64_t all_nonzeros() const { return pattern_->all_nonzeros; }

  csr_view<const double> local() const {
    return {rows(), length(), values_.size(), pattern_->row_ptr.data(), pattern_->col.data(), values_.data()};
  }
  /// The same pattern, which is not copied, with other values: one for each entry of local().
  row_matrix with_values(array<double> values) const { return {pattern_, std::move(values)}; }
  /// Of column j of local(), in the whole matrix.
  std::int64_t column(std::int32_t j) const {
    return j < rows() ? first_row() + j : pattern_->halo[static_cast<std::size_t>(j - rows())];
  }
  /// Columns of the whole matrix behind those of this rank's rows.
  std::span<const std::int64_t> halo() const { return pattern_->halo; }

  /// Blocks of rows that need nothing of other ranks, and the others; from 0.
  std::span<const std::int64_t> inner_blocks() const { return pattern_->inner; }
  std::span<const std::int64_t> outer_blocks() const { return pattern_->outer; }

  /// Sends what others need of x and begins to receive its halo, which is there after end_halo(); what stands in
  /// between may read the first rows() elements and change none. Not for two vectors at a time.
  void begin_halo(double* x) const;
  void end_halo() const { ranks().end_exchange(); }
  void fetch_halo(double* x) const {
    begin_halo(x);
    end_halo();
  }

 private:
  // What goes to one neighbour or comes from it: elements from `first` on.
  struct neighbour {
    int rank;
    std::int64_t first, elements;
  };

  struct pattern {
    explicit pattern(communicator& all) : ranks(all) {}
    void make_halo(std::span<const std::int32_t> columns);
    void sort_blocks();

    communicator& ranks;
    row_partition partition;
    std::int64_t first_row = 0, rows = 0, all_nonzeros = 0;
    array<std::int64_t> row_ptr;
    array<std::int32_t> col;
    std::vector<std::int64_t> halo;
    std::vector<neighbour> from, to;
    std::vector<std::int32_t> send_rows;
    std::vector<std::int64_t> inner, outer;
    mutable std::vector<double> send_buffer;
    mutable std::vector<rank_message> sends, receives;
  };

  row_matrix(std::shared_ptr<const pattern> made, array<double> values)
      : pattern_(std::move(made)), values_(std::move(values)) {}
  static row_matrix from_own(std::shared_ptr<pattern> made, std::vector<matrix_entry> entries);

  std::shared_ptr<const pattern> pattern_;
  array<double> values_;
};

}  // namespace vouch
