#include <algorithm>
#include <vector>

#include <vouch/band/band_rows.hpp>
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

template <real T>
band_residual_facts look_at_chunk(const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                                  const batch_view<const T>& x, T* r, std::int64_t s, std::int64_t first) {
  const std::int64_t n = b.shape.rows(s), last = std::min(n, first + chunk_rows);
  band_residual_facts facts;
  double residuals[chunk_rows];
  for (std::int64_t i = first; i < last; ++i) {
    const residual_row row = residual_at(A, b, x, s, i, n);
    residuals[i - first] = row.residual;
    if (r != nullptr) r[x.shape.at(s, i)] = static_cast<T>(row.residual);
    facts.residual_inf = worse(std::fabs(row.residual), facts.residual_inf);
    facts.matrix_inf = worse(row.matrix, facts.matrix_inf);
    facts.x_inf = worse(row.x, facts.x_inf);
    facts.rhs_inf = worse(row.rhs, facts.rhs_inf);
  }
  facts.residual.scale = scale_for(facts.residual_inf);
  facts.rhs.scale = scale_for(facts.rhs_inf);
  for (std::int64_t i = first; i < last; ++i) {
    const double part = residuals[i - first] / facts.residual.scale;
    const double whole = static_cast<double>(b(s, i)) / facts.rhs.scale;
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
