#include <vouch/verify/dense/dense_inverse.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

#include <vouch/core/block_lanes.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/device_cuda.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/factor/approximate_factors.hpp>
#include <vouch/dense/factor/cusolver.hpp>
#include <vouch/dense/require_entries.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch {
namespace {

using namespace detail;

// ---- several GPUs

bool is_shared(const device_group& devices) { return devices.size() > 1 && devices.is_cuda(); }

// Some columns of an n-by-n matrix.
struct column_block {
  std::int64_t first, count;
};

// The columns are dealt to the devices in order: share(device, its columns, home) runs for all of them at once. home is
// the first one with a stream of its own, for copies that do not wait for its share.
using work_on_columns = std::function<void(const device&, const column_block&, const device& home)>;
void share_columns(const device_group& devices, std::int64_t n, const work_on_columns& share) {
  const int first_gpu = devices.front().index();
  if constexpr (built_with_cuda)
    for (std::int64_t k = 0; k < devices.size(); ++k) {
      cuda_share_memory(first_gpu, devices[k].index());
      cuda_share_memory(devices[k].index(), first_gpu);
    }
  devices.front().synchronize();  // what all read is there
  for_each_block(devices, devices.size(), [&](block_lane& lane, std::int64_t k) {
    const std::int64_t first = n * k / devices.size(), end = n * (k + 1) / devices.size();
    if (first < end) share(lane.dev(), {first, end - first}, device::cuda(first_gpu));
    lane.dev().synchronize();
  });
}

// Columns of a matrix on `from`, where it is contiguous or not.
template <class T>
matrix<T> columns_on(const device& to, const device& from, matrix_view<const T> A,
                     const column_block& columns) {
  matrix<T> M(to, A.rows, columns.count);
  const auto column = static_cast<std::size_t>(A.rows) * sizeof(T);
  const T* const source = A.data + columns.first * A.ld;
  to.synchronize();
  if (A.ld == A.rows) {
    copy_bytes(M.data(), to, source, from, column * static_cast<std::size_t>(columns.count));
    return M;
  }
  for (std::int64_t j = 0; j < columns.count; ++j)
    copy_bytes(M.data() + j * A.rows, to, source + j * A.ld, from, column);
  return M;
}

// ---- an inverse that the proof starts from

std::size_t bytes_of(std::int64_t doubles) { return static_cast<std::size_t>(doubles) * sizeof(double); }

bool all_finite(const device& dev, const matrix<double>& R) {
  return std::isfinite(largest(dev, R.rows() * R.cols(), size_body{R.data()}));
}

bool invert_on_cpu(const device& cpu, matrix<double> A, matrix<double>& R) {
  const std::int64_t n = A.rows();
  const approximate_lu lu = factorise(cpu, std::move(A));
  if (lu.singular) return false;
  R = matrix<double>::zeros(cpu, n, n);
  for (std::int64_t k = 0; k < n; ++k) {
    if (lu.factors(k, k) == 0) return false;
    R(k, lu.rows[static_cast<std::size_t>(k)]) = 1;
  }
  trsm<double, double>(cpu, side::left, triangle::lower, transpose::no, diagonal::unit, 1, lu.factors, R);
  trsm<double, double>(cpu, side::left, triangle::upper, transpose::no, diagonal::general, 1, lu.factors, R);
  return all_finite(cpu, R);
}

bool invert_on_gpu(const device& dev, matrix<double> A, matrix<double>& R) {
  const std::int64_t n = A.rows();
  R = matrix<double>::zeros(dev, n, n);
  for_elements(dev, n, unit_diagonal_body{n, R.data()});
  cusolver::factors<double> factors(dev, cusolver::kind::lu, std::move(A));
  if (factors.failed() > 0) return false;
  factors.solve(false, n, R.data());
  return all_finite(dev, R);
}

// Each GPU factorises A and solves for columns of its own.
bool invert_on_gpus(const device_group& devices, const matrix<double>& A, matrix<double>& R) {
  const std::int64_t n = A.rows();
  R = matrix<double>::zeros(devices.front(), n, n);
  std::atomic<bool> failed = false;
  share_columns(devices, n, [&](const device& dev, const column_block& mine, const device& home) {
    cusolver::factors<double> factors(dev, cusolver::kind::lu, columns_on(dev, home, A.read(), {0, n}));
    if (factors.failed() > 0) {
      failed = true;
      return;
    }
    matrix<double> X = matrix<double>::zeros(dev, n, mine.count);
    for_elements(dev, mine.count, unit_diagonal_body{n, X.data(), mine.first});
    factors.solve(false, mine.count, X.data());
    copy_bytes(R.data() + mine.first * n, home, X.data(), dev, bytes_of(n * mine.count));
  });
  return !failed && all_finite(devices.front(), R);
}

// R := about A^-1 by LU factors with partial pivoting.
//
// Shapes  A and R are n-by-n, A contiguous.
// Memory  On the first device, A is overwritten. On GPUs by cuSOLVER; where that is absent, on the CPU, and `remark` says
//         so.
// Result  False where a pivot was 0, or R is not finite. Nothing is proved.
// Cost    8/3 n^3 flops.
bool invert_approximately(const device_group& devices, matrix<double> A, matrix<double>& R,
                          std::string& remark) {
  const device& dev = devices.front();
  if (A.rows() == 0) return true;
  if (!dev.is_cuda()) return invert_on_cpu(dev, std::move(A), R);
  if constexpr (built_with_cuda)
    if (cusolver::present())
      return is_shared(devices) ? invert_on_gpus(devices, A, R) : invert_on_gpu(dev, std::move(A), R);
  remark = "there is no cuSOLVER: the inverse was made on the CPU";
  const device cpu = device::cpu();
  matrix<double> here;
  if (!invert_on_cpu(cpu, A.to(cpu), here)) return false;
  R = here.to(dev);
  return true;
}

// ---- the proof

// Bytes that the proof takes besides the matrix itself: copy, R, R A as intervals and as magnitudes, and the
// parts that a fast product is made of.
double bytes_needed(std::int64_t n, bool uncertain) {
  const double doubles = uncertain ? 9 : 7;
  return doubles * 8 * static_cast<double>(n) * static_cast<double>(n);
}

// Those of several GPUs that have the memory for their part: A, its factors and columns of the inverse.
device_group with_memory(const device_group& devices, std::int64_t n) {
  if (!is_shared(devices)) return devices;
  const double needed = 3 * 8 * static_cast<double>(n) * static_cast<double>(n);
  std::vector<device> all{devices.front()};
  for (std::int64_t k = 1; k < devices.size(); ++k)
    if (needed <= static_cast<double>(devices[k].memory_free())) all.push_back(devices[k]);
  return device_group(std::move(all));
}

bool fits(const device& dev, std::int64_t n, const uncertainty& within, std::string& reason) {
  const double needed = bytes_needed(n, within.matrix > 0);
  if (needed <= static_cast<double>(dev.memory_free())) return true;
  reason = string_printf("a dense approximate inverse would take %.0f GB, %.0f are free", needed / 1e9,
                         static_cast<double>(dev.memory_free()) / 1e9);
  return false;
}

// The matrix with nothing between its columns.
matrix<double> packed(const device& dev, matrix_view<const double> A) {
  return columns_on(dev, dev, A, {0, A.cols});
}

matrix<double> as_dense(const device& dev, csr_view<const double> A) {
  matrix<double> M = matrix<double>::zeros(dev, A.rows, A.cols);
  for_elements(dev, A.rows, scatter_body{A.row_ptr, A.col, A.val, A.rows, M.data()});
  return M;
}

matrix<interval<double>> widened(const device& dev, matrix_view<const double> A, double radius) {
  matrix<interval<double>> wide(dev, A.rows, A.cols);
  for_elements(dev, A.rows * A.cols, widen_entry_body{A.data, A.rows, A.ld, radius, wide.data()});
  return wide;
}

void check_square(std::int64_t rows, std::int64_t cols) {
  if (rows != cols) throw shape_error("dense_inverse: the matrix is not square");
}

}  // namespace

