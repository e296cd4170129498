#include <vouch/verify/full_rank.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/require.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/verify/dense/dense_inverse.hpp>
#include <vouch/verify/enclosed_residual.hpp>
#include <vouch/verify/sparse/augmented.hpp>
#include <vouch/verify/sparse/normal_equations.hpp>
#include <vouch/verify/sparse/powers_of_two.hpp>
#include <vouch/verify/sparse/sparse_inverse.hpp>

namespace vouch {
namespace {

using namespace detail;

// What is proved of D K D for a diagonal D of powers of two, said of K: K^-1 = D (D K D)^-1 D.
class scaled_proof final : public certificate {
 public:
  scaled_proof(const device& cpu, std::unique_ptr<certificate> proof, std::vector<int> exponents,
               const matrix_fingerprint& K, const uncertainty& within)
      : certificate(K, within), device_(cpu), proof_(std::move(proof)), exponents_(std::move(exponents)) {}

  std::string method() const override { return "augmented matrix, " + proof_->method(); }
  void bound(view<const interval<double>> r, view<double> radius) override {
    const ieee_environment here;
    require_lengths("bound", r.size(), radius.size());
    array<interval<double>> scaled(device_, r.size());
    for (std::int64_t i = 0; i < r.size(); ++i) scaled[i] = times_power(r[i], exponent(i));
    proof_->bound(scaled.all(), radius);
    for (std::int64_t i = 0; i < r.size(); ++i) radius[i] = times_power_up(radius[i], exponent(i));
  }
  bool correct(view<const double> s, view<double> d) override {
    const ieee_environment here;
    require_lengths("correct", s.size(), d.size());
    array<double> scaled(device_, s.size());
    for (std::int64_t i = 0; i < s.size(); ++i) scaled[i] = std::ldexp(s[i], exponent(i));
    if (!proof_->correct(scaled, d)) return false;
    for (std::int64_t i = 0; i < s.size(); ++i) d[i] = std::ldexp(d[i], exponent(i));
    return true;
  }
  bool corrects_cheaply() const override { return true; }
  double inverse_norm() const override {
    return std::ldexp(proof_->inverse_norm(), 2 * *std::max_element(exponents_.begin(), exponents_.end()));
  }

 private:
  int exponent(std::int64_t i) const { return exponents_[static_cast<std::size_t>(i)]; }

  device device_;
  std::unique_ptr<certificate> proof_;
  std::vector<int> exponents_;
};

// The exponents of the powers of two that bring the largest magnitude of each column into [1, 2); nothing in place of
// a column of zeros.
struct column_scales {
  std::vector<int> exponents;
  std::int64_t zero_column = -1;
};
column_scales scales_of(csr_view<const double> B) {
  std::vector<double> most(static_cast<std::size_t>(B.cols), 0.0);
  for (std::int64_t k = 0; k < B.nonzeros; ++k) {
    double& largest = most[static_cast<std::size_t>(B.col[k])];
    largest = std::max(largest, std::fabs(B.val[k]));
  }
  column_scales scales;
  for (std::size_t j = 0; j < most.size(); ++j) {
    if (most[j] == 0 && scales.zero_column < 0) scales.zero_column = static_cast<std::int64_t>(j);
    scales.exponents.push_back(most[j] == 0 ? 0 : -std::ilogb(most[j]));
  }
  return scales;
}

// Columns are made larger than I by this power of two: the best is one over the smallest singular value, and then the
// condition number of D K D is about that of B. Fewer serve matrices that the normal equations are too much for.
constexpr int sparse_powers[] = {24, 36}, dense_power = 30;

// Proofs of D K D where D is I and, for the columns of B, their scales times a power of two.
class augmented_proofs {
 public:
  augmented_proofs(const device& cpu, const csr<double>& K, std::vector<int> columns, const uncertainty& within)
      : device_(cpu), K_(K), columns_(std::move(columns)), within_(within) {}

  template <class Prove>
  std::unique_ptr<certificate> scaled_by(int power, std::string& reason, const Prove& prove) const {
    std::vector<int> D(static_cast<std::size_t>(K_.rows) - columns_.size(), 0);
    for (const int exponent : columns_) D.push_back(exponent + power);
    csr<double> scaled = copy(device_, device_, K_.all());
    std::string why;
    std::unique_ptr<certificate> proof;
    if (scale_exactly(scaled, D, D))
      proof = prove(scaled, why);
    else
      why = "the entries are too far apart to be scaled exactly";
    if (proof != nullptr)
      return std::make_unique<scaled_proof>(device_, std::move(proof), std::move(D),
                                            fingerprint_of(device_, K_), within_);
    reason += "; of the augmented matrix: " + why;
    return nullptr;
  }

  std::unique_ptr<certificate> prove(std::string& reason) const {
    for (const int power : sparse_powers) {
      if (!sparse_inverse::is_for(K_.all())) break;
      const auto by_columns = [&](const csr<double>& scaled, std::string& why) {
        return sparse_inverse::prove(device_, scaled, {within_}, why);
      };
      if (auto proof = scaled_by(power, reason, by_columns)) return proof;
    }
    return scaled_by(dense_power, reason, [&](const csr<double>& scaled, std::string& why) {
      return dense_inverse::prove(device_, scaled, within_, why);
    });
  }

