#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/distributed/row_engines.hpp>
#include <vouch/solve/distributed/sweep.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/chebyshev_kernels.hpp>
#include <vouch/solve/precond/chebyshev_recurrence.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>

namespace vouch::distributed {
namespace {

class jacobi final : public preconditioner<double> {
 public:
  jacobi(std::int64_t rows, array<double> inverse) : rows_(rows), inverse_(std::move(inverse)) {}
  std::string name() const override { return "jacobi"; }
  std::int64_t rows() const override { return rows_; }
  const double* diagonal() const override { return inverse_.data(); }
  void apply(const device&, view<const double> r, view<double> z) const override {
    const ieee_environment here;
    for (std::int64_t i = 0; i < r.size(); ++i) z[i] = inverse_[i] * r[i];
  }

 private:
  std::int64_t rows_;
  array<double> inverse_;
};

class chebyshev final : public preconditioner<double> {
 public:
  chebyshev(const row_matrix& A, const device& cpu, array<double> inverse, double bound, std::int64_t degree)
      : A_(A),
        inverse_(std::move(inverse)),
        now_(array<double>::zeros(cpu, A.length())),
        previous_(array<double>::zeros(cpu, A.length())),
        product_(cpu, A.rows()),
        recurrence_(bound, degree) {}

  std::string name() const override { return recurrence_.name(); }
  std::int64_t rows() const override { return A_.rows(); }

  void apply(const device& cpu, view<const double> r, view<double> z) const override {
    const ieee_environment here;
    double *now = now_.data(), *previous = previous_.data();
    for_all_blocks(cpu, A_, [&](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i)
        now[i] = recurrence_.first_factor() * (inverse_[i] * r[i]);
    });
    const csr_view<const double> local = A_.local();
    recurrence_.for_each_step([&](double keep, double momentum, double step) {
      const three_terms<double> terms{keep, momentum, step, r.data(), product_.data(), inverse_.data(),
                                      now,  previous};
      for_blocks_with_halo(cpu, A_, now, [&](std::int64_t, std::int64_t first, std::int64_t count) {
        multiply_rows(local, now, product_.data(), first, count);
        for (std::int64_t i = first; i < first + count; ++i) terms(i);
      });
      std::swap(now, previous);
    });
    std::copy_n(now, A_.rows(), z.data());
  }

 private:
  const row_matrix& A_;
  array<double> inverse_;
  mutable array<double> now_, previous_, product_;
  chebyshev_recurrence recurrence_;
};

// What Lanczos's recurrence works on, from the start that it has for a whole matrix.
class row_lanczos {
 public:
  row_lanczos(const row_matrix& A, const row_vectors& vectors, const double* inverse)
      : A_(A),
        vectors_(vectors),
        inverse_(inverse),
        u_(array<double>::zeros(vectors.cpu(), A.length())),
        previous_(array<double>::zeros(vectors.cpu(), A.length())),
        w_(vectors.cpu(), A.rows()),
        weighted_(vectors.cpu(), A.rows()) {
    for (std::int64_t i = 0; i < A.rows(); ++i)
      u_[i] = hashed_element<double>(lanczos_stream, A.first_row() + i) * std::sqrt(inverse[i]);
  }

  double norm() {
    for (std::int64_t i = 0; i < A_.rows(); ++i) weighted_[i] = u_[i] / inverse_[i];
    return std::sqrt(vectors_.dot(u_.data(), weighted_.data()));
  }
  double product() {
    const csr_view<const double> local = A_.local();
    for_blocks_with_halo(vectors_.cpu(), A_, u_.data(),
                         [&](std::int64_t, std::int64_t first, std::int64_t count) {
                           multiply_rows(local, u_.data(), w_.data(), first, count);
                         });
    return vectors_.dot(u_.data(), w_.data());
  }
  void advance(double keep, double momentum, double step) {
    const three_terms<double> terms{keep,      momentum, step,      nullptr,
                                    w_.data(), inverse_, u_.data(), previous_.data()};
    for (std::int64_t i = 0; i < A_.rows(); ++i) terms(i);
    std::swap(u_, previous_);
  }

 private:
  const row_matrix& A_;
  const row_vectors& vectors_;
  const double* inverse_;
  array<double> u_, previous_, w_, weighted_;
};

double largest_ritz_value(const row_matrix& A, const row_vectors& vectors, const double* inverse) {
  row_lanczos state(A, vectors, inverse);
  return ritz_value_by_lanczos(state, A.all_rows());
}

double largest_row_sum(const row_matrix& A, const row_vectors& vectors, const double* inverse) {
  double most = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    const double sum = relative_row_sum(A.local(), inverse, i);
    most = std::max(most, sum);
    finite = finite && std::isfinite(sum);
  }
  return vectors.largest(finite ? most : std::nan(""));
}

}  // namespace

array<double> inverse_diagonal(const row_matrix& A, const char* who, bool any_sign) {
  const csr_view<const double> local = A.local();
  array<double> inverse = array<double>::zeros(device::cpu(1), std::max<std::int64_t>(1, A.rows()));
  struct bad_entry {
    std::int64_t row;
    double value;
  } first_bad{std::numeric_limits<std::int64_t>::max(), 0};
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    double entry = 0;
    for (std::int64_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k)
      if (local.col[k] == i) entry = local.val[k];
    inverse[i] = 1 / entry;
    if (!can_be_inverted(any_sign ? std::fabs(entry) : entry) && A.first_row() + i < first_bad.row)
      first_bad = {A.first_row() + i, entry};
  }
  for (const bad_entry& bad : gather(A.ranks(), first_bad))
    if (bad.row < A.all_rows()) {
      if (!any_sign) throw_bad_diagonal(who, bad.row, bad.value);
      throw value_error(string_printf("%s: the diagonal entry of row %lld is %g, and cannot be divided by", who,
                                      static_cast<long long>(bad.row + 1), bad.value));
    }
  return inverse;
}

std::unique_ptr<preconditioner<double>> make_row_jacobi(const row_matrix& A) {
  return std::make_unique<jacobi>(A.rows(), inverse_diagonal(A, "jacobi"));
}

std::unique_ptr<preconditioner<double>> make_row_chebyshev(const row_matrix& A, const row_vectors& vectors,
                                                           std::int64_t degree) {
  require_chebyshev_degree(degree);
  array<double> inverse = inverse_diagonal(A, "chebyshev");
  const double certain = largest_row_sum(A, vectors, inverse.data());
  if (!std::isfinite(certain))
    throw value_error("chebyshev: the matrix holds an entry that is NaN or infinite");
  const double bound = A.all_rows() == 0
                           ? certain
                           : std::min(certain, lanczos_safety * largest_ritz_value(A, vectors, inverse.data()));
  return std::make_unique<chebyshev>(A, vectors.cpu(), std::move(inverse), bound, degree);
}

}  // namespace vouch::distributed
