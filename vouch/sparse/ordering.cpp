#include <vouch/sparse/ordering.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/random.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr std::int64_t chunk = 1024;  // rows that a thread takes at a time

void check_blocks(std::int64_t n, int block) {
  if (block < 1 || n % block != 0)
    throw shape_error(std::to_string(n) + " unknowns cannot be grouped by " + std::to_string(block));
}

}  // namespace

array<std::int32_t> random_order(const device& dev, std::int64_t n, std::uint64_t seed, int block) {
  check_blocks(n, block);
  const std::int64_t groups = n / block;
  array<std::int32_t> group(dev, groups), order(dev, n);
  std::iota(group.begin(), group.end(), 0);
  for (std::int64_t i = groups - 1; i > 0; --i) {
    const double place = random_unit(seed, static_cast<std::uint64_t>(i)) * static_cast<double>(i + 1);
    std::swap(group[i], group[static_cast<std::int64_t>(place)]);
  }
  for (std::int64_t i = 0; i < n; ++i)
    order[i] = static_cast<std::int32_t>(group[i / block] * block + i % block);
  return order;
}

array<std::int32_t> inverse_order(const device& dev, view<const std::int32_t> order) {
  array<std::int32_t> inverse(dev, order.size());
  std::fill(inverse.begin(), inverse.end(), -1);
  for (std::int64_t i = 0; i < order.size(); ++i) {
    const std::int64_t old = order[i];
    if (old < 0 || old >= order.size() || inverse[old] != -1)
      throw value_error("order: element " + std::to_string(i) + " is " + std::to_string(old) +
                        ", which makes it no permutation");
    inverse[old] = static_cast<std::int32_t>(i);
  }
  return inverse;
}

namespace {

template <class T>
csr<T> permuted(const device& dev, csr_view<const T> A, view<const std::int32_t> order) {
  const valid_csr valid("permute", dev, A);
  if (A.rows != A.cols || order.size() != A.rows)
    throw shape_error("permute: " + std::to_string(A.rows) + " by " + std::to_string(A.cols) +
                      " matrix, order of " + std::to_string(order.size()));
  const array<std::int32_t> inverse = inverse_order(dev, order);
  csr<T> B{A.rows, A.cols, array<std::int64_t>(dev, A.rows + 1), array<std::int32_t>(dev, A.nonzeros),
           array<T>(dev, A.nonzeros)};
  B.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < A.rows; ++i)
    B.row_ptr[i + 1] = B.row_ptr[i] + A.row_ptr[order[i] + 1] - A.row_ptr[order[i]];
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros))
  {
    std::vector<std::pair<std::int32_t, T>> row;
#pragma omp for schedule(dynamic, chunk)
    for (std::int64_t i = 0; i < A.rows; ++i) {
      row.clear();
      for (std::int64_t k = A.row_ptr[order[i]]; k < A.row_ptr[order[i] + 1]; ++k)
        row.emplace_back(inverse[A.col[k]], A.val[k]);
      std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::int64_t k = 0; k < std::ssize(row); ++k)
        std::tie(B.col[B.row_ptr[i] + k], B.val[B.row_ptr[i] + k]) = row[static_cast<std::size_t>(k)];
    }
  }
  return B;
}

}  // namespace

template <real T>
csr<T> permute(const device& dev, csr_view<const T> A, view<const std::int32_t> order) {
  return permuted(dev, A, order);
}

csr<std::complex<double>> permute(const device& dev, csr_view<const std::complex<double>> A,
                                  view<const std::int32_t> order) {
  return permuted(dev, A, order);
}

template VOUCH_PUBLIC csr<float> permute(const device&, csr_view<const float>, view<const std::int32_t>);
template VOUCH_PUBLIC csr<double> permute(const device&, csr_view<const double>, view<const std::int32_t>);

}  // namespace vouch