std::unique_ptr<dense_inverse> dense_inverse::prove(const device_group& devices, csr_view<const double> A,
                                                    const uncertainty& within, std::string& reason) {
  const ieee_environment here;
  const device& dev = devices.front();
  check_square(A.rows, A.cols);
  detail::require_radii("dense_inverse", within);
  const valid_csr valid("dense_inverse", dev, A);
  if (!fits(dev, A.rows, within, reason)) return nullptr;
  return prove(with_memory(devices, A.rows), fingerprint_of(dev, A), as_dense(dev, A).read(), within, reason);
}

std::unique_ptr<dense_inverse> dense_inverse::prove(const device_group& devices, matrix_view<const double> A,
                                                    const uncertainty& within, std::string& reason) {
  const ieee_environment here;
  const device& dev = devices.front();
  detail::require_entries("dense_inverse", A);
  check_square(A.rows, A.cols);
  detail::require_radii("dense_inverse", within);
  if (!fits(dev, A.rows, within, reason)) return nullptr;
  return prove(with_memory(devices, A.rows), fingerprint_of(dev, A), A, within, reason);
}

std::unique_ptr<dense_inverse> dense_inverse::prove(const device_group& devices,
                                                    const matrix_fingerprint& given,
                                                    matrix_view<const double> A, const uncertainty& within,
                                                    std::string& reason) {
  const ieee_environment here;
  const device& dev = devices.front();
  std::unique_ptr<dense_inverse> proof(new dense_inverse(devices, given, within));
  if (!proof->invert_scaled(packed(dev, A))) {
    reason = "elimination met a pivot of zero: the matrix is singular, or nearly so";
    return nullptr;
  }
  if (!(within.matrix > 0 ? proof->invert(widened(dev, A, within.matrix).read()) : proof->invert(A))) {
    reason =
        "the matrix is singular or too ill-conditioned: an approximate inverse does not bring it near the "
        "identity";
    if (A.rows <= most_rows_twice) reason += ", and neither does a second step";
    return nullptr;
  }
  array<double> norm(dev, A.rows);
  for_rows(dev, proof->R_.read(), row_norm_body{norm.data()});
  proof->undo_left(norm);
  proof->inverse_norm_ = largest(dev, A.rows, size_body{norm.data()});
  return proof;
}

