// bench/scale_model.hpp -- the time that an iteration of conjugate gradients takes many workers, predicted.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace vouch::bench {

/// How the rows of a grid of N x N x N points are dealt out: in their natural order, so that a worker has two planes to
/// hand over whatever their number, or as cubes, which another order of rows would give.
enum class division { slabs, cubes };

/// A worker - a GPU, or a rank on a core - and what connects it with others. Seconds, bytes, bytes a second.
struct worker_kind {
  std::string_view name;
  int on_a_node;
  double row_traffic;     // bytes of memory that an iteration moves for a row of seven points
  double memory;          // of one worker alone
  double node_memory;     // of all workers of a node together
  double fixed;           // seconds an iteration, whatever the size
  int reductions;         // an iteration: all workers learn of all sums
  double reduction;       // seconds of one within a node
  double step;            // what each doubling of the number of nodes adds to it
  double link, far_link;  // bytes a second of a worker to one of its node, of another node
  bool gathers;           // a reduction brings every worker the nodes of all workers' trees (block_sums)
  double row_memory;      // bytes that a worker keeps for each of its rows
  double whole_memory;    // and for each row of the whole system
};

/// The H200 of `vouch solve --device cuda:all`, in nodes of eight. Within a node measured; between nodes assumed, where
/// nothing was measured: 50 GB/s a GPU, 5 us a message.
const worker_kind& h200();
/// A rank of --engine ranks on a core of a Xeon of 32. Its memory and that of 16 were measured; assumed: within a node 5 GB/s
/// a rank and 1 us a message, between nodes 1 GB/s and 2 us.
const worker_kind& xeon_rank();

/// Seconds of one iteration.
struct iteration_cost {
  double memory = 0;  // what the rows themselves take
  double halo = 0;    // travels while rows that need none of it are worked on
  double reductions = 0;
  double fixed = 0;
  double all() const { return fixed + (memory > halo ? memory : halo) + reductions; }
};

/// Of a grid of N^3 points on so many workers.
iteration_cost predict(const worker_kind& kind, std::int64_t N, std::int64_t workers, division how);

/// Bytes that each worker keeps.
double memory_of_worker(const worker_kind& kind, std::int64_t N, std::int64_t workers);

/// An iteration that was timed.
struct timed_iteration {
  const worker_kind& kind;
  std::int64_t N;
  std::int64_t workers;
  double seconds;
  bool fitted;  // the model was made with it: it says nothing of how good that is
};

/// What predictions are held against.
std::span<const timed_iteration> timed_iterations();

}  // namespace vouch::bench