 private:
  const device& device_;
  const csr<double>& K_;
  std::vector<int> columns_;
  const uncertainty& within_;
};

void require_cpu(const device& dev) {
  if (dev.is_cuda()) throw value_error("least squares are proved on the CPU", "copy the matrix there");
}

// z := z in the components of x, and in the others what belongs to them, about.
void complete(const device& cpu, const csr<double>& K, certificate& proof, const array<double>& rhs,
              const component_range& about, array<double>& z) {
  array<interval<double>> r(cpu, z.size());
  array<double> middle(cpu, z.size()), d = array<double>::zeros(cpu, z.size());
  vouch::enclosed_residual(cpu, K.all(), rhs, z, nullptr, r.all());
  for (std::int64_t i = 0; i < z.size(); ++i) middle[i] = mid(r[i]);
  proof.correct(middle, d);
  for (std::int64_t i = 0; i < z.size(); ++i)
    if ((i < about.first || i >= about.first + about.count) && std::isfinite(d[i])) z[i] = d[i];
}

// The radii of K that belong to those of A.
data_radii augmented_radii(const device& cpu, const data_radii& radii, csr_view<const double> A) {
  if (radii.matrix.rows != A.rows || radii.matrix.cols != A.cols || radii.rhs.size() != A.rows)
    throw shape_error("bound_error: the radii are not those of this system");
  const valid_csr valid("bound_error", cpu, radii.matrix);
  const bool wide = A.cols > A.rows;
  const csr<double> transposed = wide ? transpose<double>(cpu, radii.matrix) : csr<double>{};
  data_radii all;
  all.matrix = augmented(cpu, wide ? transposed.all() : radii.matrix.all(), 0);
  all.rhs = array<double>::zeros(cpu, A.rows + A.cols);
  std::copy(radii.rhs.begin(), radii.rhs.end(), all.rhs.begin() + (wide ? A.cols : 0));
  return all;
}

}  // namespace

std::unique_ptr<full_rank> full_rank::prove(const device& cpu, csr_view<const double> A,
                                            const uncertainty& within, std::string& reason) {
  const ieee_environment here;
  require_cpu(cpu);
  detail::require_radii("full_rank", within);
  const valid_csr valid("full_rank", cpu, A);
  const bool wide = A.cols > A.rows;
  const std::string side = wide ? "row" : "column";
  if (!std::all_of(A.val, A.val + A.nonzeros, [](double value) { return std::isfinite(value); })) {
    reason = "the matrix holds a NaN or an infinity";
    return nullptr;
  }
  if (A.rows > std::numeric_limits<std::int32_t>::max() - A.cols) {
    reason = "the matrix has too many rows and columns";
    return nullptr;
  }
  const csr<double> transposed = wide ? transpose<double>(cpu, A) : csr<double>{};
  const csr_view<const double> B = wide ? transposed.all() : A;
  column_scales scales = scales_of(B);
  if (scales.zero_column >= 0) {
    reason = side + " " + std::to_string(scales.zero_column + 1) + " is zero: the matrix has not full " + side +
             " rank";
    return nullptr;
  }
  std::unique_ptr<full_rank> proof(new full_rank);
  proof->matrix_ = fingerprint_of(cpu, A);
  proof->augmented_ = augmented(cpu, B, 1);
  std::string why;
  proof->proof_ =
      normal_equations::prove(cpu, B, scales.exponents, fingerprint_of(cpu, proof->augmented_), within, why);
  if (proof->proof_ == nullptr)
    proof->proof_ = augmented_proofs(cpu, proof->augmented_, scales.exponents, within).prove(why);
  if (proof->proof_ == nullptr) {
    reason = "the matrix has not full " + side + " rank, or is too near to one that has not: " + why;
    return nullptr;
  }
  return proof;
}

error_bound bound_error(const device& cpu, csr_view<const double> A, full_rank& proof, view<const double> b,
                        view<double> x, const bound_options& options, const data_radii* radii) {
  const ieee_environment here;
  require_cpu(cpu);
  detail::require_radii("bound_error", options.within);
  require_contiguous("bound_error", "b", b, A.rows);
  require_contiguous("bound_error", "x", x, A.cols);
  if (fingerprint_of(cpu, A) != proof.matrix_)
    throw value_error("bound_error: the proof is for another matrix", "prove this one to have full rank");
  const csr<double>& K = proof.augmented_;
  const bool wide = A.cols > A.rows;
  const std::int64_t at_b = wide ? A.cols : 0, at_x = wide ? 0 : A.rows;
  const component_range about{at_x, A.cols};
  array<double> rhs = array<double>::zeros(cpu, K.rows), z = array<double>::zeros(cpu, K.rows);
  std::copy(b.data(), b.data() + b.size(), rhs.begin() + at_b);
  std::copy(x.data(), x.data() + x.size(), z.begin() + at_x);
  complete(cpu, K, *proof.proof_, rhs, about, z);
  bound_options of_all = options;
  of_all.about = about;
  error_bound bound = bound_error(cpu, K.all(), *proof.proof_, rhs, z, of_all);
  if (radii != nullptr)
    widen_to_data(cpu, *proof.proof_, augmented_radii(cpu, *radii, A), z, options.relative, bound);
  std::copy(z.begin() + at_x, z.begin() + at_x + A.cols, x.data());
  array<double> radius(cpu, A.cols);
  std::copy(bound.radius.begin() + at_x, bound.radius.begin() + at_x + A.cols, radius.begin());
  bound.radius = std::move(radius);
  bound.condition_estimate = std::numeric_limits<double>::infinity();  // that was of the augmented matrix
  bound.matrix = proof.matrix_;
  bound.about = {};
  return bound;
}

}  // namespace vouch
