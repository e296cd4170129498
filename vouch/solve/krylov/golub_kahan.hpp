// vouch/solve/krylov/golub_kahan.hpp -- the bidiagonalisation that LSQR and LSMR are made of, and what each makes of it;
// private.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/scalar_vectors.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/plan_operator.hpp>
#include <vouch/sparse/spmv_plan.hpp>
#include <vouch/sparse/transpose.hpp>

namespace vouch {

/// What an iteration of the bidiagonalisation gives: B v = beta u + ..., B' u = alpha v + ..., where alpha and beta are
/// what the vectors kept are to be divided by.
struct bidiagonal_step {
  double alpha = 0, beta = 0;
  static double inverse(double size) { return size > 0 ? 1 / size : 1; }
};

/// The norms that a method knows of its iterate y: of r - B y and of B'(r - B y).
struct least_squares_norms {
  double residual = 0, gradient = 0;
};

/// One over the norms of the columns of A, whose transpose is given; 1 where that is no number.
template <real T>
array<T> inverse_column_norms(const device& dev, csr_view<const T> transposed) {
  const device cpu = device::cpu(1);
  std::vector<std::int64_t> row_ptr(static_cast<std::size_t>(transposed.rows) + 1);
  std::vector<T> val(static_cast<std::size_t>(transposed.nonzeros));
  copy_bytes(row_ptr.data(), cpu, transposed.row_ptr, dev, row_ptr.size() * sizeof(std::int64_t));
  copy_bytes(val.data(), cpu, transposed.val, dev, val.size() * sizeof(T));
  std::vector<T> inverse(static_cast<std::size_t>(transposed.rows), T{1});
  for (std::size_t j = 0; j < inverse.size(); ++j) {
    double norm = 0;
    for (std::int64_t k = row_ptr[j]; k < row_ptr[j + 1]; ++k)
      norm = std::hypot(norm, static_cast<double>(val[static_cast<std::size_t>(k)]));
    const T one_over = static_cast<T>(1 / norm);
    if (std::isnormal(one_over)) inverse[j] = one_over;
  }
  return array<T>::from(dev, inverse);
}

template <real T>
class lsqr_iterate {
 public:
  lsqr_iterate(const device& dev, std::int64_t n) : w_(dev, n), over_(dev, n) {}
  static constexpr const char* name = "lsqr";
  static constexpr const char* title = "LSQR";

  void begin(view<const T> v, bidiagonal_step first) {
    recipe taken;
    over_.make(taken.make(w_).add(first.inverse(first.alpha), v));
    phi_ = first.beta;
    rho_ = first.alpha;
  }
  least_squares_norms advance(view<const T> v, bidiagonal_step next, view<T> y) {
    const double rho = std::hypot(rho_, next.beta);
    const double c = rho_ / rho, s = next.beta / rho;
    recipe moved;
    moved.make(y).add(1, y).add(c * phi_ / rho, w_);
    moved.make(w_).add(next.inverse(next.alpha), v).add(-s * next.alpha / rho, w_);
    over_.make(moved);
    rho_ = -c * next.alpha;
    phi_ *= s;
    return {phi_, phi_ * next.alpha * std::fabs(c)};
  }

 private:
  using recipe = vector_recipe<T, double>;

  array<T> w_;
  scalar_vectors<T, double> over_;
  double phi_ = 0, rho_ = 0;
};

template <real T>
class lsmr_iterate {
 public:
  lsmr_iterate(const device& dev, std::int64_t n)
      : h_(dev, n), averaged_(array<T>::zeros(dev, n)), over_(dev, n) {}
  static constexpr const char* name = "lsmr";
  static constexpr const char* title = "LSMR";

  void begin(view<const T> v, bidiagonal_step first) {
    recipe taken;
    over_.make(taken.make(h_).add(first.inverse(first.alpha), v).make(averaged_));
    k_ = {};
    k_.alpha = first.alpha;
    k_.zeta_next = first.alpha * first.beta;
    k_.left = first.beta;
  }
  // The letters of the article; the last part follows the residual's norm through a second chain of rotations.
  least_squares_norms advance(view<const T> v, bidiagonal_step next, view<T> y) {
    const scalars old = k_;
    k_.rho = std::hypot(old.alpha, next.beta);
    const double c = old.alpha / k_.rho, s = next.beta / k_.rho;
    const double theta = s * next.alpha;
    k_.alpha = c * next.alpha;

    const double theta_bar = old.s_bar * k_.rho, along = old.c_bar * k_.rho;
    k_.rho_bar = std::hypot(along, theta);
    k_.c_bar = along / k_.rho_bar;
    k_.s_bar = theta / k_.rho_bar;
    k_.zeta = k_.c_bar * old.zeta_next;
    k_.zeta_next = -k_.s_bar * old.zeta_next;

    const double length = k_.zeta / (k_.rho * k_.rho_bar);
    const double turned = -theta_bar * k_.rho / (old.rho * old.rho_bar);
    recipe moved;
    moved.make(y).add(1, y).add(length, h_).add(length * turned, averaged_);
    moved.make(averaged_).add(1, h_).add(turned, averaged_);
    moved.make(h_).add(next.inverse(next.alpha), v).add(-theta / k_.rho, h_);
    over_.make(moved);

    const double rho_tilde = std::hypot(old.rho_dot, theta_bar);
    const double c_tilde = old.rho_dot / rho_tilde, s_tilde = theta_bar / rho_tilde;
    k_.left = -s * old.left;
    k_.beta_dot = -s_tilde * old.beta_dot + c_tilde * c * old.left;
    k_.theta_tilde = s_tilde * k_.rho_bar;
    k_.rho_dot = c_tilde * k_.rho_bar;
    k_.tau = (old.zeta - old.theta_tilde * old.tau) / rho_tilde;
    const double tau_dot = (k_.zeta - k_.theta_tilde * k_.tau) / k_.rho_dot;
    return {std::hypot(k_.beta_dot - tau_dot, k_.left), std::fabs(k_.zeta_next)};
  }

