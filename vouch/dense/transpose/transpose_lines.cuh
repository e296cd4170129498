// vouch/dense/transpose/transpose_lines.cuh -- the shuffle within lines, each in the shared memory of a block; private.
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/launch.cuh>
#include <vouch/dense/transpose/transpose_elements.cuh>
#include <vouch/dense/transpose/transpose_shuffle.hpp>
#include <vouch/dense/transpose/transpose_turns.cuh>

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
// Blocks of so many threads a multiprocessor, where their lines leave room.
template <class E, std::uint32_t Size, class Turns>
inline constexpr int line_blocks = !Turns::turned          ? 1
                                   : sizeof(E) * Size == 4 ? 4
                                                           : 3;

/// Elements that can be copied at once.
template <class E>
inline constexpr std::uint32_t pack_size = alignof(E) == sizeof(E) ? 16 / sizeof(E) : 1;
template <class E, std::uint32_t Size>
struct alignas(Size * alignof(E)) pack {
  E element[Size];
};

/// The Size elements of a line from element j on, which stand where turns has them: body(them in memory, the
/// first one's number among them, how many).
template <std::uint32_t Size, class E, class Body>
__device__ void each_stretch(const line_turns<E>& turns, E* A, const walk& of, std::uint32_t k, std::uint32_t j,
                             line_place p, const Body& body) {
  if constexpr (Size > 1)
    if (p.rest + Size > of.length_over) {
#pragma unroll
      for (std::uint32_t e = 0; e < Size; ++e, p = of.beyond(p, of.one))
        body(turns.line(A, of.lines, of.length, k, p.turn) + j + e, e,
             std::integral_constant<std::uint32_t, 1>{});
      return;
    }
  body(turns.line(A, of.lines, of.length, k, p.turn) + j, 0u, std::integral_constant<std::uint32_t, Size>{});
}

template <std::uint32_t Size, class E>
__device__ pack<E, Size> load_pack(const line_turns<E>& turns, E* A, const walk& of, std::uint32_t k,
                                   std::uint32_t j, const line_place& p) {
  pack<E, Size> some;
  each_stretch<Size>(turns, A, of, k, j, p, [&](const E* from, std::uint32_t e, auto count) {
    if constexpr (count == Size)
      some = *reinterpret_cast<const pack<E, Size>*>(from);
    else
      some.element[e] = *from;
  });
  return some;
}
template <std::uint32_t Size, class E>
__device__ void store_pack(const line_turns<E>& turns, E* A, const walk& of, std::uint32_t k, std::uint32_t j,
                           const line_place& p, const pack<E, Size>& some) {
  each_stretch<Size>(turns, A, of, k, j, p, [&](E* to, std::uint32_t e, auto count) {
    if constexpr (count == Size)
      *reinterpret_cast<pack<E, Size>*>(to) = some;
    else
      *to = some.element[e];
  });
}

/// A block takes a line: element j goes to its place, or comes from there where Back. Memory is read and
/// written Size elements at a time, but for a few at the line's ends and where turns breaks it; shared memory
/// begins as far within such a pack as the line does. Bound by memory.
template <class E, bool Back, std::uint32_t Size, class Turns>
__global__ void __launch_bounds__(line_threads, line_blocks<E, Size, Turns>)
    shuffle_lines(E* A, walk of, Turns turns) {
  constexpr int at_once = 4;  // on their way together
  extern __shared__ __align__(16) char memory[];
  const std::uint32_t k = turns.template own_line<Back>(of.lines), threads = blockDim.x;
  E* const line = A + std::int64_t{k} * of.length;
  const auto within = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(line) / sizeof(E) % Size);
  E* const shared = reinterpret_cast<E*>(memory) + within;
  const std::uint32_t head = min(of.length, (Size - within) % Size), packs = (of.length - head) / Size;
  auto* const line_packs = reinterpret_cast<pack<E, Size>*>(line + head);
  auto* const shared_packs = reinterpret_cast<pack<E, Size>*>(shared + head);
  // Elements outside the packs, one a thread.
  const std::uint32_t outside = of.length - packs * Size;
  const std::uint32_t alone = threadIdx.x < head ? threadIdx.x : threadIdx.x + packs * Size;
  const auto turned_alone = [&] {
    const line_place p = of.at(alone);
    return turns.line(A, of.lines, of.length, k, p.turn) + alone;
  };
  const line_place start = of.at(head + threadIdx.x * Size);

  if (threadIdx.x < outside)
    shared[Back ? alone : of.place(k, of.at(alone))] = Back ? line[alone] : *turned_alone();
  line_place first = start;
  [[maybe_unused]] line_place ahead = start;  // of what is loaded
  for (std::uint32_t q = threadIdx.x; q < packs; q += at_once * threads) {
    pack<E, Size> some[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const std::uint32_t at = q + u * threads;
      if constexpr (Back || !Turns::turned) {
        if (at < packs) some[u] = line_packs[at];
      } else {
        if (at < packs) some[u] = load_pack<Size>(turns, A, of, k, head + at * Size, ahead);
        ahead = of.beyond(ahead, of.stride);
      }
    }
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
  turns.template await_readers<Back>(k, of.lines);
  if (threadIdx.x < outside)
    *(Back ? turned_alone() : line + alone) = shared[Back ? of.place(k, of.at(alone)) : alone];
  line_place from = start;
#pragma unroll 2
  for (std::uint32_t q = threadIdx.x; q < packs; q += threads) {
    if constexpr (Back) {
      pack<E, Size> one;
      line_place each = from;
#pragma unroll
      for (std::uint32_t e = 0; e < Size; ++e, each = of.beyond(each, of.one))
        one.element[e] = shared[of.place(k, each)];
      if constexpr (Turns::turned)
        store_pack<Size>(turns, A, of, k, head + q * Size, from, one);
      else
        line_packs[q] = one;
      from = of.beyond(from, of.stride);
    } else {
      line_packs[q] = shared_packs[q];
    }
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

template <std::uint32_t Size, class E, class Turns>
void launch_line_pass(const device& dev, E* A, const transpose_shuffle& shuffle, bool back,
                      const Turns& turns) {
  constexpr std::int64_t short_line = 32 << 10;
  const std::int64_t bytes = line_bytes<E>(shuffle.length);
  const unsigned threads = bytes <= short_line ? line_threads / 2 : line_threads;
  launch(dev, "shuffle_lines", {shuffle.lines, threads, static_cast<std::size_t>(bytes)},
         back ? shuffle_lines<E, true, Size, Turns> : shuffle_lines<E, false, Size, Turns>, A,
         walk(shuffle, std::int64_t{threads} * Size), turns);
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

template <class E, class Turns>
void run_line_pass(const device& dev, E* A, const transpose_shuffle& shuffle, bool back, const Turns& turns) {
  constexpr int bearable = 8;
  constexpr std::uint32_t size = pack_size<E>;
  const bool alike = !Turns::turned || shuffle.length % size == 0;  // lines begin alike within packs
  const int packed = meeting_in_a_bank<E>(shuffle, size), single = meeting_in_a_bank<E>(shuffle, 1);
  if (alike && packed <= std::max(bearable, single))
    launch_line_pass<size>(dev, A, shuffle, back, turns);
  else
    launch_line_pass<1>(dev, A, shuffle, back, turns);
}

}  // namespace vouch::detail
