// vouch/band/factored_run.cuh -- a thread's rows of a prefactored system in registers; private.
#pragma once
#include <vouch/band/factored_task.cuh>
#include <vouch/band/passage.cuh>
#include <vouch/band/shared_copy.cuh>

namespace vouch::detail {

/// `Rows` rows from any row of a system on, also before the first and behind the last, where all is zero.
template <real T, int Rows>
class factored_run {
 public:
  /// Brings the factors.
  __device__ factored_run(const factored_task<T>& task, std::int64_t system, std::int64_t row)
      : system_(system), row_(row), end_(task.b.shape.n) {
    const std::int64_t matrix = system / task.rhs_a_matrix;
    load(inverse_, task.factors.inverse, task.factors.shape, matrix);
    load(lower_, task.factors.lower, task.factors.shape, matrix);
    load(upper_, task.factors.upper, task.factors.shape, matrix);
  }
  __device__ void load_rhs(const batch_view<const T>& b) { load(f_, b.data, b.shape, system_); }

  /// What the rows make of what comes into them.
  __device__ passage<T> reduce() const {
    passage<T> all = passage<T>::none();
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      all.out *= -lower_[k];
      all.out_rhs = inverse_[k] * f_[k] - lower_[k] * all.out_rhs;
      all.first_before += all.first_behind * all.out;
      all.first_rhs += all.first_behind * all.out_rhs;
      all.first_behind *= -upper_[k];
    }
    return all;
  }
  /// Writes the unknowns of rows keep_from to keep_to - 1.
  __device__ void fill(T before, T behind, const batch_view<T>& x, std::int64_t keep_from,
                       std::int64_t keep_to) {
#pragma unroll
    for (int k = 0; k < Rows; ++k) f_[k] = before = inverse_[k] * f_[k] - lower_[k] * before;
#pragma unroll
    for (int k = Rows - 1; k >= 0; --k) f_[k] = behind = f_[k] - upper_[k] * behind;
    T* const to = x.data + x.shape.at(system_, row_);
    if (row_ >= keep_from && row_ + Rows <= keep_to && x.shape.row_stride == 1 && begins_a_line(to)) {
#pragma unroll
      for (int k = 0; k < Rows; k += line::size) {
        line of;
        for (int j = 0; j < line::size; ++j) of.numbers[j] = f_[k + j];
        *reinterpret_cast<line*>(to + k) = of;
      }
      return;
    }
#pragma unroll
    for (int k = 0; k < Rows; ++k)
      if (row_ + k >= keep_from && row_ + k < keep_to) to[k * x.shape.row_stride] = f_[k];
  }

 private:
  struct alignas(16) line {
    static constexpr int size = line_size<T>;
    T numbers[size];
  };
  static_assert(Rows % line::size == 0);

  // The last row that is stored stands for all behind it.
  __device__ void load(T (&to)[Rows], const T* from, const batch_shape& shape, std::int64_t system) const {
    const T* const first = from + shape.at(system, row_);
    if (row_ >= 0 && row_ + Rows <= shape.n && shape.row_stride == 1 && begins_a_line(first)) {
#pragma unroll
      for (int k = 0; k < Rows; k += line::size) {
        const line of = *reinterpret_cast<const line*>(first + k);
        for (int j = 0; j < line::size; ++j) to[k + j] = of.numbers[j];
      }
      return;
    }
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const std::int64_t row = row_ + k;
      to[k] = row >= 0 && row < end_ ? from[shape.at(system, row < shape.n ? row : shape.n - 1)] : T{0};
    }
  }

  std::int64_t system_, row_, end_;
  T lower_[Rows], inverse_[Rows], upper_[Rows], f_[Rows];
};

}  // namespace vouch::detail
