// vouch/solve/distributed/wish.hpp -- what ranks want of a loop, agreed on with its reductions; private.
#pragma once
#include <span>

#include <vouch/solve/distributed/block_sums.hpp>
#include <vouch/solve/loop/inner_solver.hpp>

namespace vouch::distributed {

/// The strongest of all ranks is that of all. A stop is preceded by a last file, where there are files.
enum class wish { none, save, stop };

/// That of this rank behind iteration_log::note(), which said whether to go on.
inline wish wish_behind(const iteration_log& log, bool goes_on) {
  return !goes_on ? wish::stop : log.save_due() ? wish::save : wish::none;
}

/// Adds up as block_sums; of_all becomes the strongest wish.
inline void add_up(block_sums& sums, std::span<double> leaves, std::span<double> totals, wish& of_all) {
  double strongest[1] = {static_cast<double>(of_all)};
  sums.add_up(leaves, totals, strongest);
  of_all = static_cast<wish>(strongest[0]);
}

}  // namespace vouch::distributed
