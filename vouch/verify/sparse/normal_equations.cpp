#include <vouch/verify/sparse/normal_equations.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/sparse/product.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/verify/enclosed_sum.hpp>
#include <vouch/verify/sparse/powers_of_two.hpp>

namespace vouch::detail {
namespace {

// Products of entries beyond which B^T B is not formed.
constexpr double most_products = 0x1p33;

double count_products(csr_view<const double> B) {
  double all = 0;
  for (std::int64_t i = 0; i < B.rows; ++i) {
    const auto entries = static_cast<double>(B.row_ptr[i + 1] - B.row_ptr[i]);
    all += entries * entries;
  }
  return all;
}

// A row of so many entries fills as many squared of B^T B, which with its radii and Cholesky's copies take this much each.
bool has_memory_for_gram(const device& cpu, csr_view<const double> B) {
  constexpr double bytes_of_entry = 60;
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < B.rows; ++i) longest = std::max(longest, B.row_ptr[i + 1] - B.row_ptr[i]);
  const auto entries = static_cast<double>(longest);
  return bytes_of_entry * entries * entries <= static_cast<double>(cpu.memory_free());
}

// B^T B: entry by entry within the radius of the middle.
struct enclosed_gram {
  csr<double> middle;
  std::vector<double> radius;
};

// Entries (j, k) and (k, j) are sums of the same products in the same order, and enclosed for the same number of
// them: the middle is symmetric.
enclosed_gram enclose_gram(const device& cpu, csr_view<const double> B) {
  const csr<double> transposed = transpose<double>(cpu, B);
  enclosed_gram G{multiply<double>(cpu, transposed, B), {}};
  G.radius.resize(static_cast<std::size_t>(G.middle.nonzeros()));
  const cancellation_probe stop;
  const int threads = loop_threads(cpu, B.nonzeros);
  std::vector<std::vector<enclosed_sum>> all(static_cast<std::size_t>(threads));
  for (std::vector<enclosed_sum>& sums : all) sums.resize(static_cast<std::size_t>(B.cols));
#pragma omp parallel firstprivate(ieee) num_threads(threads)
  {
    std::vector<enclosed_sum>& sums = all[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic, 16)
    for (std::int64_t j = 0; j < B.cols; ++j) {
      if (stop.requested()) continue;
      const std::int64_t first = G.middle.row_ptr[j], last = G.middle.row_ptr[j + 1];
      for (std::int64_t k = first; k < last; ++k) sums[static_cast<std::size_t>(G.middle.col[k])] = {};
      for (std::int64_t t = transposed.row_ptr[j]; t < transposed.row_ptr[j + 1]; ++t) {
        const std::int64_t i = transposed.col[t];
        for (std::int64_t k = B.row_ptr[i]; k < B.row_ptr[i + 1]; ++k)
          sums[static_cast<std::size_t>(B.col[k])].add_product(transposed.val[t], B.val[k]);
      }
      const auto entries = [&](std::int64_t column) {
        return transposed.row_ptr[column + 1] - transposed.row_ptr[column];
      };
      for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t products = std::min(entries(j), entries(G.middle.col[k]));
        const interval<double> sum = sums[static_cast<std::size_t>(G.middle.col[k])].enclosure(products, 0);
        G.middle.val[k] = mid(sum);
        G.radius[static_cast<std::size_t>(k)] = rad(sum);
      }
    }
  }
  stop.check();
  return G;
}

// At least ||S D S||_2 for every symmetric D within the radii: their largest row sum.
double largest_row_sum(const enclosed_gram& G, const std::vector<int>& S) {
  double most = 0;
  for (std::int64_t j = 0; j < G.middle.rows; ++j) {
    double sum = 0;
    for (std::int64_t k = G.middle.row_ptr[j]; k < G.middle.row_ptr[j + 1]; ++k) {
      const int exponent = S[static_cast<std::size_t>(j)] + S[static_cast<std::size_t>(G.middle.col[k])];
      sum = add_up(sum, times_power_up(G.radius[static_cast<std::size_t>(k)], exponent));
    }
    if (!(sum <= most)) most = sum;  // NaN, too
  }
  return most;
}

// At least ||B C S||_F: the root of the trace of S C B^T B C S.
double frobenius_norm(const enclosed_gram& G, const std::vector<int>& S) {
  double sum = 0;
  for (std::int64_t j = 0; j < G.middle.rows; ++j)
    for (std::int64_t k = G.middle.row_ptr[j]; k < G.middle.row_ptr[j + 1]; ++k)
      if (G.middle.col[k] == j)
        sum = add_up(sum, times_power_up(add_up(G.middle.val[k], G.radius[static_cast<std::size_t>(k)]),
                                         2 * S[static_cast<std::size_t>(j)]));
  return sqrt_up(sum);
}

}  // namespace

