#include <vouch/distributed/row_matrix.hpp>

#include <algorithm>

namespace vouch {

// Rows count as well: vectors take as long as some entries.
row_partition::row_partition(std::int64_t rows, int ranks, std::span<const std::int64_t> entries_of)
    : rows_(rows), first_block_(static_cast<std::size_t>(ranks) + 1, blocks_of(rows)) {
  constexpr std::int64_t entries_a_row = 8;
  const auto weight = [&](std::size_t block) { return entries_of[block] + entries_a_row * block_rows; };
  std::int64_t total = 0;
  for (std::size_t block = 0; block < entries_of.size(); ++block) total += weight(block);
  const std::int64_t share = total / ranks, rest = total % ranks;
  std::int64_t before = 0;
  std::size_t block = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t begin = share * rank + rest * rank / ranks;
    while (block < entries_of.size() && before + weight(block) / 2 < begin) before += weight(block++);
    first_block_[static_cast<std::size_t>(rank)] = static_cast<std::int64_t>(block);
  }
}

int row_partition::owner(std::int64_t row) const {
  const auto behind = std::upper_bound(first_block_.begin(), first_block_.end(), row / block_rows);
  return static_cast<int>(behind - first_block_.begin()) - 1;
}

}  // namespace vouch
