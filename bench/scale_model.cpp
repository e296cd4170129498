#include "scale_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <vouch/solve/distributed/block_sums.hpp>

namespace vouch::bench {
namespace {

constexpr double element = sizeof(double);
constexpr double micro = 1e-6, giga = 1e9;

double cubed(std::int64_t N) {
  const auto n = static_cast<double>(N);
  return n * n * n;
}

std::int64_t nodes_of(const worker_kind& kind, std::int64_t workers) {
  return (workers + kind.on_a_node - 1) / kind.on_a_node;
}

double doublings(std::int64_t count) {
  return count > 1 ? static_cast<double>(std::bit_width(static_cast<std::uint64_t>(count - 1))) : 0.0;
}

// Bytes that the busiest worker sends, or receives.
double halo_bytes(std::int64_t N, std::int64_t workers, division how) {
  if (workers == 1) return 0;
  const auto side = static_cast<double>(N);
  if (how == division::slabs) return element * side * side * (workers == 2 ? 1 : 2);
  return element * 6 * std::pow(cubed(N) / static_cast<double>(workers), 2.0 / 3);
}

// Of all workers' trees, where runs of blocks are cut evenly.
double gathered_bytes(std::int64_t N, std::int64_t workers) {
  constexpr double sums = 5;
  const std::int64_t blocks = row_partition::blocks_of(N * N * N);
  std::int64_t nodes = 0;
  for (std::int64_t w = 0; w < workers; ++w)
    nodes += block_sums::nodes_between(blocks * w / workers, blocks * (w + 1) / workers);
  return element * sums * static_cast<double>(nodes);
}

double reduction(const worker_kind& kind, std::int64_t N, std::int64_t workers) {
  if (workers == 1) return 0;
  const std::int64_t nodes = nodes_of(kind, workers), near = std::min<std::int64_t>(workers, kind.on_a_node);
  const double here = kind.gathers ? kind.reduction * doublings(near) : kind.reduction;
  const double link = nodes > 1 ? kind.far_link : kind.link;
  return here + kind.step * doublings(nodes) + (kind.gathers ? gathered_bytes(N, workers) / link : 0);
}

}  // namespace

// Traffic: half of a symmetric matrix by diagonals (4 numbers a row) and ten of vectors. Memory, fixed: 3587 us at 512^3 in
// slabs and 12.4 us at 64^3 on one GPU. Reduction, link: measured on two, by flags and by loads from peer memory.
// Kept: the slabs, six vectors, a copy of the whole direction and, on the first GPU, the whole matrix besides.
const worker_kind& h200() {
  static constexpr double traffic = 14 * element, fixed = 5.4 * micro;
  static constexpr double memory = 134217728.0 * traffic / (3587 * micro - fixed);
  static constexpr worker_kind kind{"H200",    8,     traffic,      memory,    8 * memory,
                                    fixed,     2,     2.75 * micro, 5 * micro, 365 * giga,
                                    50 * giga, false, 13 * element, element};
  return kind;
}

// Traffic: CSR of seven entries a row with its offset, the product's vectors, an update of three and half of one.
// Memory: 3.68 ms at 80^3 on one rank; of the node: 0.452 ms on 16. Kept: measured at 80^3 and 120^3 on 1 to 4 ranks, at
// most while entries find their rows.
const worker_kind& xeon_rank() {
  static constexpr double traffic = 7 * 12 + element + 9 * element + element;
  static constexpr double rows = 512000;
  static constexpr worker_kind kind{"rank on a Xeon core",
                                    32,
                                    traffic,
                                    rows * traffic / (3678 * micro),
                                    rows * traffic / (452 * micro - 4 * micro),
                                    0,
                                    1,
                                    1 * micro,
                                    2 * micro,
                                    5 * giga,
                                    1 * giga,
                                    true,
                                    250,
                                    0};
  return kind;
}

iteration_cost predict(const worker_kind& kind, std::int64_t N, std::int64_t workers, division how) {
  const auto count = static_cast<double>(workers);
  const double here = std::min(count, static_cast<double>(kind.on_a_node));
  const double memory = std::min(kind.memory, kind.node_memory / here);
  const double link = nodes_of(kind, workers) > 1 ? kind.far_link : kind.link;
  return {cubed(N) / count * kind.row_traffic / memory, halo_bytes(N, workers, how) / link,
          kind.reductions * reduction(kind, N, workers), kind.fixed};
}

double memory_of_worker(const worker_kind& kind, std::int64_t N, std::int64_t workers) {
  return cubed(N) * (kind.row_memory / static_cast<double>(workers) + kind.whole_memory);
}

// GPUs: docs/performance.md and results/cg-h200.json. Ranks: a prototype of --engine ranks, 199 iterations of 80^3.
std::span<const timed_iteration> timed_iterations() {
  static const timed_iteration all[] = {
      {h200(), 64, 1, 12.4 * micro, true},         {h200(), 100, 1, 33.0 * micro, false},
      {h200(), 160, 1, 118.4 * micro, false},      {h200(), 256, 1, 420 * micro, false},
      {h200(), 384, 1, 1617 * micro, false},       {h200(), 512, 1, 3587 * micro, true},
      {h200(), 64, 2, 12.4 / 0.68 * micro, false}, {h200(), 160, 2, 118.4 / 1.65 * micro, false},
      {h200(), 256, 2, 230 * micro, false},        {h200(), 384, 2, 781 * micro, false},
      {h200(), 512, 2, 1807 * micro, false},       {xeon_rank(), 80, 1, 0.732 / 199, true},
      {xeon_rank(), 80, 2, 0.385 / 199, false},    {xeon_rank(), 80, 4, 0.183 / 199, false},
      {xeon_rank(), 80, 8, 0.131 / 199, false},    {xeon_rank(), 80, 16, 0.090 / 199, true},
  };
  return all;
}

}  // namespace vouch::bench
