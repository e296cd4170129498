// vouch/dense/transpose_lines.cuh -- the shuffle within lines, each in the shared memory of a block; private.
#pragma once
#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/dense/transpose_elements.cuh>
#include <vouch/dense/transpose_shuffle.hpp>

namespace vouch::detail {

/// Where an element j of a line stands on its walk: j lines mod length, j / length_over and j mod length_over.
struct line_place {
  std::uint32_t product, turn, rest;
};

/// How elements of lines change places, without a division an element. All numbers are below 2^31.
struct walk {
  std::uint32_t lines, length, length_over;
  line_place one, stride;  // so far it is to the next element, and `step` elements on

  walk(const transpose_shuffle& shuffle, std::int64_t step)
      : lines(static_cast<std::uint32_t>(shuffle.lines)),
        length(static_cast<std::uint32_t>(shuffle.length)),
        length_over(static_cast<std::uint32_t>(shuffle.length_over)),
        one(at(1)),
        stride(at(static_cast<std::uint32_t>(step))) {}

  VOUCH_HOST_DEVICE line_place at(std::uint32_t j) const {
    const std::uint64_t all = std::uint64_t{j} * lines;
    const auto few = static_cast<std::uint32_t>(all);
    const auto product = few == all ? few % length : static_cast<std::uint32_t>(all % length);
    return {product, j / length_over, j % length_over};
  }
  __device__ line_place beyond(line_place p, const line_place& way) const {
    p.product += way.product;
    if (p.product >= length) p.product -= length;
    p.turn += way.turn;
    p.rest += way.rest;
    if (p.rest < length_over) return p;
    p.rest -= length_over;
    ++p.turn;
    return p;
  }
  /// Where it goes in this line.
  __device__ std::uint32_t place(std::uint32_t line, const line_place& p) const {
    std::uint32_t to = line + p.turn;
    if (to >= lines) to -= lines;
    if (to >= length) to %= length;
    to += p.product;
    return to >= length ? to - length : to;
  }
};

inline constexpr int line_threads = 512;  // at most

/// Elements that can be copied at once.
template <class E>
inline constexpr std::uint32_t pack_size = alignof(E) == sizeof(E) ? 16 / sizeof(E) : 1;
template <class E, std::uint32_t Size>
struct alignas(Size * alignof(E)) pack {
  E element[Size];
};

/// A block takes a line: element j goes to its place, or comes from there where Back. Memory is read and
/// written Size elements at a time, but for a few at the line's ends; shared memory begins as far within such a
/// pack as the line does. Bound by memory.
template <class E, bool Back, std::uint32_t Size>
__global__ void __launch_bounds__(line_threads) shuffle_lines(E* A, walk of) {
  constexpr int at_once = 4;  // on their way together
  extern __shared__ __align__(16) char memory[];
  const std::uint32_t k = blockIdx.x, threads = blockDim.x;
  E* const line = A + std::int64_t{k} * of.length;
  const auto within = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(line) / sizeof(E) % Size);
  E* const shared = reinterpret_cast<E*>(memory) + within;
  const std::uint32_t head = min(of.length, (Size - within) % Size), packs = (of.length - head) / Size;
  auto* const line_packs = reinterpret_cast<pack<E, Size>*>(line + head);
  auto* const shared_packs = reinterpret_cast<pack<E, Size>*>(shared + head);
  // Elements outside the packs, one a thread.
  const std::uint32_t outside = of.length - packs * Size;
  const std::uint32_t alone = threadIdx.x < head ? threadIdx.x : threadIdx.x + packs * Size;
  const line_place start = of.at(head + threadIdx.x * Size);

  if (threadIdx.x < outside) shared[Back ? alone : of.place(k, of.at(alone))] = line[alone];
  line_place first = start;
  for (std::uint32_t q = threadIdx.x; q < packs; q += at_once * threads) {
    pack<E, Size> some[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (q + u * threads < packs) some[u] = line_packs[q + u * threads];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      if (q + u * threads < packs) {
        if constexpr (Back) {
          shared_packs[q + u * threads] = some[u];
        } else {
          line_place to = first;
#pragma unroll
          for (std::uint32_t e = 0; e < Size; ++e, to = of.beyond(to, of.one))
            shared[of.place(k, to)] = some[u].element[e];
        }
      }
      first = of.beyond(first, of.stride);
    }
  }
  __syncthreads();
  if (threadIdx.x < outside) line[alone] = shared[Back ? of.place(k, of.at(alone)) : alone];
  line_place from = start;
#pragma unroll 2
  for (std::uint32_t q = threadIdx.x; q < packs; q += threads) {
    pack<E, Size> one;
    if constexpr (Back) {
      line_place each = from;
#pragma unroll
      for (std::uint32_t e = 0; e < Size; ++e, each = of.beyond(each, of.one))
        one.element[e] = shared[of.place(k, each)];
      from = of.beyond(from, of.stride);
    } else {
      one = shared_packs[q];
    }
    line_packs[q] = one;
  }
}

inline std::int64_t shared_memory(const device& dev, cudaDeviceAttr kind) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, kind, dev.index()), "reading the GPU's properties");
  return bytes;
}

/// Room for a line that begins anywhere within 16 bytes.
template <class E>
std::int64_t line_bytes(std::int64_t length) {
  return (length + pack_size<E> - 1) * static_cast<std::int64_t>(sizeof(E));
}
template <class E>
bool line_fits(const device& dev, std::int64_t length) {
  return line_bytes<E>(length) <= shared_memory(dev, cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

template <class E, std::uint32_t Size>
void launch_line_pass(const device& dev, E* A, const transpose_shuffle& shuffle, bool back) {
  constexpr std::int64_t short_line = 32 << 10;
  const std::int64_t bytes = line_bytes<E>(shuffle.length);
  const unsigned threads = bytes <= short_line ? line_threads / 2 : line_threads;
  launch(dev, "shuffle_lines", {shuffle.lines, threads, static_cast<std::size_t>(bytes)},
         back ? shuffle_lines<E, true, Size> : shuffle_lines<E, false, Size>, A,
         walk(shuffle, std::int64_t{threads} * Size));
}

/// How many of 32 neighbouring threads that begin `step` elements apart meet in a bank of shared memory.
template <class E>
int meeting_in_a_bank(const transpose_shuffle& shuffle, std::int64_t step) {
  constexpr std::int64_t banks = 128 / sizeof(E);
  int threads[banks] = {}, most = 0;
  for (std::int64_t k = 0; k < 32; ++k)
    most = std::max(most, ++threads[k * step % shuffle.length * shuffle.lines % shuffle.length % banks]);
  return most;
}

template <class E>
void run_line_pass(const device& dev, E* A, const transpose_shuffle& shuffle, bool back) {
  constexpr int bearable = 8;
  const int packed = meeting_in_a_bank<E>(shuffle, pack_size<E>), single = meeting_in_a_bank<E>(shuffle, 1);
  if (packed <= std::max(bearable, single))
    launch_line_pass<E, pack_size<E>>(dev, A, shuffle, back);
  else
    launch_line_pass<E, 1>(dev, A, shuffle, back);
}

}  // namespace vouch::detail
