#include <algorithm>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/spmv_convert.hpp>

namespace vouch::detail {
namespace {

template <class T>
int diagonal_of(const dia_layout<T>& shape, std::int64_t offset) {
  return static_cast<int>(std::lower_bound(shape.offset, shape.offset + shape.count, offset) - shape.offset);
}

}  // namespace

template <real T>
std::vector<std::int64_t> occupied_diagonals(const device& dev, csr_view<const T> A) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return occupied_diagonals_cuda(dev, A);
  constexpr std::size_t limit = dia_layout<T>::max_diagonals + 1;
  const int threads = loop_threads(dev, A.nonzeros);
  std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(threads));
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    std::vector<std::int64_t>& mine = found[static_cast<std::size_t>(t)];
    for (std::int64_t i = A.rows * t / threads; i < A.rows * (t + 1) / threads; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1] && mine.size() < limit; ++k) {
        const std::int64_t offset = A.col[k] - i;
        const auto place = std::lower_bound(mine.begin(), mine.end(), offset);
        if (place == mine.end() || *place != offset) mine.insert(place, offset);
      }
  }
  std::vector<std::int64_t> all;
  for (const auto& mine : found) {
    std::vector<std::int64_t> joined;
    std::set_union(all.begin(), all.end(), mine.begin(), mine.end(), std::back_inserter(joined));
    all = std::move(joined);
  }
  if (all.size() > limit) all.resize(limit);
  return all;
}

template <real T>
void fill_diagonals(const device& dev, csr_view<const T> A, const dia_layout<T>& shape, std::int64_t lowest,
                    T* val) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return fill_diagonals_cuda(dev, A, shape, lowest, val);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] - i >= lowest) val[shape.start[diagonal_of(shape, A.col[k] - i)] + i] = A.val[k];
}

template <real T>
bool mirrors_upper_half(const device& dev, csr_view<const T> A, const dia_layout<T>& shape, const T* val) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return mirrors_upper_half_cuda(dev, A, shape, val);
  // Every lower entry has its equal above, and there are as many non-zeros below as above: a bijection.
  std::int64_t below_minus_above = 0;
  bool equal = true;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static) \
    reduction(+ : below_minus_above) reduction(&& : equal)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t offset = A.col[k] - i;
      if (offset < 0 && A.val[k] != val[shape.start[diagonal_of(shape, offset)] + i]) equal = false;
      if (offset != 0 && A.val[k] != T{}) below_minus_above += offset < 0 ? 1 : -1;
    }
  return equal && below_minus_above == 0;
}

template std::vector<std::int64_t> occupied_diagonals(const device&, csr_view<const float>);
template std::vector<std::int64_t> occupied_diagonals(const device&, csr_view<const double>);
template void fill_diagonals(const device&, csr_view<const float>, const dia_layout<float>&, std::int64_t,
                             float*);
template void fill_diagonals(const device&, csr_view<const double>, const dia_layout<double>&, std::int64_t,
                             double*);
template bool mirrors_upper_half(const device&, csr_view<const float>, const dia_layout<float>&, const float*);
template bool mirrors_upper_half(const device&, csr_view<const double>, const dia_layout<double>&,
                                 const double*);

}  // namespace vouch::detail
