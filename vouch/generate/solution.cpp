#include <cmath>
#include <numbers>
#include <string>

#include <vouch/core/double_double.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

double element_of(known_solution kind, std::int64_t i, std::int64_t n, std::uint64_t seed) {
  switch (kind) {
    case known_solution::random:
      return 2 * random_unit(seed, static_cast<std::uint64_t>(i)) - 1;
    case known_solution::integers:
      return static_cast<double>(random_bits(seed, static_cast<std::uint64_t>(i)) % 50);
    case known_solution::smooth: {
      const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
      return 1 + 0.5 * std::sin(2 * std::numbers::pi * place);
    }
    case known_solution::ones:
      break;
  }
  return 1;
}

}  // namespace

array<double> make_solution(const device& dev, known_solution kind, std::int64_t n, std::uint64_t seed) {
  const ieee_environment here;
  array<double> x(dev, n);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, n)) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) x[i] = element_of(kind, i, n, seed);
  return x;
}

array<double> right_hand_side(const device& dev, csr_view<const double> A, view<const double> x) {
  const ieee_environment here;
  const valid_csr valid("right_hand_side", dev, A);
  if (x.size() != A.cols)
    throw shape_error("right_hand_side: a matrix of " + std::to_string(A.cols) + " columns times " +
                      std::to_string(x.size()) + " elements");
  array<double> b(dev, A.rows);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double_double<double> sum;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      sum = add_product(sum, A.val[k], x[A.col[k]]);
    b[i] = sum.hi;
  }
  return b;
}

}  // namespace vouch
