// Rectangles transposed in place on a GPU. Where the sides share a large divisor: squares transposed in place,
// then their columns, whole, to where they belong. Else two passes of the three (transpose_shuffle.hpp), where
// the sides share little, or all.
#include <algorithm>
#include <cstdint>
#include <optional>

#include <vouch/core/scratch.cuh>
#include <vouch/dense/transpose/transpose_cuda.hpp>
#include <vouch/dense/transpose/transpose_elements.cuh>
#include <vouch/dense/transpose/transpose_lines.cuh>
#include <vouch/dense/transpose/transpose_long_lines.cuh>
#include <vouch/dense/transpose/transpose_panels.cuh>
#include <vouch/dense/transpose/transpose_room.cuh>
#include <vouch/dense/transpose/transpose_shuffle.hpp>
#include <vouch/dense/transpose/transpose_turns.cuh>

namespace vouch::detail {
namespace {

constexpr int threads = 256;
constexpr std::int64_t least_square = 128;
constexpr std::int64_t least_width = 64;  // bytes of a line of a panel

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
  if (!plan || plan->width_bytes<E>() < least_width) return false;
  transpose_blocks_cuda(dev, bytes, A, order);
  scratch<std::uint32_t> place(dev, pieces);
  launch(dev, "place_pieces", {ceil_div<std::int64_t>(pieces, threads), threads}, place_pieces, order, down,
         across, place.data());
  const auto length = static_cast<std::uint32_t>(order);
  run_panel_pass<E>(dev, reinterpret_cast<E*>(A.data),
                    {static_cast<std::uint32_t>(pieces), length, length, place.data()}, *plan, false);
  return true;
}

// The passes of a shuffle, or back.
template <class E>
class shuffle_run {
 public:
  shuffle_run(const device& dev, E* A, const transpose_shuffle& shuffle, bool back)
      : dev_(dev),
        A_(A),
        shuffle_(shuffle),
        back_(back),
        panels_(plan_panels<E>(dev, shuffle.lines, shuffle.length)),
        long_lines_(plan_long_lines<E>(dev, shuffle.lines, shuffle.length)) {}

  // The better the faster.
  int merit() const {
    const bool fits = line_fits<E>(dev_, shuffle_.length);
    if (!panels_ || !(fits || long_lines_)) return 0;  // through memory
    const bool wide = panels_->template width_bytes<E>() >= 2 * least_width;
    const bool two_at_once = line_fits<E>(dev_, 2 * shuffle_.length);
    if (wide && two_at_once) return shuffle_.length * static_cast<std::int64_t>(sizeof(E)) % 32 == 0 ? 5 : 4;
    if (long_lines_ && long_lines_->each * sizeof(E) >= 512 * static_cast<std::size_t>(shuffle_.lines))
      return 3;
    return wide ? 2 : 1;
  }

  void run() {
    scratch<std::uint32_t> place(dev_, shuffle_.lines);
    launch(dev_, "invert_source", {ceil_div<std::int64_t>(shuffle_.lines, threads), threads}, invert_source,
           shuffle_, place.data());
    back_ ? move_columns(1, place.data()) : turn_columns();
    shuffle_lines();
    back_ ? turn_columns() : move_columns(1, place.data());
  }

 private:
  // Else in the pass of the lines, or not at all.
  void turn_columns() {
    if (shuffle_.common > 1 && !turns_with_lines()) move_columns(shuffle_.length_over, nullptr);
  }
  bool turns_with_lines() const {
    return shuffle_.common > 1 && shuffle_.common <= most_turns && line_fits<E>(dev_, shuffle_.length);
  }
  void move_columns(std::int64_t turned, const std::uint32_t* place) {
    const panel_pass pass{static_cast<std::uint32_t>(shuffle_.lines),
                          static_cast<std::uint32_t>(shuffle_.length), static_cast<std::uint32_t>(turned),
                          place};
    panels_ ? run_panel_pass(dev_, A_, pass, *panels_, back_) : run_panel_pass_in_room(dev_, A_, pass);
  }
  void shuffle_lines() {
    if (turns_with_lines())
      shuffle_turned_lines();
    else if (line_fits<E>(dev_, shuffle_.length))
      run_line_pass(dev_, A_, shuffle_, back_, no_turns{});
    else if (long_lines_)
      run_long_line_pass(dev_, A_, shuffle_, *long_lines_, back_);
    else
      run_line_pass_in_room(dev_, A_, shuffle_);
  }

  void shuffle_turned_lines() {
    turned_pass<E> pass(dev_, A_, shuffle_);
    if (!back_) pass.save();
    run_line_pass(dev_, A_, shuffle_, back_, pass.turns());
    if (back_) pass.restore();
  }

  const device& dev_;
  E* A_;
  transpose_shuffle shuffle_;
  bool back_;
  std::optional<panel_plan> panels_;
  std::optional<long_line_plan> long_lines_;
};

// Lines that are the columns of A; or, back, those of its transpose. Few lines are better than many.
template <class E>
void run_by_shuffles(const device& dev, element_grid<std::byte> A) {
  E* const data = reinterpret_cast<E*>(A.data);
  shuffle_run<E> there(dev, data, transpose_shuffle(A.cols, A.rows), false),
      back(dev, data, transpose_shuffle(A.rows, A.cols), true);
  const int forward = there.merit(), backward = back.merit();
  const bool turned = forward == backward ? forward > 0 && A.rows < A.cols : backward > forward;
  turned ? back.run() : there.run();
}

}  // namespace

void transpose_rectangle_cuda(const device& dev, int bytes, element_grid<std::byte> A) {
  with_element(bytes, aligned(A.data, bytes), [&](auto element) {
    using E = decltype(element);
    if (!run_by_squares<E>(dev, bytes, A)) run_by_shuffles<E>(dev, A);
  });
}

}  // namespace vouch::detail
