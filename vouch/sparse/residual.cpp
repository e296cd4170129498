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

// As many rows as a batch has, from `first` on: what row_residual makes of them, to the bit.
struct row_batch {
  double high[batch], magnitude[batch], product[batch];
};

// Where their entries begin and how many each has.
struct batch_shape {
  std::int64_t begin[batch], entries[batch];
  std::int64_t least, most;

  batch_shape(const std::int64_t* row_ptr, std::int64_t first) {
    for (std::int64_t l = 0; l < batch; ++l) {
      begin[l] = row_ptr[first + l];
      entries[l] = row_ptr[first + l + 1] - begin[l];
    }
    least = *std::min_element(entries, entries + batch);
    most = *std::max_element(entries, entries + batch);
  }
  // Whether little is lost by going through the longest row in all.
  bool is_alike() const { return least > 0 && 2 * most <= 3 * least; }
};

// Rows that end before others keep what they have, as do those whose x has nothing below its double.
template <bool even, bool two_parts>
VOUCH_SIMD_INLINE void take_rows(const csr_view<const double>& A, const double* b, const double* x,
                                 const double* x_lo, std::int64_t first, const batch_shape& shape,
                                 row_batch& rows) {
  double high[batch], low[batch] = {}, magnitude[batch] = {}, product[batch] = {};
  for (std::int64_t l = 0; l < batch; ++l) high[l] = b[first + l];
  for (std::int64_t k = 0; k < shape.most; ++k) {
    double value[batch], other[batch], below[batch] = {};
    for (std::int64_t l = 0; l < batch; ++l) {
      const std::int64_t at =
          even ? shape.begin[0] + l * shape.most + k : shape.begin[l] + std::min(k, shape.entries[l] - 1);
      value[l] = A.val[at];
      other[l] = x[A.col[at]];
      if (two_parts) below[l] = x_lo[A.col[at]];
    }
    for (std::int64_t l = 0; l < batch; ++l) {
      double_double<double> sum = add_product(double_double<double>{high[l], low[l]}, -value[l], other[l]);
      if (two_parts) {
        const double_double<double> more = add_product(sum, -value[l], below[l]);
        sum.hi = below[l] != 0 ? more.hi : sum.hi;
        sum.lo = below[l] != 0 ? more.lo : sum.lo;
      }
      const bool takes = even || k < shape.entries[l];
      high[l] = takes ? sum.hi : high[l];
      low[l] = takes ? sum.lo : low[l];
      magnitude[l] = takes ? magnitude[l] + std::fabs(value[l]) : magnitude[l];
      product[l] = takes ? product[l] + std::fabs(value[l] * other[l]) : product[l];
    }
  }
  std::copy_n(high, batch, rows.high);
  std::copy_n(magnitude, batch, rows.magnitude);
  std::copy_n(product, batch, rows.product);
}
VOUCH_FMA_CLONES void take_batch(const csr_view<const double>& A, const double* b, const double* x,
                                 const double* x_lo, std::int64_t first, const batch_shape& shape,
                                 row_batch& rows) {
  const bool even = shape.least == shape.most;
  if (x_lo == nullptr)
    even ? take_rows<true, false>(A, b, x, x_lo, first, shape, rows)
         : take_rows<false, false>(A, b, x, x_lo, first, shape, rows);
  else
    even ? take_rows<true, true>(A, b, x, x_lo, first, shape, rows)
         : take_rows<false, true>(A, b, x, x_lo, first, shape, rows);
}

// Forms the rows of one chunk, and the norms over them and over the chunk's piece of x.
template <real T>
VOUCH_SIMD_INLINE residual_norms norms_of_chunk(const csr_view<const T>& A, const T* b, const T* x_hi,
                                                const T* x_lo, bool x_is_zero, T* r, std::int64_t chunk) {
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
  while (x_is_zero && i < last) {
    double magnitude = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      magnitude += std::fabs(static_cast<double>(A.val[k]));
    const T b_i = b[i];
    if (std::isfinite(magnitude) && std::isfinite(b_i) && (b_i != 0 || !std::signbit(b_i))) {
      r[i++] = b_i;
      norms.add_row(b_i, b_i, magnitude, 0);
    } else {
      plain_rows(i + 1);
    }
  }
  if constexpr (sizeof(T) == sizeof(double))
    while (i + batch <= last) {
      const batch_shape shape(A.row_ptr, i);
      if (!shape.is_alike()) {
        plain_rows(i + batch);
        continue;
      }
      row_batch rows;
      take_batch(A, b, x_hi, x_lo, i, shape, rows);
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
#define VOUCH_CHUNK_NORMS(T)                                                                              \
  VOUCH_SIMD_CLONES residual_norms chunk_norms(const csr_view<const T>& A, const T* b, const T* x_hi,     \
                                               const T* x_lo, bool x_is_zero, T* r, std::int64_t chunk) { \
    return norms_of_chunk<T>(A, b, x_hi, x_lo, x_is_zero, r, chunk);                                      \
  }
VOUCH_CHUNK_NORMS(float)
VOUCH_CHUNK_NORMS(double)
#undef VOUCH_CHUNK_NORMS

template <real T>
bool all_zero(const device& dev, std::int64_t n, const T* x) {
  if (n > 0 && x[0] != 0) return false;
  bool zero = true;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, n)) schedule(static) \
    reduction(&& : zero)
  for (std::int64_t first = 0; first < n; first += residual_chunk)
    zero = zero && std::all_of(x + first, x + std::min(n, first + residual_chunk), [](T e) { return e == 0; });
  return zero;
}

// Where x is zero, as at most starts, the rows are only summed.
template <real T>
residual_norms residual_cpu(const device& dev, csr_view<const T> A, const T* b, const T* x_hi, const T* x_lo,
                            T* r) {
  const std::int64_t chunks = ceil_div(std::max(A.rows, A.cols), residual_chunk);
  std::vector<residual_norms> partial(static_cast<std::size_t>(chunks));
  const bool x_is_zero = x_lo == nullptr && all_zero(dev, A.cols, x_hi);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static)
  for (std::int64_t c = 0; c < chunks; ++c)
    partial[static_cast<std::size_t>(c)] = chunk_norms(A, b, x_hi, x_lo, x_is_zero, r, c);
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
