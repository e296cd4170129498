#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include <vouch/band/band_rows.hpp>
#include <vouch/band/cpu/lanes.hpp>
#include <vouch/band/gpu/check_cuda.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t chunk_rows = 4096;

// The power of two below a magnitude; 1 for 0 and what is no number.
double scale_for(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0, std::clamp(std::ilogb(largest), -1000, 1000));
}

// residuals[k] of rows that lie one after another, with rows before and behind them.
VOUCH_CLONES("avx512f", "arch=haswell", "default")
void inner_residuals(const double* dl, const double* d, const double* du, const double* b, const double* x,
                     std::int64_t count, double* __restrict residuals) {
  for (std::int64_t k = 0; k < count; ++k) {
    double_double<double> sum{b[k], 0};
    sum = add_product(sum, -dl[k], x[k - 1]);
    sum = add_product(sum, -d[k], x[k]);
    sum = add_product(sum, -du[k], x[k + 1]);
    residuals[k] = sum.hi;
  }
}

// Magnitudes are ordered as their bits are, a NaN above all.
struct magnitude {
  std::int64_t bits = 0;
  void see(double x) { bits = std::max(bits, std::bit_cast<std::int64_t>(std::fabs(x))); }
  double value() const { return std::bit_cast<double>(bits); }
};

VOUCH_CLONES("avx512f", "avx2", "default")
void inner_magnitudes(const double* dl, const double* d, const double* du, const double* b, const double* x,
                      const double* residuals, std::int64_t count, band_residual_facts& facts) {
  magnitude residual, matrix, solution, rhs;
  for (std::int64_t k = 0; k < count; ++k) {
    residual.see(residuals[k]);
    matrix.see(std::fabs(dl[k]) + std::fabs(d[k]) + std::fabs(du[k]));
    solution.see(x[k]);
    rhs.see(b[k]);
  }
  facts.residual_inf = residual.value();
  facts.matrix_inf = matrix.value();
  facts.x_inf = solution.value();
  facts.rhs_inf = rhs.value();
}

// As row by row, for rows from `first` on that lie one after another; false where a row needs care.
bool look_at_inner_rows(const tridiagonal_view<const double>& A, const batch_view<const double>& b,
                        const batch_view<const double>& x, std::int64_t s, std::int64_t first,
                        std::int64_t count, double* residuals, band_residual_facts& facts) {
  const std::int64_t at = A.shape.at(s, first);
  const double *const rhs = &b(s, first), *const solution = &x(s, first);
  inner_residuals(A.dl + at, A.d + at, A.du + at, rhs, solution, count, residuals);
  inner_magnitudes(A.dl + at, A.d + at, A.du + at, rhs, solution, residuals, count, facts);
  return std::isfinite(facts.residual_inf);
}

template <real T>
band_residual_facts look_at_chunk(const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                                  const batch_view<const T>& x, T* r, std::int64_t s, std::int64_t first) {
  const std::int64_t n = b.shape.rows(s), last = std::min(n, first + chunk_rows);
  band_residual_facts facts;
  double residuals[chunk_rows];
  const auto one_by_one = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const residual_row row = residual_at(A, b, x, s, i, n);
      residuals[i - first] = row.residual;
      facts.residual_inf = worse(std::fabs(row.residual), facts.residual_inf);
      facts.matrix_inf = worse(row.matrix, facts.matrix_inf);
      facts.x_inf = worse(row.x, facts.x_inf);
      facts.rhs_inf = worse(row.rhs, facts.rhs_inf);
    }
  };
  bool done = false;
  if constexpr (std::is_same_v<T, double>) {
    const std::int64_t from = std::max<std::int64_t>(first, 1), to = std::min(last, n - 1);
    const bool side_by_side = A.shape.row_stride == 1 && b.shape.row_stride == 1 && x.shape.row_stride == 1;
    done = side_by_side && from < to &&
           look_at_inner_rows(A, b, x, s, from, to - from, residuals + (from - first), facts);
    if (done) {
      one_by_one(first, from);
      one_by_one(to, last);
    }
  }
  if (!done) {
    facts = {};
    one_by_one(first, last);
  }
  if (r != nullptr)
    for (std::int64_t i = first; i < last; ++i) r[x.shape.at(s, i)] = static_cast<T>(residuals[i - first]);
  facts.residual.scale = scale_for(facts.residual_inf);
  facts.rhs.scale = scale_for(facts.rhs_inf);
  // Of powers of two that are no more than 2^1000 from 1.
  const double of_residual = 1 / facts.residual.scale, of_rhs = 1 / facts.rhs.scale;
  for (std::int64_t i = first; i < last; ++i) {
    const double part = residuals[i - first] * of_residual;
    const double whole = static_cast<double>(b(s, i)) * of_rhs;
    facts.residual.sum += part * part;
    facts.rhs.sum += whole * whole;
  }
  return facts;
}

}  // namespace

void band_residual_facts::add(const band_residual_facts& other) {
  residual.add(other.residual);
  rhs.add(other.rhs);
  residual_inf = worse(other.residual_inf, residual_inf);
  matrix_inf = worse(other.matrix_inf, matrix_inf);
  x_inf = worse(other.x_inf, x_inf);
  rhs_inf = worse(other.rhs_inf, rhs_inf);
}

double band_residual_facts::backward_error() const {
  if (residual_inf == 0) return 0;
  // Scaled, so that neither product nor sum overflows.
  const double scale = std::max({scale_for(residual_inf), scale_for(rhs_inf), 1.0});
  return residual_inf / scale / (matrix_inf / scale * x_inf + rhs_inf / scale);
}

template <real T>
void band_residual(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                   const batch_view<const T>& x, T* r, band_residual_facts* facts) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return band_residual_cuda(dev, A, b, x, r, facts);
  const std::int64_t systems = b.shape.systems, chunks = ceil_div(b.shape.n, chunk_rows);
  std::vector<band_residual_facts> found(static_cast<std::size_t>(systems * chunks));
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) \
    schedule(static) if (systems * chunks > 1)
  for (std::int64_t k = 0; k < systems * chunks; ++k)
    found[static_cast<std::size_t>(k)] = look_at_chunk(A, b, x, r, k / chunks, k % chunks * chunk_rows);
  for (std::int64_t s = 0; s < systems; ++s) {
    facts[s] = {};
    for (std::int64_t k = 0; k < chunks; ++k) facts[s].add(found[static_cast<std::size_t>(s * chunks + k)]);
  }
}

template void band_residual(const device&, const tridiagonal_view<const float>&, const batch_view<const float>&,
                            const batch_view<const float>&, float*, band_residual_facts*);
template void band_residual(const device&, const tridiagonal_view<const double>&,
                            const batch_view<const double>&, const batch_view<const double>&, double*,
                            band_residual_facts*);

}  // namespace vouch::detail