 private:
  struct scalars {
    double alpha = 0, rho = 1, rho_bar = 1, c_bar = 1, s_bar = 0, zeta = 0, zeta_next = 0;
    double left = 0, beta_dot = 0, rho_dot = 1, theta_tilde = 0, tau = 0;
  };

  using recipe = vector_recipe<T, double>;

  array<T> h_, averaged_;
  scalar_vectors<T, double> over_;
  scalars k_;
};

/// Makes r - A d, of m elements, least for d of n. Ends as the rule says, or with the gradient of a least-squares solution:
/// ||B'(r - A d)|| <= gradient_goal ||r - A d||, where B is A with columns scaled to norm 1. What r holds afterwards is of
/// no use. Vectors of the columns' side are kept times the scale, so that d is one of them.
template <real T, class Iterate>
class golub_kahan_engine final : public inner_solver<T> {
 public:
  /// A' by rows outlives the engine.
  golub_kahan_engine(const device& dev, const linear_operator<T>& A, csr_view<const T> transposed,
                     double gradient_goal)
      : dev_(dev),
        A_(A),
        plan_(spmv_plan<T>::make(dev, transposed)),
        by_transposed_(plan_),
        m_(transposed.cols),
        n_(transposed.rows),
        gradient_goal_(std::max<double>(gradient_goal, 8 * std::numeric_limits<T>::epsilon())),
        scale_(inverse_column_norms<T>(dev, transposed)),
        u_(dev, m_),
        v_(dev, n_),
        iterate_(dev, n_),
        of_rows_(dev, m_),
        of_columns_(dev, n_) {}

  std::string name() const override { return "A and its transpose, columns scaled"; }

  inner_outcome run(T* r_data, T* d_data, const stopping_rule& rule, iteration_log& log) override {
    const view<T> r(r_data, m_), d(d_data, n_);
    zero_bytes(dev_, d_data, static_cast<std::size_t>(n_) * sizeof(T));
    // The residual need not fall by much on the way to a least-squares solution.
    constexpr std::int64_t patient = 2000;
    krylov_run iterations(rule, log, std::max(n_, patient), nrm2<T>(dev_, r), static_cast<const T*>(nullptr));
    bidiagonal_step step{};
    if (iterations.goes_on()) {
      copy<T, T>(dev_, r, u_);
      step.beta = iterations.norm();
      zero_bytes(dev_, v_.data(), static_cast<std::size_t>(n_) * sizeof(T));
      step.alpha = next_v(step, 0);
      if (!(step.alpha > gradient_goal_)) iterations.end(event_of(step.alpha));
      iterate_.begin(v_, step);
    }
    while (iterations.goes_on()) {
      step.beta = next_u(step);
      step.alpha = next_v(step, step.beta);
      const least_squares_norms norms = iterate_.advance(v_, step, d);
      iterations.step(norms.residual);
      iterations.halved();
      if (iterations.goes_on() && !(norms.gradient > gradient_goal_ * norms.residual))
        iterations.end(event_of(norms.gradient));
    }
    return iterations.outcome();
  }

 private:
  static solver_event event_of(double gradient) {
    return std::isfinite(gradient) ? solver_event::running : solver_event::diverged;
  }
  // beta u := B v - alpha u; beta
  double next_u(const bidiagonal_step& last) {
    return std::sqrt(of_rows_
                         .apply(A_, {.x = v_.data(),
                                     .y = u_.data(),
                                     .a = static_cast<T>(last.inverse(last.alpha)),
                                     .b = static_cast<T>(-last.alpha * last.inverse(last.beta)),
                                     .w = u_.data()})
                         .yy);
  }
  // alpha v := B' u - along v, with the new beta in `last`; alpha
  double next_v(const bidiagonal_step& last, double along) {
    return std::sqrt(of_columns_
                         .apply(by_transposed_, {.x = u_.data(),
                                                 .y = v_.data(),
                                                 .a = static_cast<T>(last.inverse(last.beta)),
                                                 .diagonal = scale_.data(),
                                                 .b = static_cast<T>(-along * last.inverse(last.alpha)),
                                                 .w = v_.data()})
                         .yy);
  }

  device dev_;
  const linear_operator<T>& A_;
  spmv_plan<T> plan_;  // of A'
  plan_operator<T> by_transposed_;
  std::int64_t m_, n_;
  double gradient_goal_;
  array<T> scale_;
  array<T> u_, v_;  // times the last beta and alpha
  Iterate iterate_;
  scalar_vectors<T, double> of_rows_, of_columns_;
};

}  // namespace vouch
