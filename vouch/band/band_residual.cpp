#include <algorithm>
#include <limits>
#include <vector>

#include <vouch/band/band_residual.hpp>
#include <vouch/core/twofold.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t chunk_rows = 4096;

// NaN stays.
double worse(double now, double before) { return before >= now || before != before ? before : now; }

struct row_of_system {
  double residual, matrix, x, rhs;
};

template <real T>
row_of_system look_at_row(const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                          const batch_view<const T>& x, std::int64_t s, std::int64_t i, std::int64_t n) {
  const std::int64_t at = A.shape.at(s, i);
  const bool below = i > 0 || A.periodic, above = i + 1 < n || A.periodic;
  const T a = below ? A.dl[at] : T{0}, d = A.d[at], c = above ? A.du[at] : T{0}, rhs = b(s, i), own = x(s, i);
  const T before = below ? x(s, i > 0 ? i - 1 : n - 1) : T{0},
          after = above ? x(s, i + 1 < n ? i + 1 : 0) : T{0};
  row_of_system row;
  if constexpr (sizeof(T) == sizeof(double)) {
    twofold<T> sum{rhs, 0};
    sum = add_product(sum, -a, before);
    sum = add_product(sum, -d, own);
    sum = add_product(sum, -c, after);
    row.residual = sum.hi;
  } else {
    row.residual =
        double{rhs} - double{a} * double{before} - double{d} * double{own} - double{c} * double{after};
  }
  row.matrix = std::fabs(double{a}) + std::fabs(double{d}) + std::fabs(double{c});
  row.x = std::fabs(double{own});
  row.rhs = std::fabs(double{rhs});
  return row;
}

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
    const row_of_system row = look_at_row(A, b, x, s, i, n);
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
  const std::int64_t systems = b.shape.systems, chunks = ceil_div(b.shape.n, chunk_rows);
  std::vector<band_residual_facts> found(static_cast<std::size_t>(systems * chunks));
#pragma omp parallel for num_threads(dev.threads()) schedule(static) if (systems * chunks > 1)
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
