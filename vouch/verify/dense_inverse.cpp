#include <vouch/verify/dense_inverse.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch {
namespace {

VOUCH_SIMD_CLONES void subtract_multiple(double factor, const double* x, double* y, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) y[k] -= factor * x[k];
}

matrix<double> as_dense(const device& cpu, const csr<double>& A) {
  matrix<double> M = matrix<double>::zeros(cpu, A.rows, A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) M(i, A.col[k]) = A.val[k];
  return M;
}

// An approximate inverse by Gauss-Jordan elimination with exchanges, on columns, since these lie together;
// false where it is not finite.
bool invert(const device& cpu, matrix<double> M, matrix<double>& R) {
  const std::int64_t n = M.rows();
  R = matrix<double>::zeros(cpu, n, n);
  for (std::int64_t i = 0; i < n; ++i) R(i, i) = 1;
  std::vector<double> row(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t j = k + 1; j < n; ++j)
      if (std::fabs(M(k, j)) > std::fabs(M(k, pivot))) pivot = j;
    if (!(std::fabs(M(k, pivot)) > 0) || !std::isfinite(M(k, pivot))) return false;
    if (pivot != k) {
      std::swap_ranges(&M(0, k), &M(0, k) + n, &M(0, pivot));
      std::swap_ranges(&R(0, k), &R(0, k) + n, &R(0, pivot));
    }
    const double scale = 1 / M(k, k);
    for (std::int64_t i = 0; i < n; ++i) {
      M(i, k) *= scale;
      R(i, k) *= scale;
    }
#pragma omp parallel for num_threads(cpu.threads()) schedule(static) if (n > 100)
    for (std::int64_t j = 0; j < n; ++j) {
      if (j == k) continue;
      const double factor = M(k, j);
      if (factor == 0) continue;
      subtract_multiple(factor, &M(k, k), &M(k, j), n - k);
      subtract_multiple(factor, &R(0, k), &R(0, j), n);
    }
  }
  return std::all_of(R.data(), R.data() + n * n, [](double value) { return std::isfinite(value); });
}

// Every entry with its radius.
matrix<interval<double>> widened(const device& cpu, const matrix<double>& A, double radius) {
  matrix<interval<double>> wide(cpu, A.rows(), A.cols());
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) {
      const double r = mul_up(std::fabs(A(i, j)), radius);
      wide(i, j) = interval<double>::unchecked(sub_down(A(i, j), r), add_up(A(i, j), r));
    }
  return wide;
}

double magnitude(interval<double> x) { return std::max(std::fabs(x.lo()), std::fabs(x.hi())); }

// The smallest |x|, 0 where 0 is inside.
double mignitude(interval<double> x) { return x.lo() > 0 ? x.lo() : x.hi() < 0 ? -x.hi() : 0; }

}  // namespace

std::unique_ptr<dense_inverse> dense_inverse::prove(const device& dev, csr_view<const double> A,
                                                    const uncertainty& within, std::string& reason) {
  if (A.rows != A.cols) throw shape_error("dense_inverse: the matrix is not square");
  const device cpu = dev.is_cuda() ? device::cpu() : dev;
  const std::int64_t n = A.rows;
  std::unique_ptr<dense_inverse> proof(new dense_inverse(dev, cpu));
  const matrix<double> M = as_dense(cpu, copy(cpu, dev, A));
  if (!invert(cpu, M.to(cpu), proof->R_)) {
    reason = "elimination met a pivot of zero: the matrix is singular, or nearly so";
    return nullptr;
  }
  matrix<interval<double>> C(cpu, n, n);
  const interval<double> zero(0.0), one(1.0);
  if (within.matrix > 0) {
    const matrix<interval<double>> wide = widened(cpu, M, within.matrix);
    gemm<double, interval<double>, interval<double>>(cpu, transpose::no, transpose::no, one, proof->R_.read(),
                                                     wide.read(), zero, C.all());
  } else {
    gemm<double, double, interval<double>>(cpu, transpose::no, transpose::no, one, proof->R_.read(), M.read(),
                                           zero, C.all());
  }
  proof->E_ = matrix<double>(cpu, n, n);
  proof->d_.resize(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) proof->E_(i, j) = i == j ? 0 : magnitude(C(i, j));
    proof->d_[static_cast<std::size_t>(j)] = mignitude(C(j, j));
  }
  if (!proof->find_v()) {
    reason =
        "the matrix is singular or too ill-conditioned: an approximate inverse does not bring it near the "
        "identity";
    return nullptr;
  }
  double norm = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double row = 0;
    for (std::int64_t j = 0; j < n; ++j) row += std::fabs(proof->R_(i, j));
    norm = std::max(norm, row);
  }
  proof->inverse_norm_ = norm;
  return proof;
}

