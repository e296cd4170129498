// Rectangles transposed in place on a GPU. Where the sides share a large divisor: squares transposed in place,
// then their columns, whole, to where they belong. Else three passes (transpose_shuffle.hpp), or two.
#include <algorithm>
#include <cstdint>
#include <optional>

#include <vouch/core/scratch.cuh>
#include <vouch/dense/transpose_cuda.hpp>
#include <vouch/dense/transpose_elements.cuh>
#include <vouch/dense/transpose_lines.cuh>
#include <vouch/dense/transpose_panels.cuh>
#include <vouch/dense/transpose_room.cuh>
#include <vouch/dense/transpose_shuffle.hpp>

namespace vouch::detail {
namespace {

constexpr int threads = 256;
constexpr std::int64_t least_square = 128;

// place[source(k)] = k
__global__ void __launch_bounds__(threads) invert_source(transpose_shuffle shuffle, std::uint32_t* place) {
  const std::int64_t k = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (k < shuffle.lines) place[shuffle.source(k)] = static_cast<std::uint32_t>(k);
}

// Pieces of order elements, order * across of them in a line and down lines of them, become their transpose:
// piece (r, s) of a square goes to (s, r).
__global__ void __launch_bounds__(threads)
    place_pieces(std::int64_t order, std::int64_t down, std::int64_t across, std::uint32_t* place) {
  const std::int64_t k = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (k >= order * down * across) return;
  const std::int64_t s = k % across, piece = k / across % order, r = k / across / order;
  place[k] = static_cast<std::uint32_t>((s * order + piece) * down + r);
}

template <class E>
bool run_by_squares(const device& dev, int bytes, element_grid<std::byte> A) {
  const std::int64_t order = std::gcd(A.rows, A.cols), down = A.cols / order, across = A.rows / order;
  const std::int64_t pieces = order * down * across;
  if (order < least_square) return false;
  const std::optional<panel_plan> plan = plan_panels<E>(dev, pieces, order);
  if (!plan) return false;
  transpose_blocks_cuda(dev, bytes, A, order);
  scratch<std::uint32_t> place(dev, pieces);
  launch(dev, "place_pieces", {ceil_div<std::int64_t>(pieces, threads), threads}, place_pieces, order, down,
         across, place.data());
  const auto length = static_cast<std::uint32_t>(order);
  run_panel_pass<E>(dev, reinterpret_cast<E*>(A.data),
                    {static_cast<std::uint32_t>(pieces), length, length, place.data()}, *plan, false);
  return true;
}

// Lines that are the columns of A; or, back, those of its transpose, and the passes undone.
template <class E>
void run_by_shuffles(const device& dev, element_grid<std::byte> A) {
  const bool back = A.rows > A.cols && line_fits<E>(dev, A.cols) && plan_panels<E>(dev, A.rows, A.cols);
  const transpose_shuffle shuffle =
      back ? transpose_shuffle(A.rows, A.cols) : transpose_shuffle(A.cols, A.rows);
  E* const data = reinterpret_cast<E*>(A.data);
  const auto lines = static_cast<std::uint32_t>(shuffle.lines),
             length = static_cast<std::uint32_t>(shuffle.length);
  scratch<std::uint32_t> place(dev, shuffle.lines);
  launch(dev, "invert_source", {ceil_div<std::int64_t>(shuffle.lines, threads), threads}, invert_source,
         shuffle, place.data());
  const std::optional<panel_plan> plan = plan_panels<E>(dev, shuffle.lines, shuffle.length);
  const auto panels = [&](const panel_pass& of) {
    plan ? run_panel_pass(dev, data, of, *plan, back) : run_panel_pass_in_room(dev, data, of);
  };
  const auto turn = [&] {
    if (shuffle.common > 1) panels({lines, length, static_cast<std::uint32_t>(shuffle.length_over), nullptr});
  };
  const auto place_lines = [&] { panels({lines, length, 1, place.data()}); };
  back ? place_lines() : turn();
  line_fits<E>(dev, shuffle.length) ? run_line_pass(dev, data, shuffle, back)
                                    : run_line_pass_in_room(dev, data, shuffle);
  back ? turn() : place_lines();
}

}  // namespace

void transpose_rectangle_cuda(const device& dev, int bytes, element_grid<std::byte> A) {
  with_element(bytes, aligned(A.data, bytes), [&](auto element) {
    using E = decltype(element);
    if (!run_by_squares<E>(dev, bytes, A)) run_by_shuffles<E>(dev, A);
  });
}

}  // namespace vouch::detail