// Adds what M's rows and columns are multiplied by to the exponents.
void dense_inverse::scale(matrix<double>& M, const std::vector<int>& rows, const std::vector<int>& columns,
                          powers_of_two& all) const {
  const ieee_environment here;
  const auto left = array<int>::from(device_, rows), right = array<int>::from(device_, columns);
  for_elements(device_, n_ * n_, times_powers_body{M.data(), n_, left.data(), right.data(), 0});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all.rows[i] += rows[i];
    all.columns[i] += columns[i];
  }
}

// Brings the largest entries of rows and columns near 1.
powers_of_two dense_inverse::equilibrate(matrix<double>& M) const {
  const ieee_environment here;
  const auto n = static_cast<std::size_t>(n_);
  const std::vector<int> none(n, 0);
  powers_of_two all{none, none};
  array<int> exponent(device_, n_);
  const auto of_rows = [&] {
    for_rows(device_, M.read(), row_exponent_body{exponent.data()});
    return exponent.to_vector();
  };
  for (int step = 0; step < equilibration_steps; ++step) {
    std::vector<int> rows = of_rows();
    for_elements(device_, n_, column_exponent_body{M.data(), n_, exponent.data()});
    std::vector<int> columns = exponent.to_vector();
    int farthest = 0;
    for (std::vector<int>* side : {&rows, &columns})
      for (int& e : *side) {
        farthest = std::max(farthest, std::abs(e));
        e /= 2;
      }
    if (farthest <= equilibrated_within) break;
    scale(M, rows, columns, all);
  }
  scale(M, of_rows(), none, all);
  return all;
}

