#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/cocg.hpp>
#include <vouch/solve/krylov/complex_vectors.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

template <real T>
class cocg_engine final : public inner_solver<T> {
 public:
  cocg_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M)
      : dev_(dev),
        A_(A),
        M_(M),
        n_(A.rows()),
        p_(dev, n_),
        q_(dev, n_),
        z_(dev, M == nullptr ? 0 : n_),
        best_(dev, n_) {}

  std::string name() const override { return "complex numbers"; }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    zero_bytes(dev_, d, static_cast<std::size_t>(n_) * sizeof(T));
    complex_product of_r = precondition(r);
    const double start = std::sqrt(of_r.first);
    krylov_run iterations(rule, log, n_, start, d);
    best_.begin(iterations);
    if (iterations.goes_on()) copy<T, T>(dev_, z(r), p_);
    while (iterations.goes_on()) {
      A_.apply(dev_, p_, q_);
      const complex_product of_p = multiply_complex<T>(dev_, p_.data(), q_.data(), n_);
      if (vanishes(of_r) || vanishes(of_p)) {
        iterations.end(iterations.norm() <= 0.5 * start ? solver_event::running : solver_event::breakdown);
        break;
      }
      move_along<T>(dev_, of_r.product / of_p.product, p_.data(), q_.data(), d, r, n_);
      const std::complex<double> before = of_r.product;
      of_r = precondition(r);
      iterations.step(std::sqrt(of_r.first));
      best_.offer(iterations, {d, n_});
      if (iterations.goes_on()) turn_direction<T>(dev_, z(r).data(), of_r.product / before, p_.data(), n_);
    }
    best_.choose(iterations, {d, n_});
    return iterations.outcome();
  }

 private:
  // z := M r, and r^T z.
  complex_product precondition(const T* r) {
    if (M_ != nullptr) M_->apply(dev_, {r, n_}, z_);
    return multiply_complex<T>(dev_, r, z(r).data(), n_);
  }
  view<const T> z(const T* r) const { return M_ == nullptr ? view<const T>(r, n_) : z_.all(); }
  static bool vanishes(const complex_product& of) {
    return is_rounding<T>(std::abs(of.product), std::sqrt(of.first) * std::sqrt(of.second));
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  array<T> p_, q_, z_;
  best_iterate<T> best_;
};

constexpr krylov_method method{.name = "cocg", .title = "COCG", .allowed_growth = 1e8};

template <real T>
class diagonal_numbers final : public preconditioner<T> {
 public:
  explicit diagonal_numbers(array<T> inverse) : inverse_(std::move(inverse)) {}
  void apply(const device& dev, view<const T> r, view<T> z) const override {
    this->require_lengths(r, z);
    multiply_numbers<T>(dev, inverse_.data(), r.data(), z.data(), inverse_.size());
  }
  std::string name() const override { return "jacobi"; }
  std::int64_t rows() const override { return inverse_.size(); }

 private:
  array<T> inverse_;
};

// The entry of column j in row i, or 0.
template <real T>
T entry(csr_view<const T> A, std::int64_t i, std::int64_t j) {
  const std::int32_t* const end = A.col + A.row_ptr[i + 1];
  const std::int32_t* const at = std::lower_bound(A.col + A.row_ptr[i], end, static_cast<std::int32_t>(j));
  return at == end || *at != j ? T{} : A.val[at - A.col];
}

}  // namespace

template <real T>
solve_report cocg(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                  const cocg_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const valid_csr valid(method.name, dev, A);
  if (!options.matrix_checked && A.rows == A.cols && A.nonzeros > 0) {
    const structure_facts facts = structure<T>(dev, A);
    if (!facts.complex_symmetric)
      throw value_error("COCG needs the real form of a complex symmetric matrix, and this is none");
  }
  return solve_by_krylov<T>(method, dev, A, b, x, options, M,
                            [&dev](const linear_operator<T>& action, const preconditioner<T>* by) {
                              return std::make_unique<cocg_engine<T>>(dev, action, by);
                            });
}

template <real T>
std::unique_ptr<preconditioner<T>> complex_jacobi(const device& dev, csr_view<const T> given) {
  const ieee_environment here;
  const valid_csr valid("jacobi", dev, given);
  if (given.rows != given.cols || given.rows % 2 != 0)
    throw shape_error("jacobi: the matrix is " + std::to_string(given.rows) + " by " +
                      std::to_string(given.cols) + ", not the real form of a square one");
  const device cpu = device::cpu();
  const csr<T> copied = dev.is_cuda() ? copy<T>(cpu, dev, given) : csr<T>{};
  const csr_view<const T> A = dev.is_cuda() ? copied.all() : given;
  array<T> inverse(cpu, A.rows);
  for (std::int64_t i = 0; i < A.rows; i += 2) {
    const std::complex<double> diagonal(entry(A, i, i), entry(A, i + 1, i)), one = 1.0 / diagonal;
    inverse[i] = static_cast<T>(one.real());
    inverse[i + 1] = static_cast<T>(one.imag());
    if (diagonal == 0.0 || !std::isfinite(inverse[i]) || !std::isfinite(inverse[i + 1]) ||
        (inverse[i] == 0 && inverse[i + 1] == 0))
      throw value_error(string_printf("jacobi: the diagonal entry of row %lld is %g%+gi, and has no inverse",
                                      static_cast<long long>(i / 2 + 1), diagonal.real(), diagonal.imag()),
                        "rows count from 1");
  }
  return std::make_unique<diagonal_numbers<T>>(dev.is_cuda() ? inverse.to(dev) : std::move(inverse));
}

#define VOUCH_COCG(T)                                                                               \
  template VOUCH_PUBLIC solve_report cocg(const device&, csr_view<const T>, view<const T>, view<T>, \
                                          const cocg_options&, const preconditioner<T>*);           \
  template VOUCH_PUBLIC std::unique_ptr<preconditioner<T>> complex_jacobi(const device&, csr_view<const T>);
VOUCH_COCG(float)
VOUCH_COCG(double)
#undef VOUCH_COCG

}  // namespace vouch
