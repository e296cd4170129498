#include <vouch/solve/distributed/block_sums.hpp>

#include <algorithm>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/sparse/residual_row.hpp>

namespace vouch {

block_sums::block_sums(communicator& ranks, const row_partition& rows)
    : ranks_(ranks),
      first_block_(rows.first_block(ranks.rank())),
      own_blocks_(rows.first_block(ranks.rank() + 1) - first_block_),
      mine_(nodes_of(first_block_, first_block_ + own_blocks_)) {
  std::vector<node> open;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<node> theirs = nodes_of(rows.first_block(rank), rows.first_block(rank + 1));
    nodes_of_rank_.push_back(static_cast<std::int64_t>(theirs.size()));
    for (const node& next : theirs) {
      open.push_back(next);
      int joined = 0;
      for (; open.size() > 1; ++joined) {
        node& left = open[open.size() - 2];
        const node& right = open.back();
        const std::int64_t width = std::int64_t{1} << left.level;
        const bool siblings = left.level == right.level && left.first_block % (2 * width) == 0 &&
                              left.first_block + width == right.first_block;
        if (!siblings) break;
        ++left.level;
        open.pop_back();
      }
      joins_.push_back(joined);
    }
  }
}

std::vector<block_sums::node> block_sums::nodes_of(std::int64_t begin, std::int64_t end) {
  std::vector<node> nodes;
  while (begin < end) {
    int level = 0;
    while (begin % (std::int64_t{2} << level) == 0 && begin + (std::int64_t{2} << level) <= end) ++level;
    nodes.push_back({level, begin});
    begin += std::int64_t{1} << level;
  }
  return nodes;
}

void block_sums::add_up(std::span<double> leaves, std::span<double> totals, std::span<double> most) {
  const ieee_environment here;
  const std::size_t width = totals.size();
  sent_.clear();
  for (const node& n : mine_) {
    double* const part = leaves.data() + static_cast<std::size_t>(n.first_block - first_block_) * width;
    for (std::size_t count = std::size_t{1} << n.level; count > 1; count /= 2)
      for (std::size_t k = 0; k < count / 2; ++k)
        for (std::size_t d = 0; d < width; ++d)
          part[k * width + d] = part[2 * k * width + d] + part[(2 * k + 1) * width + d];
    sent_.insert(sent_.end(), part, part + width);
  }
  sent_.insert(sent_.end(), most.begin(), most.end());

  bytes_.clear();
  std::size_t numbers = 0;
  for (const std::int64_t nodes : nodes_of_rank_) {
    const std::size_t theirs = static_cast<std::size_t>(nodes) * width + most.size();
    bytes_.push_back(static_cast<std::int64_t>(theirs * sizeof(double)));
    numbers += theirs;
  }
  gathered_.resize(numbers);
  ranks_.all_gather(sent_.data(), gathered_.data(), bytes_);

  open_.clear();
  const double* next = gathered_.data();
  std::size_t join = 0;
  for (const std::int64_t nodes : nodes_of_rank_) {
    for (std::int64_t k = 0; k < nodes; ++k, next += width) {
      open_.insert(open_.end(), next, next + width);
      for (int joined = joins_[join++]; joined > 0; --joined) {
        const std::size_t left = open_.size() - 2 * width;
        for (std::size_t d = 0; d < width; ++d) open_[left + d] += open_[left + width + d];
        open_.resize(left + width);
      }
    }
    for (std::size_t k = 0; k < most.size(); ++k) most[k] = detail::max_or_nan(most[k], next[k]);
    next += most.size();
  }
  std::fill(totals.begin(), totals.end(), 0.0);
  for (std::size_t left = open_.size(); left > 0; left -= width)
    for (std::size_t d = 0; d < width; ++d)
      totals[d] = left == open_.size() ? open_[left - width + d] : open_[left - width + d] + totals[d];
}

double block_sums::largest(double mine) {
  double most[1] = {mine};
  add_up({}, {}, most);
  return most[0];
}

}  // namespace vouch
