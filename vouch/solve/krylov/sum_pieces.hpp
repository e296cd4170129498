// vouch/solve/krylov/sum_pieces.hpp -- sums over many elements on the CPU, piece by piece; private.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/krylov/sum_room.hpp>

namespace vouch {

/// Elements whose products are added lane by lane; the pieces' sums are added in their order.
constexpr std::int64_t sum_piece = 4096;

/// sums[0..count-1] := the sums over all pieces of what work(first, elements, part) leaves in part[0..count-1]; where sums
/// is nullptr, so is part. items: that all of it is worth, of some nanoseconds each.
template <class Work>
void in_pieces(const device& cpu, std::int64_t n, std::int64_t piece, std::int64_t items, int count,
               sum_room& room, double* sums, const Work& work) {
  const std::int64_t pieces = ceil_div(n, piece);
  double* const parts = sums == nullptr ? nullptr : room.parts(pieces * count);
  const auto of_piece = [&](std::int64_t p) {
    const std::int64_t first = p * piece;
    work(first, std::min(piece, n - first), parts == nullptr ? nullptr : parts + p * count);
  };
  const int threads = pieces == 1 ? 1 : loop_threads(cpu, items);
  if (threads == 1) {
    for (std::int64_t p = 0; p < pieces; ++p) of_piece(p);
  } else {
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static)
    for (std::int64_t p = 0; p < pieces; ++p) of_piece(p);
  }
  if (sums == nullptr) return;
  std::fill_n(sums, count, 0.0);
  for (std::int64_t p = 0; p < pieces; ++p)
    for (int k = 0; k < count; ++k) sums[k] += parts[p * count + k];
}

}  // namespace vouch
