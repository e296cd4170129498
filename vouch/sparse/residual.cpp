#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/require.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/core/underflow.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/residual_row.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

using detail::residual_chunk;
using detail::residual_norms;

constexpr std::int64_t batch = 8;

// As many rows as a batch has, from `first` on, each with so many entries: what row_residual makes of them, to the bit.
struct row_batch {
  double high[batch], magnitude[batch], product[batch];
};
VOUCH_FMA_CLONES void take_batch(const csr_view<const double>& A, const double* b, const double* x,
                                 std::int64_t first, std::int64_t entries, row_batch& rows) {
  double high[batch], low[batch] = {}, magnitude[batch] = {}, product[batch] = {};
  for (std::int64_t l = 0; l < batch; ++l) high[l] = b[first + l];
  const std::int64_t begin = A.row_ptr[first];
  for (std::int64_t k = 0; k < entries; ++k) {
    double value[batch], other[batch];
    for (std::int64_t l = 0; l < batch; ++l) {
      const std::int64_t at = begin + l * entries + k;
      value[l] = A.val[at];
      other[l] = x[A.col[at]];
    }
    for (std::int64_t l = 0; l < batch; ++l) {
      const double_double<double> sum =
          add_product(double_double<double>{high[l], low[l]}, -value[l], other[l]);
      high[l] = sum.hi;
      low[l] = sum.lo;
      magnitude[l] += std::fabs(value[l]);
      product[l] += std::fabs(value[l] * other[l]);
    }
  }
  std::copy_n(high, batch, rows.high);
  std::copy_n(magnitude, batch, rows.magnitude);
  std::copy_n(product, batch, rows.product);
}

// Whether the rows of a batch have as many entries each.
template <real T>
bool is_even(csr_view<const T> A, std::int64_t first) {
  const std::int64_t entries = A.row_ptr[first + 1] - A.row_ptr[first];
  bool even = true;
  for (std::int64_t l = 1; l < batch; ++l) even &= A.row_ptr[first + l + 1] - A.row_ptr[first + l] == entries;
  return even;
}

// Forms the rows of one chunk, and the norms over them and over the chunk's piece of x.
template <real T>
VOUCH_SIMD_INLINE residual_norms norms_of_chunk(const csr_view<const T>& A, const T* b, const T* x_hi,
                                                const T* x_lo, T* r, std::int64_t chunk) {
  residual_norms norms;
  const std::int64_t first = chunk * residual_chunk;
  const std::int64_t last = std::min(first + residual_chunk, A.rows);
  std::int64_t i = first;
  const auto plain_rows = [&](std::int64_t end) {
    for (; i < end; ++i) {
      const T b_i = b[i];
      detail::row_residual<T> row(b_i);
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const std::int32_t j = A.col[k];
        row.subtract(A.val[k], x_hi[j], x_lo != nullptr ? x_lo[j] : T{});
      }
      r[i] = row.rounded();
      norms.add_row(r[i], b_i, row.magnitude, row.product);
    }
  };
  if constexpr (sizeof(T) == sizeof(double))
    while (x_lo == nullptr && i + batch <= last) {
      if (!is_even(A, i)) {
        plain_rows(i + batch);
        continue;
      }
      row_batch rows;
      take_batch(A, b, x_hi, i, A.row_ptr[i + 1] - A.row_ptr[i], rows);
      for (std::int64_t l = 0; l < batch; ++l, ++i) {
        const T b_i = b[i];  // r may be b
        r[i] = rows.high[l];
        norms.add_row(r[i], b_i, rows.magnitude[l], rows.product[l]);
      }
    }
  plain_rows(last);
  for (std::int64_t j = first; j < std::min(first + residual_chunk, A.cols); ++j)
    norms.add_x(x_lo != nullptr ? x_hi[j] + x_lo[j] : x_hi[j]);
  return norms;
}

// Instruction sets differ in whether they have a fused multiply-add, of which every product takes one.
#define VOUCH_CHUNK_NORMS(T)                                                                          \
  VOUCH_SIMD_CLONES residual_norms chunk_norms(const csr_view<const T>& A, const T* b, const T* x_hi, \
                                               const T* x_lo, T* r, std::int64_t chunk) {             \
    return norms_of_chunk<T>(A, b, x_hi, x_lo, r, chunk);                                             \
  }
VOUCH_CHUNK_NORMS(float)
VOUCH_CHUNK_NORMS(double)
#undef VOUCH_CHUNK_NORMS

