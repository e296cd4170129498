#include <vouch/solve/distributed/row_vectors.hpp>

#include <array>
#include <vector>

#include <vouch/core/double_double.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/distributed/sweep.hpp>
#include <vouch/sparse/residual_row.hpp>

namespace vouch::distributed {
namespace {

template <std::size_t Width, class Leaf>
std::array<double, Width> add_up(const row_vectors& vectors, const row_matrix& A, const Leaf& leaf) {
  std::vector<double> leaves(static_cast<std::size_t>(A.blocks()) * Width);
  for_all_blocks(vectors.cpu(), A, [&](std::int64_t block, std::int64_t first, std::int64_t count) {
    leaf(first, first + count, leaves.data() + static_cast<std::size_t>(block) * Width);
  });
  std::array<double, Width> totals{};
  vectors.sums().add_up(leaves, totals);
  return totals;
}

}  // namespace

row_vectors::row_vectors(const device& cpu, const row_matrix& A)
    : cpu_(cpu), A_(A), sums_(A.ranks(), A.partition()) {}

double row_vectors::norm2(const double* v) const {
  const auto [big, medium, small] =
      add_up<3>(*this, A_, [v](std::int64_t first, std::int64_t last, double* leaf) {
        detail::square_sum sum;
        for (std::int64_t i = first; i < last; ++i) sum.add(v[i]);
        leaf[0] = sum.big;
        leaf[1] = sum.medium;
        leaf[2] = sum.small;
      });
  return detail::square_sum{big, medium, small}.root();
}

double row_vectors::dot(const double* v, const double* w) const {
  return add_up<1>(*this, A_, [v, w](std::int64_t first, std::int64_t last, double* leaf) {
    double lane[8] = {};
    for (std::int64_t i = first; i < last; ++i) lane[(i - first) % 8] += v[i] * w[i];
    *leaf = 0;
    for (const double part : lane) *leaf += part;
  })[0];
}

double row_vectors::sum(const double* v) const {
  const auto [high, low] = add_up<2>(*this, A_, [v](std::int64_t first, std::int64_t last, double* leaf) {
    double_double<double> sum;
    for (std::int64_t i = first; i < last; ++i) sum = sum + v[i];
    leaf[0] = sum.hi;
    leaf[1] = sum.lo;
  });
  return high + low;
}

}  // namespace vouch::distributed