// A, here M, is equilibrated before it is inverted. R takes the powers of the rows in: A^-1 = D R about, with a
// diagonal D of powers of two, while R stays within what doubles hold.
bool dense_inverse::invert_scaled(matrix<double> M) {
  const ieee_environment here;
  const powers_of_two all = equilibrate(M);
  if (!invert_approximately(devices_, std::move(M), R_, remark_)) return false;
  constexpr int most = 900;
  int highest = -most, lowest = most;
  for (const int exponent : all.rows) {
    highest = std::max(highest, exponent);
    lowest = std::min(lowest, exponent);
  }
  shift_ = std::min(0, most - highest) + std::max(0, -most - lowest);
  left_ = array<int>::from(device_, all.columns);
  const auto rows = array<int>::from(device_, all.rows);
  for_elements(device_, n_ * n_, times_powers_body{R_.data(), n_, nullptr, rows.data(), shift_});
  return true;
}

// v := D v
void dense_inverse::undo_left(view<double> v) const {
  const ieee_environment here;
  for_elements(device_, n_, times_powers_body{v.data(), n_, left_.data(), nullptr, -shift_});
}

// Whether R, or X after it, brings A near enough to D^-1.
template <class Entry>
bool dense_inverse::invert(matrix_view<const Entry> A) {
  const ieee_environment here;
  product_ = matrix<double>(device_, n_, n_);
  comparison_.emplace(device_, product_.read(), uncertainty{});
  return is_h_matrix(R_, A, gemm_mode::fast) || is_h_matrix(R_, A, gemm_mode::tight) ||
         (n_ <= most_rows_twice && invert_twice(A));
}

// The R of a matrix with a condition number of 1 / u or more has few or no correct digits, but R A has a far
// smaller one, and its entries are known to the last digit where their sums are exact. X is about (R A D)^-1, so
// that X R A is near D^-1 again.
template <class Entry>
bool dense_inverse::invert_twice(matrix_view<const Entry> A) {
  const ieee_environment here;
  matrix<interval<double>> RA(device_, n_, n_);
  gemm<double, Entry, interval<double>>(device_, transpose::no, transpose::no, interval<double>(1.0), R_.read(),
                                        A, interval<double>(0.0), RA.all(), gemm_mode::exact);
  matrix<double> middle(device_, n_, n_);
  for_elements(device_, n_ * n_, middle_body{RA.data(), middle.data()});
  for_elements(device_, n_ * n_, times_powers_body{middle.data(), n_, nullptr, left_.data(), -shift_});
  matrix<double> X;
  if (!invert_approximately(devices_, std::move(middle), X, remark_)) return false;
  if (!is_h_matrix(X, RA.read(), gemm_mode::fast) && !is_h_matrix(X, RA.read(), gemm_mode::tight)) return false;
  X_ = std::move(X);
  return true;
}