template <real T>
residual_norms residual_cpu(const device& dev, csr_view<const T> A, const T* b, const T* x_hi, const T* x_lo,
                            T* r) {
  const std::int64_t chunks = ceil_div(std::max(A.rows, A.cols), residual_chunk);
  std::vector<residual_norms> partial(static_cast<std::size_t>(chunks));
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static)
  for (std::int64_t c = 0; c < chunks; ++c)
    partial[static_cast<std::size_t>(c)] = chunk_norms(A, b, x_hi, x_lo, r, c);
  residual_norms all;
  for (const residual_norms& part : partial) all.merge(part);
  return all;
}

}  // namespace

double residual_facts::backward_error() const {
  const ieee_environment here;
  if (norm_inf == 0) return 0;
  // Where the denominator would overflow or underflow, all is taken 2^(2 half) times.
  const auto taken = [this](int half) {
    return std::ldexp(norm_inf, 2 * half) / (std::ldexp(matrix_norm_inf, half) * std::ldexp(x_norm_inf, half) +
                                             std::ldexp(rhs_norm_inf, 2 * half));
  };
  const double size = std::max(matrix_norm_inf * x_norm_inf, rhs_norm_inf);
  return taken(size > 0x1p1000 ? -520 : size < 0x1p-900 ? 400 : 0);
}

template <real T>
double residual_facts::norm2_at_most() const {
  const ieee_environment here;
  constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;
  // |A||x| may overflow where A x does not.
  const double product = std::min(product_norm2, std::numeric_limits<double>::max());
  const double open = 10 * unit_roundoff * (unit_roundoff * product);
  const double at_most = open > unit_roundoff * rhs_norm2 ? norm2 + open : norm2;
  return at_most + lost_to_underflow(unit_roundoff, norm2, x_norm_inf, rhs_norm2, terms);
}
template VOUCH_PUBLIC double residual_facts::norm2_at_most<float>() const;
template VOUCH_PUBLIC double residual_facts::norm2_at_most<double>() const;

template <real T>
residual_facts residual(const device& dev, csr_view<const T> A, view<const T> b, view<const T> x_hi,
                        const T* x_lo, view<T> r) {
  const ieee_environment here;
  const valid_csr valid("residual", dev, A);
  detail::require_contiguous("residual", "b", b, A.rows);
  detail::require_contiguous("residual", "r", r, A.rows);
  detail::require_contiguous("residual", "x", x_hi, A.cols);
  const auto terms = static_cast<double>(A.nonzeros + A.rows);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return detail::residual_cuda(dev, A, b.data(), x_hi.data(), x_lo, r.data()).facts(terms);
  return residual_cpu(dev, A, b.data(), x_hi.data(), x_lo, r.data()).facts(terms);
}

template <real T>
void residual_bound(const device& dev, csr_view<const T> A, view<const T> b, view<const T> x,
                    view<double> bound) {
  const ieee_environment here;
  const valid_csr valid("residual_bound", dev, A);
  detail::require_contiguous("residual", "b", b, A.rows);
  detail::require_contiguous("residual", "bound", bound, A.rows);
  detail::require_contiguous("residual", "x", x, A.cols);
  // A term of a row errs by at most 4 u^2 of what has been summed (T double, in double-double) or 2 u (T float,
  // products exact), u = 2^-53; the sum of the magnitudes by less than 2^-20 of itself.
  constexpr double of_a_term = sizeof(T) == 8 ? 8 * 0x1p-106 : 4 * 0x1p-53;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    detail::row_residual<T> row(b[i]);
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) row.subtract(A.val[k], x[A.col[k]], T{});
    const double terms = static_cast<double>(A.row_ptr[i + 1] - A.row_ptr[i] + 8);
    const double summed = add_up(std::fabs(double{b[i]}), mul_up(1 + 0x1p-20, row.product));
    const double error = add_up(mul_up(mul_up(terms, of_a_term), summed), mul_up(terms, 0x1p-1073));
    bound[i] = add_up(add_up(std::fabs(row.high()), std::fabs(row.low())), error);
  }
}

template VOUCH_PUBLIC void residual_bound(const device&, csr_view<const float>, view<const float>,
                                          view<const float>, view<double>);
template VOUCH_PUBLIC void residual_bound(const device&, csr_view<const double>, view<const double>,
                                          view<const double>, view<double>);
template VOUCH_PUBLIC residual_facts residual(const device&, csr_view<const float>, view<const float>,
                                              view<const float>, const float*, view<float>);
template VOUCH_PUBLIC residual_facts residual(const device&, csr_view<const double>, view<const double>,
                                              view<const double>, const double*, view<double>);

}  // namespace vouch
