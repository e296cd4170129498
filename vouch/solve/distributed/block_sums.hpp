// vouch/solve/distributed/block_sums.hpp -- sums whose bits do not depend on the number of ranks; private.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <vouch/distributed/communicator.hpp>
#include <vouch/distributed/row_matrix.hpp>

namespace vouch {

/// Adds what the blocks of rows contribute along a binary tree over their numbers: a function of those alone. Every
/// rank adds up the largest whole nodes of the tree that it has, all ranks learn of all such nodes, and each adds the
/// rest.
class block_sums {
 public:
  /// Memory  rows and ranks outlive it.
  block_sums(communicator& ranks, const row_partition& rows);

  std::int64_t blocks() const { return own_blocks_; }

  /// totals := the sums over all blocks of all ranks, most := the largest over all ranks, NaN where one is.
  ///
  /// Shapes  leaves has totals.size() numbers for each of this rank's blocks, block after block, and is destroyed.
  /// Result  On every rank the same bits, whatever the number of ranks.
  /// Cost    One all_gather() of at most 2 log2(blocks) numbers a rank for each of the totals.
  void add_up(std::span<double> leaves, std::span<double> totals, std::span<double> most = {});

  /// The largest of all ranks' values; NaN where one is.
  double largest(double mine);

  /// How many numbers a rank with blocks `begin` to `end - 1` sends for each of the totals: 1 to 2 log2(end - begin).
  static std::int64_t nodes_between(std::int64_t begin, std::int64_t end) {
    return static_cast<std::int64_t>(nodes_of(begin, end).size());
  }

 private:
  struct node {
    int level;
    std::int64_t first_block;
  };
  static std::vector<node> nodes_of(std::int64_t begin, std::int64_t end);

  communicator& ranks_;
  std::int64_t first_block_, own_blocks_;
  std::vector<node> mine_;
  std::vector<std::int64_t> nodes_of_rank_;
  std::vector<int> joins_;  // how many pairs close behind each node, all ranks' in the order of blocks
  std::vector<double> sent_, gathered_, open_;
  std::vector<std::int64_t> bytes_;
};

}  // namespace vouch
