// vouch/dense/transpose_lines.cuh -- the shuffle within lines, each in the shared memory of a block; private.
#pragma once
#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/dense/transpose_elements.cuh>
#include <vouch/dense/transpose_shuffle.hpp>

namespace vouch::detail {

/// All numbers are below 2^31.
struct walk {
  std::uint32_t lines, length, length_over;

  explicit walk(const transpose_shuffle& shuffle)
      : lines(static_cast<std::uint32_t>(shuffle.lines)),
        length(static_cast<std::uint32_t>(shuffle.length)),
        length_over(static_cast<std::uint32_t>(shuffle.length_over)) {}
};

/// Where the elements of line k go that a thread of a block has, every Threads-th of them, one after the other.
/// j / length_over and j lines mod length go along with j.
template <int Threads>
struct line_walk {
  walk of;
  std::uint32_t line, stride, product, turn, rest;

  __device__ line_walk(const walk& w, std::uint32_t k)
      : of(w),
        line(k),
        stride(static_cast<std::uint32_t>(std::uint64_t{Threads} * of.lines % of.length)),
        product(static_cast<std::uint32_t>(std::uint64_t{threadIdx.x} * of.lines % of.length)),
        turn(threadIdx.x / of.length_over),
        rest(threadIdx.x % of.length_over) {}

  __device__ std::uint32_t place() const {
    std::uint32_t to = line + turn;
    if (to >= of.lines) to -= of.lines;
    if (to >= of.length) to %= of.length;
    to += product;
    return to >= of.length ? to - of.length : to;
  }
  __device__ void advance() {
    product += stride;
    if (product >= of.length) product -= of.length;
    turn += Threads / of.length_over;
    rest += Threads % of.length_over;
    if (rest < of.length_over) return;
    rest -= of.length_over;
    ++turn;
  }
};

inline constexpr int line_threads = 512;

/// A block takes a line: element j goes to place(j), or comes from there where Back. Bound by memory.
template <class E, bool Back>
__global__ void __launch_bounds__(line_threads) shuffle_lines(E* A, walk of) {
  extern __shared__ __align__(16) char memory[];
  E* const shared = reinterpret_cast<E*>(memory);
  E* const line = A + std::int64_t{blockIdx.x} * of.length;
  line_walk<line_threads> there(of, blockIdx.x);
#pragma unroll 4
  for (std::uint32_t j = threadIdx.x; j < of.length; j += line_threads) {
    fetch(shared + (Back ? j : there.place()), line + j);
    if (!Back) there.advance();
  }
  await_fetched();
  __syncthreads();
#pragma unroll 4
  for (std::uint32_t j = threadIdx.x; j < of.length; j += line_threads) {
    line[j] = shared[Back ? there.place() : j];
    if (Back) there.advance();
  }
}

inline std::int64_t shared_memory(const device& dev, cudaDeviceAttr kind) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, kind, dev.index()), "reading the GPU's properties");
  return bytes;
}

template <class E>
bool line_fits(const device& dev, std::int64_t length) {
  return length * static_cast<std::int64_t>(sizeof(E)) <=
         shared_memory(dev, cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

template <class E>
void run_line_pass(const device& dev, E* A, const transpose_shuffle& shuffle, bool back) {
  launch(dev, "shuffle_lines",
         {shuffle.lines, line_threads, static_cast<std::size_t>(shuffle.length) * sizeof(E)},
         back ? shuffle_lines<E, true> : shuffle_lines<E, false>, A, walk(shuffle));
}

}  // namespace vouch::detail
