#include <vouch/verify/sparse_inverse.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/verify/inverse_columns.hpp>
#include <vouch/verify/outward.hpp>

namespace vouch {
namespace {

struct inverse_facts {
  double residual = 0;          // at least ||I - D A Y||_1, or NaN
  std::vector<double> largest;  // of |Y|, in each row
  double norm = 0;              // about ||A^-1||_1
};

// Goes through all columns; the result does not depend on who takes which.
inverse_facts look_at_inverse(const device& cpu, csr_view<const double> A, const lu_factors<double>& factors,
                              const uncertainty& within) {
  inverse_facts all;
  all.largest.assign(static_cast<std::size_t>(A.rows), 0.0);
#pragma omp parallel num_threads(cpu.threads())
  {
    detail::inverse_columns columns(A, factors, within);
    inverse_facts own;
    own.largest.assign(all.largest.size(), 0.0);
#pragma omp for schedule(dynamic)
    for (std::int64_t first = 0; first < A.rows; first += detail::inverse_columns::at_once) {
      if (!(own.residual < 1)) continue;
      columns.solve(first);
      own.residual = detail::outward::larger_or_nan(own.residual, columns.largest_residual());
      own.norm = std::max(own.norm, columns.collect(own.largest));
    }
#pragma omp critical
    {
      all.residual = detail::outward::larger_or_nan(all.residual, own.residual);
      all.norm = std::max(all.norm, own.norm);
      for (std::size_t i = 0; i < all.largest.size(); ++i)
        all.largest[i] = std::max(all.largest[i], own.largest[i]);
    }
  }
  return all;
}

bool scales_are_moderate(const std::vector<double>& scale) {
  return std::all_of(scale.begin(), scale.end(), [](double s) { return s > 0x1p-500 && s < 0x1p500; });
}

}  // namespace

std::unique_ptr<sparse_inverse> sparse_inverse::prove(const device& dev, csr_view<const double> A,
                                                      const sparse_inverse_options& options,
                                                      std::string& reason) {
  if (A.rows != A.cols) throw shape_error("sparse_inverse: the matrix is not square");
  const device cpu = dev.is_cuda() ? device::cpu() : dev;
  std::unique_ptr<sparse_inverse> proof(new sparse_inverse(dev));
  const csr<double> here = copy(cpu, dev, A);
  proof->factors_ = factorise<double>(cpu, here, options.most_work / std::max<std::int64_t>(A.rows, 1));
  if (proof->factors_.too_large) {
    reason = "going through all columns of the inverse would take too long";
    return nullptr;
  }
  if (proof->factors_.failed > 0) {
    reason = "elimination met a pivot of zero: the matrix is singular, or nearly so";
    return nullptr;
  }
  if (!scales_are_moderate(proof->factors_.scale)) {
    reason = "the rows are too far apart in size to be scaled exactly";
    return nullptr;
  }
  inverse_facts facts = look_at_inverse(cpu, here.all(), proof->factors_, options.within);
  proof->gap_ = sub_down(1.0, facts.residual);
  if (!(proof->gap_ > 0)) {
    reason =
        "the matrix is singular or too ill-conditioned: what its factors give for the columns of an inverse "
        "does "
        "not invert it";
    return nullptr;
  }
  proof->largest_ = std::move(facts.largest);
  proof->inverse_norm_ = facts.norm;
  return proof;
}

void sparse_inverse::bound(view<const interval<double>> r, view<double> radius) {
  const device cpu = device::cpu(1);
  std::vector<interval<double>> s(largest_.size());
  copy_bytes(s.data(), cpu, r.data(), device_, s.size() * sizeof s[0]);
  double sum = 0;
  for (std::size_t i = 0; i < s.size(); ++i)
    sum = add_up(sum, mul_up(factors_.scale[i], std::max(std::fabs(s[i].lo()), std::fabs(s[i].hi()))));
  const double factor = div_up(sum, gap_);
  std::vector<double> result(largest_.size());
  for (std::size_t i = 0; i < s.size(); ++i) result[i] = mul_up(factor, largest_[i]);
  copy_bytes(radius.data(), device_, result.data(), cpu, result.size() * sizeof result[0]);
}

bool sparse_inverse::correct(view<const double> s, view<double> d) {
  const device cpu = device::cpu(1);
  std::vector<double> x(largest_.size());
  copy_bytes(x.data(), cpu, s.data(), device_, x.size() * sizeof x[0]);
  factors_.solve(x.data());
  copy_bytes(d.data(), device_, x.data(), cpu, x.size() * sizeof x[0]);
  return true;
}

}  // namespace vouch
