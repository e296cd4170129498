#include <utility>

#include <vouch/verify/batch_in_line.cuh>

namespace vouch::detail {
namespace {

constexpr int side = 32, rows_at_once = 8;  // of a tile

// Those systems of a batch, all where there is no list; rows from `first` to `end` - 1 are used.
struct some_systems {
  batch_shape shape;
  const std::int64_t* those;
  std::int64_t first, end;

  __device__ std::int64_t at(std::int64_t c, std::int64_t i) const {
    return shape.at(those == nullptr ? c : those[c], i);
  }
};

// A block moves 32 rows of 32 systems. Neighbouring threads read neighbouring systems and write neighbouring
// rows, or, back, the other way round. What is not used becomes 0. Bound by memory.
template <bool Back>
__global__ void __launch_bounds__(side* rows_at_once)
    move_systems(const double* from, __grid_constant__ const some_systems in_from, double* to,
                 __grid_constant__ const some_systems in_to, std::int64_t count, std::int64_t tiles_a_system) {
  __shared__ double tile[side][side + 1];
  const std::int64_t system = blockIdx.x / tiles_a_system * side, row = blockIdx.x % tiles_a_system * side;
  const std::int64_t n = in_from.shape.n;
  const int x = static_cast<int>(threadIdx.x) % side, y = static_cast<int>(threadIdx.x) / side;
  for (int k = y; k < side; k += rows_at_once) {
    const std::int64_t c = system + (Back ? k : x), i = row + (Back ? x : k);
    if (c < count && i < n) tile[k][x] = i >= in_from.first && i < in_from.end ? from[in_from.at(c, i)] : 0;
  }
  __syncthreads();
  for (int k = y; k < side; k += rows_at_once) {
    const std::int64_t c = system + (Back ? x : k), i = row + (Back ? k : x);
    if (c < count && i < n) to[in_to.at(c, i)] = tile[x][k];
  }
}

template <bool Back>
void move(const device& dev, const double* from, const some_systems& in_from, double* to,
          const some_systems& in_to, std::int64_t count) {
  const std::int64_t tiles_a_system = ceil_div<std::int64_t>(in_from.shape.n, side);
  launch(dev, "move_systems", {ceil_div<std::int64_t>(count, side) * tiles_a_system, side * rows_at_once},
         move_systems<Back>, from, in_from, to, in_to, count, tiles_a_system);
}

__global__ void __launch_bounds__(256) put_numbers(std::int64_t* to, std::int64_t count) {
  const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k < count) to[k] = k;
}

some_systems all_rows(const batch_shape& shape, const std::int64_t* those) {
  return {shape, those, 0, shape.n};
}

}  // namespace

systems_in_line::systems_in_line(const device& dev, const visit_task& task, const visit_lists& lists,
                                 std::int64_t most)
    : dev_(dev), task_(task), lists_(lists), n_(task.vectors.n) {
  const std::int64_t rows = n_ * most;
  const bool lo = task.judgement.x_lo != nullptr, middle = task.judgement.middle != nullptr;
  memory_ = array<double>(dev, rows * (6 + lo + middle) + most);
  numbers_ = array<std::int64_t>(dev, most);
  launch(dev, "put_numbers", {ceil_div<std::int64_t>(most, 256), 256}, put_numbers, numbers_.data(), most);
  double* next = memory_.data();
  const auto part = [&](std::int64_t size) { return std::exchange(next, next + size); };
  for (double*& to : moved_) to = part(rows);
  radius_ = part(rows);
  lo_ = lo ? part(rows) : nullptr;
  middle_ = middle ? part(rows) : nullptr;
  ratio_ = part(most);
}

void systems_in_line::take(std::int64_t begin, std::int64_t count) {
  those_ = lists_.left + begin;
  count_ = count;
  const some_systems in_line = all_rows(contiguous(n_, count), nullptr), in_A = all_rows(task_.A.shape, those_),
                     in_vectors = all_rows(task_.vectors, those_);
  some_systems lower = in_A, upper = in_A;
  lower.first = 1, upper.end = n_ - 1;
  move<false>(dev_, task_.A.dl, lower, moved_[0], in_line, count);
  move<false>(dev_, task_.A.d, in_A, moved_[1], in_line, count);
  move<false>(dev_, task_.A.du, upper, moved_[2], in_line, count);
  move<false>(dev_, task_.b, in_vectors, moved_[3], in_line, count);
  move<false>(dev_, task_.x, in_vectors, moved_[4], in_line, count);
  if (lo_ != nullptr) move<false>(dev_, task_.judgement.x_lo, in_vectors, lo_, in_line, count);
}

visit_task systems_in_line::task() {
  const batch_shape shape = contiguous(n_, count_);
  return {{moved_[0], moved_[1], moved_[2], shape, false}, shape,   moved_[3], moved_[4],
          {lo_, middle_, task_.judgement.within},          radius_, ratio_};
}

visit_lists systems_in_line::lists() {
  visit_lists lists = lists_;
  lists.left = numbers_.data();
  return lists;
}

void systems_in_line::put_back() {
  const some_systems in_line = all_rows(contiguous(n_, count_), nullptr),
                     in_vectors = all_rows(task_.vectors, those_);
  move<true>(dev_, radius_, in_line, task_.radius, in_vectors, count_);
  if (middle_ != nullptr) move<true>(dev_, middle_, in_line, task_.judgement.middle, in_vectors, count_);
  const batch_shape numbers = contiguous(1, count_);
  move<true>(dev_, ratio_, all_rows(numbers, nullptr), task_.ratio, all_rows(numbers, those_), count_);
}

}  // namespace vouch::detail