// At least E t: columns in turn, every rounding upwards.
std::vector<double> dense_inverse::off_diagonal_up(const std::vector<double>& t) const {
  const std::int64_t n = E_.rows();
  std::vector<double> sum(t.size());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      double& s = sum[static_cast<std::size_t>(i)];
      s = add_up(s, mul_up(E_(i, j), t[static_cast<std::size_t>(j)]));
    }
  return sum;
}

// v = <C>^-1 e about, from e by Jacobi steps: C is near the identity or there is nothing to be had.
bool dense_inverse::find_v() {
  v_.assign(d_.size(), 1.0);
  for (int step = 0; step < 20; ++step) {
    const std::vector<double> others = off_diagonal_up(v_);
    image_.clear();
    bool positive = true;
    for (std::size_t i = 0; i < v_.size(); ++i) {
      image_.push_back(sub_down(mul_down(d_[i], v_[i]), others[i]));
      positive = positive && image_[i] > 0 && std::isfinite(image_[i]) && v_[i] > 0 && std::isfinite(v_[i]);
    }
    if (positive) return true;
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i] = (1 + others[i]) / d_[i];
  }
  return false;
}

void dense_inverse::bound(view<const interval<double>> r, view<double> radius) {
  const std::size_t n = d_.size();
  std::vector<interval<double>> s(n), Rs(n);
  copy_bytes(s.data(), cpu_, r.data(), device_, n * sizeof s[0]);
  gemv<double, interval<double>, interval<double>>(
      cpu_, transpose::no, interval<double>(1.0), R_.read(), {s.data(), static_cast<std::int64_t>(n)},
      interval<double>(0.0), {Rs.data(), static_cast<std::int64_t>(n)});
  std::vector<double> t(n), result(n);
  double factor = 0;
  for (std::size_t i = 0; i < n; ++i) t[i] = div_up(magnitude(Rs[i]), d_[i]);
  const std::vector<double> c = off_diagonal_up(t);
  bool bounded = true;
  for (std::size_t i = 0; i < n; ++i) {
    factor = std::max(factor, div_up(c[i], image_[i]));
    bounded = bounded && std::isfinite(t[i]) && std::isfinite(c[i]);
  }
  for (std::size_t i = 0; i < n; ++i)
    result[i] = bounded ? add_up(t[i], mul_up(factor, v_[i])) : rounding::infinity<double>;
  copy_bytes(radius.data(), device_, result.data(), cpu_, n * sizeof result[0]);
}

bool dense_inverse::correct(view<const double> s, view<double> d) {
  const auto n = static_cast<std::int64_t>(d_.size());
  std::vector<double> given(d_.size()), x(d_.size());
  copy_bytes(given.data(), cpu_, s.data(), device_, given.size() * sizeof given[0]);
  gemv<double, double, double>(cpu_, transpose::no, 1.0, R_.read(), {given.data(), n}, 0.0, {x.data(), n});
  copy_bytes(d.data(), device_, x.data(), cpu_, x.size() * sizeof x[0]);
  return true;
}

}  // namespace vouch