// product_ := <left right>
template <class Entry>
void dense_inverse::compare_product(const matrix<double>& left, matrix_view<const Entry> right,
                                    gemm_mode mode) {
  const ieee_environment here;
  const auto compare = [&](const device& dev, matrix_view<const double> L, matrix_view<const Entry> columns,
                           std::int64_t first, double* out) {
    matrix<interval<double>> C(dev, n_, columns.cols);
    gemm<double, Entry, interval<double>>(dev, transpose::no, transpose::no, interval<double>(1.0), L, columns,
                                          interval<double>(0.0), C.all(), mode);
    for_elements(dev, n_ * columns.cols, compare_entry_body{C.data(), n_, out, first * n_});
  };
  if (!is_shared(devices_)) return compare(device_, left.read(), right, 0, product_.data());
  share_columns(devices_, n_, [&](const device& dev, const column_block& mine, const device& home) {
    matrix<double> copy;
    const bool is_here = dev.index() == device_.index();
    if (!is_here) copy = columns_on(dev, home, left.read(), {0, n_});
    const matrix<Entry> columns = columns_on(dev, home, right, mine);
    matrix<double> out(dev, n_, mine.count);
    compare(dev, is_here ? left.read() : copy.read(), columns.read(), mine.first, out.data());
    copy_bytes(product_.data() + mine.first * n_, home, out.data(), dev, bytes_of(n_ * mine.count));
  });
}

// left right is near D^-1 or there is nothing to be had: then v near D e is enough, but for columns of A of
// different size within. Their v is far from it, and <C> v is positive beyond rounding only where v is a little
// more than one step of Jacobi gives; at last not more, for what is no H-matrix by much.
template <class Entry>
bool dense_inverse::is_h_matrix(const matrix<double>& left, matrix_view<const Entry> right, gemm_mode mode) {
  const ieee_environment here;
  compare_product(left, right, mode);
  for_elements(device_, n_, fill_body<double>{1.0, comparison_->v().data()});
  undo_left(comparison_->v());
  for (int step = 0; step < 24; ++step) {
    if (comparison_->holds()) return true;
    comparison_->improve_v(step < 16 ? 1.25 : 1.0);
  }
  return false;
}

// Rr := R r, the middle of r in twice the precision: of what cancels in R r, X would make errors of the size of
// r.
void dense_inverse::enclose_product(view<const interval<double>> r, view<interval<double>> Rr) const {
  const ieee_environment here;
  array<double> middle(device_, n_), zeros = array<double>::zeros(device_, n_);
  array<interval<double>> rest(device_, n_);
  for_elements(device_, n_, split_body{r.data(), middle.data(), rest.data()});
  for_rows(device_, R_.read(), residual_body{zeros.data(), middle.data(), nullptr, Rr.data(), {}});
  gemv<double, interval<double>, interval<double>>(device_, transpose::no, interval<double>(1.0), R_.read(),
                                                   rest.all(), interval<double>(1.0), Rr);
}

void dense_inverse::bound(view<const interval<double>> r, view<double> radius) {
  const ieee_environment here;
  require_lengths("bound", r.size(), radius.size());
  array<interval<double>> product(device_, n_);
  const auto times = [&](const matrix<double>& M, view<const interval<double>> s) {
    gemv<double, interval<double>, interval<double>>(device_, transpose::no, interval<double>(1.0), M.read(), s,
                                                     interval<double>(0.0), product.all());
  };
  if (inverted_twice()) {
    array<interval<double>> Rr(device_, n_);
    enclose_product(r, Rr.all());
    times(X_, Rr.all());
  } else {
    times(R_, r);
  }
  comparison_->bound(product.all(), 1, radius);
}

bool dense_inverse::correct(view<const double> s, view<double> d) {
  const ieee_environment here;
  require_lengths("correct", s.size(), d.size());
  const auto times = [&](const matrix<double>& M, view<const double> v) {
    gemv<double, double, double>(device_, transpose::no, 1.0, M.read(), v, 0.0, d);
  };
  if (inverted_twice()) {
    array<interval<double>> points(device_, n_), Rs(device_, n_);
    array<double> middle(device_, n_);
    for_elements(device_, n_, point_body{s.data(), points.data()});
    enclose_product(points.all(), Rs.all());
    for_elements(device_, n_, middle_body{Rs.data(), middle.data()});
    times(X_, middle.all());
  } else {
    times(R_, s);
  }
  undo_left(d);
  return true;
}

}  // namespace vouch
