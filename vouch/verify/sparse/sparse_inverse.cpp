#include <vouch/verify/sparse/sparse_inverse.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/verify/outward.hpp>
#include <vouch/verify/sparse/inverse_columns.hpp>

namespace vouch {
namespace {

struct inverse_facts {
  double residual = 0;          // at least ||I - D A Y||_1, or NaN
  std::vector<double> largest;  // of |Y|, in each row
  double norm = 0;              // about ||A^-1||_1
};

// Goes through all columns; the result does not depend on who takes which.
inverse_facts look_at_inverse(const device& cpu, csr_view<const double> A, const lu_factors<double>& factors,
                              const uncertainty& within, const detail::powers_of_two& scaled_by) {
  inverse_facts all;
  all.largest.assign(static_cast<std::size_t>(A.rows), 0.0);
  const cancellation_probe stop;
#pragma omp parallel firstprivate(ieee) num_threads(cpu.threads())
  {
    detail::inverse_columns columns(A, factors, within, scaled_by);
    inverse_facts own;
    own.largest.assign(all.largest.size(), 0.0);
#pragma omp for schedule(dynamic)
    for (std::int64_t first = 0; first < A.rows; first += detail::inverse_columns::at_once) {
      if (!(own.residual < 1) || stop.requested()) continue;
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
  stop.check();
  return all;
}

bool scales_are_moderate(const std::vector<double>& scale) {
  return std::all_of(scale.begin(), scale.end(), [](double s) { return s > 0x1p-500 && s < 0x1p500; });
}

}  // namespace

std::unique_ptr<sparse_inverse> sparse_inverse::prove(const device& dev, csr_view<const double> A,
                                                      const sparse_inverse_options& options,
                                                      std::string& reason) {
  const ieee_environment here;
  detail::require_radii("sparse_inverse", options.within);
  const valid_csr valid("sparse_inverse", dev, A);
  if (A.rows != A.cols) throw shape_error("sparse_inverse: the matrix is not square");
  const device cpu = dev.is_cuda() ? device::cpu() : dev;
  std::unique_ptr<sparse_inverse> proof(new sparse_inverse(dev, A, options.within));
  csr<double> local = copy(cpu, dev, A);
  proof->scale_ = detail::equilibrating(local);
  if (!detail::scale_exactly(local, proof->scale_.rows, proof->scale_.columns)) {  // then as it is
    local = copy(cpu, dev, A);
    proof->scale_.rows.assign(proof->scale_.rows.size(), 0);
    proof->scale_.columns.assign(proof->scale_.columns.size(), 0);
  }
  proof->factors_ = factorise<double>(cpu, local, options.most_work / std::max<std::int64_t>(A.rows, 1));
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
  inverse_facts facts = look_at_inverse(cpu, local.all(), proof->factors_, options.within, proof->scale_);
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
  const ieee_environment here;
  require_lengths("bound", r.size(), radius.size());
  const device cpu = device::cpu(1);
  std::vector<interval<double>> s(largest_.size());
  copy_bytes(s.data(), cpu, r.data(), device_, s.size() * sizeof s[0]);
  double sum = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double size = std::max(std::fabs(s[i].lo()), std::fabs(s[i].hi()));
    sum = add_up(sum, mul_up(factors_.scale[i], detail::times_power_up(size, scale_.rows[i])));
  }
  const double factor = div_up(sum, gap_);
  std::vector<double> result(largest_.size());
  for (std::size_t i = 0; i < s.size(); ++i)
    result[i] = detail::times_power_up(mul_up(factor, largest_[i]), scale_.columns[i]);
  copy_bytes(radius.data(), device_, result.data(), cpu, result.size() * sizeof result[0]);
}

bool sparse_inverse::correct(view<const double> s, view<double> d) {
  const ieee_environment here;
  require_lengths("correct", s.size(), d.size());
  const device cpu = device::cpu(1);
  std::vector<double> x(largest_.size());
  copy_bytes(x.data(), cpu, s.data(), device_, x.size() * sizeof x[0]);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], scale_.rows[i]);
  factors_.solve(x.data());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], scale_.columns[i]);
  copy_bytes(d.data(), device_, x.data(), cpu, x.size() * sizeof x[0]);
  return true;
}

}  // namespace vouch
