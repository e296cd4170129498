#include <vouch/verify/sparse/positive_definite.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/random.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/verify/sparse/powers_of_two.hpp>

namespace vouch {
namespace {

using namespace detail;

// Exponents of powers of two near 1/sqrt(a_ii).
std::vector<int> diagonal_scale(const csr<double>& A) {
  std::vector<int> scale(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] == i)
        scale[static_cast<std::size_t>(i)] = static_cast<int>(-std::round(std::log2(A.val[k]) / 2));
  return scale;
}

bool are_moderate(const array<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double v) { return v == 0 || (std::fabs(v) >= 0x1p-900 && std::fabs(v) < 0x1p900); });
}

double norm(const std::vector<double>& v) {
  double sum = 0;
  for (const double value : v) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

positive_definite::positive_definite(const device& dev, const matrix_fingerprint& A, const uncertainty& within,
                                     csr<double> B, array<std::int32_t> order, std::vector<int> scale,
                                     std::int64_t most_entries)
    : certificate(A, within),
      device_(dev),
      B_(std::move(B)),
      order_(std::move(order)),
      scale_(std::move(scale)),
      structure_(B_.all(), most_entries) {}

std::unique_ptr<positive_definite> positive_definite::prove(const device& dev, csr_view<const double> A,
                                                            const positive_definite_options& options,
                                                            std::string& reason) {
  const ieee_environment here;
  detail::require_radii("positive_definite", options.within);
  const valid_csr valid("positive_definite", dev, A);
  if (A.rows != A.cols) throw shape_error("positive_definite: the matrix is not square");
  const device cpu = dev.is_cuda() ? device::cpu() : dev;
  const csr<double> local = copy(cpu, dev, A);
  const structure_facts facts = structure<double>(cpu, local);
  if (!facts.symmetric) throw value_error("positive_definite: the matrix is not symmetric");
  if (!facts.diagonal_positive) {
    reason = "a diagonal entry is not positive: the matrix is not positive definite";
    return nullptr;
  }
  array<std::int32_t> order = detail::cholesky_order(cpu, local);
  csr<double> B = permute<double>(cpu, local, order);
  std::vector<int> scale = diagonal_scale(B);
  if (!scale_exactly(B, scale, scale) || !are_moderate(B.val)) {
    reason = "the entries are too far apart to be scaled exactly";
    return nullptr;
  }
  std::unique_ptr<positive_definite> proof(new positive_definite(dev, fingerprint_of(dev, A), options.within,
                                                                 std::move(B), std::move(order),
                                                                 std::move(scale), options.most_entries));
  if (proof->structure_.entries() > options.most_entries) {
    reason = "the Cholesky factor would have more than " + std::to_string(options.most_entries) + " entries";
    return nullptr;
  }
  proof->factor_ = std::make_unique<detail::sparse_cholesky>(proof->B_, proof->structure_, 0.0);
  if (!proof->factor_->completed()) {
    reason =
        "Cholesky's method met a pivot that is not positive: the matrix is not positive definite, or nearly so";
    return nullptr;
  }
  const double estimate = proof->estimate_eigenvalue();
  for (const double part : {0.5, 0.9}) {
    proof->lambda_ = proof->prove_eigenvalue(part * estimate, options.within);
    if (proof->lambda_ > 0) break;
  }
  if (!(proof->lambda_ > 0)) {
    reason = "the matrix is too ill-conditioned for a proof that it is positive definite";
    return nullptr;
  }
  const int most = *std::max_element(proof->scale_.begin(), proof->scale_.end());
  proof->inverse_norm_ = std::ldexp(1 / proof->lambda_, 2 * most);
  return proof;
}

// Inverse iteration.
double positive_definite::estimate_eigenvalue() const {
  std::vector<double> v(scale_.size());
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = random_unit(1, i) - 0.5;
  double size = norm(v), growth = 1;
  for (int step = 0; step < 8; ++step) {
    check_cancellation();
    for (double& value : v) value /= size;
    factor_->solve(v);
    size = growth = norm(v);
  }
  return 1 / growth;
}

// Where the factorisation of M = B - s I, its diagonal rounded down, comes to an end, L L^T = M + F with
// |F_ij| <= c d_i d_j, where d_i is the norm of row i of L and c = (t + 2) u for inner products of t terms. Entry
// (i, j) has no more terms than row i or row j of L has entries left of its diagonal: c <= sqrt(c_i c_j), so that
// ||F||_2 <= sum c_i d_i^2 <= sum a_i m_ii with a_i = c_i / (1 - c_i). The smallest eigenvalue of B is at least s
// less that. What is lost below 2^-1022 adds less than 2^-900, since all entries of L are below 2.
double positive_definite::prove_eigenvalue(double shift, const uncertainty& within) const {
  const detail::sparse_cholesky shifted(B_, structure_, shift);
  if (!shifted.completed()) return 0;
  double rounding = 0, widest_row = 0;
  for (std::int64_t i = 0; i < B_.rows; ++i) {
    const double terms = static_cast<double>(structure_.terms[static_cast<std::size_t>(i)] + 2) * 0x1p-53;
    double row = 0;
    for (std::int64_t k = B_.row_ptr[i]; k < B_.row_ptr[i + 1]; ++k) {
      row = add_up(row, std::fabs(B_.val[k]));
      if (B_.col[k] == i) rounding = add_up(rounding, mul_up(div_up(terms, sub_down(1.0, terms)), B_.val[k]));
    }
    widest_row = std::max(widest_row, row);
  }
  const double lost = add_up(add_up(rounding, mul_up(within.matrix, widest_row)), 0x1p-900);
  return sub_down(shift, lost);
}

std::vector<int> positive_definite::exponents() const {
  std::vector<int> all(scale_.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[static_cast<std::size_t>(order_[static_cast<std::int64_t>(i)])] = scale_[i];
  return all;
}

// The squares of S s are summed after a division by a power of two near the largest of them.
void positive_definite::bound(view<const interval<double>> r, view<double> radius) {
  const ieee_environment here;
  require_lengths("bound", r.size(), radius.size());
  const device cpu = device::cpu(1);
  std::vector<interval<double>> s(scale_.size());
  copy_bytes(s.data(), cpu, r.data(), device_, s.size() * sizeof s[0]);
  const auto place = [this](std::size_t i) {
    return static_cast<std::size_t>(order_[static_cast<std::int64_t>(i)]);
  };
  const auto size = [&](std::size_t i) {
    return std::max(std::fabs(s[place(i)].lo()), std::fabs(s[place(i)].hi()));
  };
  int largest = std::numeric_limits<int>::min() / 2;
  for (std::size_t i = 0; i < s.size(); ++i)
    if (size(i) > 0 && std::isfinite(size(i))) largest = std::max(largest, std::ilogb(size(i)) + scale_[i]);
  double sum = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double part = times_power_up(size(i), scale_[i] - largest);
    sum = add_up(sum, mul_up(part, part));
  }
  const double factor = div_up(sqrt_up(sum), lambda_);
  std::vector<double> result(scale_.size());
  for (std::size_t i = 0; i < s.size(); ++i) result[place(i)] = times_power_up(factor, scale_[i] + largest);
  copy_bytes(radius.data(), device_, result.data(), cpu, result.size() * sizeof result[0]);
}

bool positive_definite::correct(view<const double> s, view<double> d) {
  const ieee_environment here;
  require_lengths("correct", s.size(), d.size());
  const device cpu = device::cpu(1);
  std::vector<double> given(scale_.size()), x(scale_.size());
  copy_bytes(given.data(), cpu, s.data(), device_, given.size() * sizeof given[0]);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(given[static_cast<std::size_t>(order_[static_cast<std::int64_t>(i)])], scale_[i]);
  factor_->solve(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    given[static_cast<std::size_t>(order_[static_cast<std::int64_t>(i)])] = std::ldexp(x[i], scale_[i]);
  copy_bytes(d.data(), device_, given.data(), cpu, given.size() * sizeof given[0]);
  return true;
}

}  // namespace vouch
