#include <vouch/generate/dense_problems.hpp>

#include <array>
#include <cmath>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/residual.hpp>

namespace vouch {
namespace {

constexpr std::int64_t standard_size = 1000;

// A number of its own for every entry.
std::uint64_t bits_of(std::uint64_t seed, std::int64_t n, std::int64_t i, std::int64_t j) {
  return random_bits(seed, static_cast<std::uint64_t>(i * n + j));
}

matrix<double> banded_dominant(const device& dev, std::int64_t n, std::uint64_t seed) {
  matrix<double> A = matrix<double>::zeros(dev, n, n);
  const std::int64_t band = 15 * n / 100;
  const cancellation_probe stop;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t j = 0; j < n; ++j) {
    if (stop.requested()) continue;
    for (std::int64_t i = std::max<std::int64_t>(0, j - band); i < std::min(n, j + band + 1); ++i)
      A(i, j) = static_cast<double>(bits_of(seed, n, i, j) % 5);
    A(j, j) = static_cast<double>(n + static_cast<std::int64_t>(bits_of(seed, n, j, j) % 50));
  }
  stop.check();
  return A;
}

matrix<double> dense_dominant(const device& dev, std::int64_t n, double dominance, bool random_signs,
                              std::uint64_t seed) {
  matrix<double> A(dev, n, n);
  const cancellation_probe stop;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    if (stop.requested()) continue;
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double value = random_unit(seed, static_cast<std::uint64_t>(i * n + j));
      const bool negative = random_signs && bits_of(~seed, n, i, j) % 2 == 1;
      A(i, j) = negative ? -value : value;
      if (i != j) sum += value;
    }
    A(i, i) = dominance * sum;
  }
  stop.check();
  // The diagonal of a single row has nothing to outweigh.
  if (n == 1) A(0, 0) = 1;
  return A;
}

bool random_signs(const dense_problem_options& o) {
  if (!o.signs || *o.signs == "positive") return false;
  if (*o.signs == "random") return true;
  throw value_error("unknown signs '" + *o.signs + "'", "give positive or random");
}

}  // namespace

std::span<const problem_facts> dense_problems() {
  static const std::array<problem_facts, 2> facts{
      {{"banded-dominant", "dense, dominant, small integers in a band of 0.3 n", 1, {}},
       {"dense-dominant", "dense, of a given dominance", 1, {"dominance", "signs"}}}};
  return facts;
}

matrix<double> generate_dense(const device& dev, std::string_view name, const dense_problem_options& options) {
  const ieee_environment here;
  const std::int64_t n = options.n.value_or(standard_size);
  if (n < 1) throw value_error("a matrix of " + std::to_string(n) + " rows", "give 1 or more");
  if (name == "banded-dominant") {
    if (options.dominance || options.signs)
      throw value_error("banded-dominant takes no dominance and no signs", "dense-dominant does");
    return banded_dominant(dev, n, options.seed);
  }
  if (name != "dense-dominant") throw value_error("unknown problem '" + std::string(name) + "'");
  const double dominance = options.dominance.value_or(1.05);
  if (!(dominance > 0) || !std::isfinite(dominance)) throw value_error("the dominance must be above 0");
  return dense_dominant(dev, n, dominance, random_signs(options), options.seed);
}

array<double> right_hand_side(const device& dev, matrix_view<const double> A, view<const double> x) {
  const ieee_environment here;
  // The residual of b = 0 at -x is A x.
  const array<double> zeros = array<double>::zeros(dev, A.rows);
  array<double> minus(dev, x.size()), b(dev, A.rows);
  for (std::int64_t i = 0; i < x.size(); ++i) minus[i] = -x[i];
  residual<double>(dev, transpose::no, A, zeros, minus, nullptr, b);
  return b;
}

}  // namespace vouch
