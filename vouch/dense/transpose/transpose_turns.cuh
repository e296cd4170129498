// vouch/dense/transpose/transpose_turns.cuh -- columns of a matrix turned in the pass that shuffles its lines; private.
//
// Element j of a line stands, or with Back is to stand, turn(j) lines further on: less than `common` lines.
// Blocks take the lines in order, with Back from the last one on, and none writes to a line before the block
// that needs what stands there has read it: that one began before. Lines beyond the last one are the first
// ones, which others write, or read, meanwhile: these have a copy.
#pragma once
#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/dense/transpose/transpose_shuffle.hpp>

namespace vouch::detail {

struct no_turns {
  static constexpr bool turned = false;

  template <bool Back>
  __device__ std::uint32_t own_line(std::uint32_t) const {
    return blockIdx.x;
  }
  /// Line k + turn of A.
  template <class E>
  __device__ E* line(E* A, std::uint32_t, std::uint32_t length, std::uint32_t k, std::uint32_t) const {
    return A + std::int64_t{k} * length;
  }
  template <bool Back>
  __device__ void await_readers(std::uint32_t, std::uint32_t) const {}
};

template <class E>
struct line_turns {
  static constexpr bool turned = true;
  std::uint32_t common;
  E* beyond;        // the copy
  unsigned* taken;  // lines that blocks have begun with
  unsigned* read;   // of a line: 1 when its block has read all that it needs

  template <bool Back>
  __device__ std::uint32_t own_line(std::uint32_t lines) const {
    __shared__ unsigned number;
    if (threadIdx.x == 0) number = atomicAdd(taken, 1u);
    __syncthreads();
    return Back ? lines - 1 - number : number;
  }
  __device__ E* line(E* A, std::uint32_t lines, std::uint32_t length, std::uint32_t k,
                     std::uint32_t turn) const {
    const std::uint32_t at = k + turn;
    return at < lines ? A + std::int64_t{at} * length : beyond + std::int64_t{at - lines} * length;
  }
  /// The whole block, when it has read, before it writes.
  template <bool Back>
  __device__ void await_readers(std::uint32_t k, std::uint32_t lines) const {
    const std::uint32_t way = threadIdx.x;
    if (way == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(read + k) : "memory");
    if (way > 0 && way < common && (Back ? k + way < lines : k >= way)) {
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                     : "=r"(seen)
                     : "l"(read + (Back ? k + way : k - way))
                     : "memory");
      } while (seen == 0);
    }
    __syncthreads();
  }
};

inline constexpr std::int64_t most_turns = 32;
inline constexpr int turn_threads = 256;

// Of line r the part that is turned by more than r lines.
template <class E>
__global__ void __launch_bounds__(turn_threads)
    copy_turned(const E* __restrict__ from, std::int64_t length, std::int64_t length_over,
                std::int64_t blocks_of_line, E* __restrict__ to) {
  const std::int64_t r = blockIdx.x / blocks_of_line,
                     j = (r + 1) * length_over + blockIdx.x % blocks_of_line * turn_threads + threadIdx.x;
  if (j < length) to[r * length + j] = from[r * length + j];
}

/// What the blocks of a pass share, and the copy of the first lines, made before it or, with Back, after it.
template <class E>
class turned_pass {
 public:
  turned_pass(const device& dev, E* A, const transpose_shuffle& shuffle)
      : dev_(dev),
        A_(A),
        shuffle_(shuffle),
        counters_(dev, shuffle.lines + 1),
        copy_(dev, (shuffle.common - 1) * shuffle.length + most_within) {
    zero_bytes(dev, counters_.data(), static_cast<std::size_t>(counters_.size()) * sizeof(unsigned));
  }

  line_turns<E> turns() {
    return {static_cast<std::uint32_t>(shuffle_.common), beyond(), counters_.data(), counters_.data() + 1};
  }
  void save() { copy(A_, beyond()); }
  void restore() { copy(beyond(), A_); }

 private:
  static constexpr std::int64_t most_within = 16 / sizeof(E);

  // It begins as far within 16 bytes as A does.
  E* beyond() {
    return copy_.data() +
           reinterpret_cast<std::uintptr_t>(A_) / sizeof(E) % static_cast<std::size_t>(most_within);
  }
  void copy(const E* from, E* to) {
    const std::int64_t across = ceil_div<std::int64_t>(shuffle_.length - shuffle_.length_over, turn_threads);
    launch(dev_, "copy_turned", {(shuffle_.common - 1) * across, turn_threads}, copy_turned<E>, from,
           shuffle_.length, shuffle_.length_over, across, to);
  }

  const device& dev_;
  E* A_;
  transpose_shuffle shuffle_;
  scratch<unsigned> counters_;
  scratch<E> copy_;
};

}  // namespace vouch::detail