std::unique_ptr<normal_equations> normal_equations::prove(const device& cpu, csr_view<const double> B,
                                                          const std::vector<int>& exponents,
                                                          const matrix_fingerprint& K,
                                                          const uncertainty& within, std::string& reason) {
  const ieee_environment here;
  csr<double> scaled = copy(cpu, cpu, B);
  if (!scale_exactly(scaled, std::vector<int>(static_cast<std::size_t>(B.rows), 0), exponents)) {
    reason = "the entries of a column are too far apart to be scaled exactly";
    return nullptr;
  }
  std::unique_ptr<normal_equations> proof(new normal_equations(cpu, std::move(scaled), exponents, K, within));
  if (B.cols > 0 && !proof->prove_gram(reason)) return nullptr;
  return proof;
}

// ||D||_2 <= e for what the exact matrix is away from the middle takes e off the smallest eigenvalue, and a B within a
// radius p takes p ||B C S||_F off the smallest singular value.
bool normal_equations::prove_gram(std::string& reason) {
  if (count_products(B_) > most_products) {
    reason = "the matrix of the normal equations would take too long";
    return false;
  }
  if (!has_memory_for_gram(device_, B_)) {
    reason = "the matrix of the normal equations needs more memory than there is";
    return false;
  }
  const enclosed_gram G = enclose_gram(device_, B_);
  gram_ = positive_definite::prove(device_, G.middle, {}, reason);
  if (!gram_) {
    reason = "of the matrix of the normal equations: " + reason;
    return false;
  }
  const std::vector<int> S = gram_->exponents();
  double lambda = sub_down(gram_->eigenvalue_bound(), largest_row_sum(G, S));
  if (lambda > 0 && within_.matrix > 0) {
    const double sigma = sub_down(sqrt_down(lambda), mul_up(within_.matrix, frobenius_norm(G, S)));
    lambda = sigma > 0 ? mul_down(sigma, sigma) : 0;
  }
  if (!(lambda > 0)) {
    reason = "the normal equations are too ill-conditioned";
    return false;
  }
  loosened_ = div_up(gram_->eigenvalue_bound(), lambda);
  int most = exponents_.front() + S.front();
  for (std::size_t j = 0; j < S.size(); ++j) most = std::max(most, exponents_[j] + S[j]);
  inverse_norm_ = std::max(1.0, std::ldexp(1 / lambda, 2 * most));
  return true;
}

// For (f, g) there is B^T B e = B^T f - g and d = f - B e.
void normal_equations::bound(view<const interval<double>> r, view<double> radius) {
  const ieee_environment here;
  require_lengths("bound", r.size(), radius.size());
  const std::int64_t m = B_.rows, n = B_.cols;
  const double p = within_.matrix;
  const auto entry = [&](std::int64_t k) {
    const interval<double> a(B_.val[k]);
    return p > 0 ? a * interval<double>::unchecked(sub_down(1.0, p), add_up(1.0, p)) : a;
  };
  array<interval<double>> h(device_, n);
  for (std::int64_t j = 0; j < n; ++j) h[j] = -times_power(r[m + j], exponents_[static_cast<std::size_t>(j)]);
  bool bounded = true;
  for (std::int64_t i = 0; i < m + n; ++i)
    bounded = bounded && std::isfinite(r[i].lo()) && std::isfinite(r[i].hi());
  if (!bounded) {
    std::fill(radius.data(), radius.data() + m + n, std::numeric_limits<double>::infinity());
    return;
  }
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t k = B_.row_ptr[i]; k < B_.row_ptr[i + 1]; ++k)
      h[B_.col[k]] = h[B_.col[k]] + entry(k) * r[i];
  array<double> e(device_, n);
  if (gram_) gram_->bound(h.all(), e);
  for (double& size : e) size = mul_up(size, loosened_);
  for (std::int64_t i = 0; i < m; ++i) {
    double sum = mag(r[i]);
    for (std::int64_t k = B_.row_ptr[i]; k < B_.row_ptr[i + 1]; ++k)
      sum = add_up(sum, mul_up(mag(entry(k)), e[B_.col[k]]));
    radius[i] = sum;
  }
  for (std::int64_t j = 0; j < n; ++j)
    radius[m + j] = times_power_up(e[j], exponents_[static_cast<std::size_t>(j)]);
}

bool normal_equations::correct(view<const double> s, view<double> d) {
  const ieee_environment here;
  require_lengths("correct", s.size(), d.size());
  const std::int64_t m = B_.rows, n = B_.cols;
  array<double> h(device_, n), e = array<double>::zeros(device_, n);
  for (std::int64_t j = 0; j < n; ++j) h[j] = -std::ldexp(s[m + j], exponents_[static_cast<std::size_t>(j)]);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t k = B_.row_ptr[i]; k < B_.row_ptr[i + 1]; ++k) h[B_.col[k]] += B_.val[k] * s[i];
  if (gram_) gram_->correct(h, e);
  for (std::int64_t i = 0; i < m; ++i) {
    d[i] = s[i];
    for (std::int64_t k = B_.row_ptr[i]; k < B_.row_ptr[i + 1]; ++k) d[i] -= B_.val[k] * e[B_.col[k]];
  }
  for (std::int64_t j = 0; j < n; ++j) d[m + j] = std::ldexp(e[j], exponents_[static_cast<std::size_t>(j)]);
  return true;
}

}  // namespace vouch::detail
