#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/minres.hpp>
#include <vouch/solve/krylov/scalar_vectors.hpp>
#include <vouch/solve/loop/plan_operator.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

// Without M what r holds after a run is of no use.
template <real T>
class minres_engine final : public inner_solver<T> {
 public:
  minres_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M)
      : dev_(dev),
        A_(A),
        M_(M),
        n_(A.rows()),
        before_(dev, n_),
        v_(dev, n_),
        next_(dev, n_),
        z_(dev, M == nullptr ? 0 : n_),
        earlier_(dev, n_),
        direction_(dev, n_),
        settled_(dev, n_),
        over_(dev, n_) {}

  std::string name() const override { return "general operator"; }

  inner_outcome run(T* r_data, T* d_data, const stopping_rule& rule, iteration_log& log) override {
    const view<T> r(r_data, n_), d(d_data, n_);
    for (T* const data : {d_data, before_.data(), earlier_.data(), direction_.data()})
      zero_bytes(dev_, data, static_cast<std::size_t>(n_) * sizeof(T));
    krylov_run iterations(rule, log, n_, nrm2<T>(dev_, r), d_data);
    settled_at_ = never;
    const auto state = [this](solver_state& s) { keep(s); };
    if (!iterations.resumes(state) && iterations.goes_on()) {
      copy<T, T>(dev_, r, v_);
      coefficients_ = {};
      const double size = norm_of_v();
      if (!(size > 0 && std::isfinite(size)))
        iterations.end(unfit(size));
      else
        normalise(size);
      residual_ = size;
    }
    while (iterations.goes_on_from(state)) step(r, d, iterations);
    const inner_outcome outcome = iterations.outcome();
    const bool free = outcome.event == solver_event::running ||
                      (outcome.event == solver_event::iteration_limit && rule.target_squared >= 0);
    if (free && settled_at_ < never) copy<T, T>(dev_, settled_, d);
    return outcome;
  }

  bool saves() const override { return true; }

 private:
  using recipe = vector_recipe<T, double>;

  void keep(solver_state& state) {
    for (array<T>* const v : {&before_, &v_, &z_, &earlier_, &direction_, &settled_})
      state.vector("vector of MINRES", dev_, v->data(), v->size());
    recurrence& k = coefficients_;
    double numbers[] = {k.c_before, k.c,      k.s_before, k.s,         k.beside,          k.size_before, k.size,
                        residual_,  largest_, norm_of_A_, settled_at_, settled_residual_, settled_norm_};
    state.numbers("numbers of MINRES", numbers, 13);
    k = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]};
    residual_ = numbers[7], largest_ = numbers[8], norm_of_A_ = numbers[9];
    settled_at_ = numbers[10], settled_residual_ = numbers[11], settled_norm_ = numbers[12];
  }

  // Of the last two rotations, the entry beside the diagonal of the tridiagonal matrix, and what the last two directions
  // are to be divided by.
  struct recurrence {
    double c_before = 1, c = 1, s_before = 0, s = 0, beside = 0, size_before = 1, size = 1;
  };

  // v_j and z_j = M v_j with v_j' z_j = 1 to the next ones; x and r with them.
  void step(view<T> r, view<T> d, krylov_run& iterations) {
    recurrence& k = coefficients_;
    const operator_sums<double> image = over_.apply(A_, {.x = z().data(),
                                                         .y = next_.data(),
                                                         .b = static_cast<T>(-k.beside),
                                                         .w = before_.data(),
                                                         .u = z().data(),
                                                         .v = M_ == nullptr ? z().data() : nullptr});
    if (iterations.count() == 0)
      norm_of_A_ = std::max(norm_of_A_, std::sqrt(image.yy) / static_cast<double>(nrm2<T>(dev_, z())));
    // Where rounding has left v' v beside 1, Pythagoras would have it grow from step to step.
    const double diagonal = M_ == nullptr ? image.uy / image.vv : image.uy;
    const double above = k.s * diagonal + k.c_before * k.c * k.beside, two_above = k.s_before * k.beside;
    const double rotated = k.c * diagonal - k.c_before * k.s * k.beside;
    std::swap(earlier_, direction_);  // earlier_ is w_(j-1), direction_ w_(j-2) and to be w_j
    // The direction takes the z of this step before M makes the next one.
    const view<const T> taken = z();
    const auto add_direction = [&](recipe& to, double factor) {
      to.add(factor, taken);
      to.add(-factor * two_above / k.size_before, direction_).add(-factor * above / k.size, earlier_);
    };
    // Without M the norm of what is left follows from Pythagoras, unless little is.
    double left = std::sqrt(image.yy - diagonal * image.uy);
    const bool is_made = M_ != nullptr || !(left > 0.1 * std::sqrt(image.yy));
    if (is_made) {
      recipe made;
      made.make(next_).add(1, next_).add(-diagonal, v_);
      add_direction(made.make(direction_), 1);
      if (M_ != nullptr)
        over_.make(made);
      else
        left = std::sqrt(over_.make_and_multiply(made).square);
    }
    std::swap(before_, v_);
    std::swap(v_, next_);
    if (M_ != nullptr) left = norm_of_v();
    if (!(left >= 0 && std::isfinite(left))) return iterations.end(unfit(left));
    // What is left may be rounding alone: the space is invariant.
    largest_ = std::max({largest_, std::fabs(diagonal), left});
    constexpr double few_roundings = 64 * std::numeric_limits<T>::epsilon();
    const bool grows = left > few_roundings * largest_;
    const double gradient = std::hypot(rotated, k.c * left) / largest_;
    if (settles(gradient, d, iterations.norm()) || !(gradient > few_roundings))
      return iterations.end(solver_event::running);
    const double size = std::hypot(rotated, left);
    const double c = rotated / size, s = left / size;
    const double along = c * residual_;
    residual_ *= -s;
    const double inverse = grows ? 1 / left : 1;
    double norm = std::fabs(residual_);
    recipe moved;
    // With M residual_ has another norm than the one that is watched.
    if (M_ != nullptr) moved.make(r).add(s * s, r).add(c * residual_ * inverse, v_);
    moved.make(v_).add(inverse, v_);
    if (!is_made) moved.add(-inverse * diagonal, before_);
    if (M_ != nullptr) moved.make(z_).add(inverse, z_);
    if (is_made) {
      moved.make(d).add(1, d).add(along / size, direction_);
    } else {
      add_direction(moved.make(d).add(1, d), along / size);
      add_direction(moved.make(direction_), 1);
    }
    k = {k.c, c, k.s, s, left, k.size, size};
    if (M_ == nullptr)
      over_.make(moved);
    else
      norm = std::sqrt(over_.make_and_multiply(moved).square);
    iterations.step(norm);
    iterations.halved();
    if (!grows && iterations.goes_on()) iterations.end(solver_event::running);
  }

  // Of a singular system without a solution the residual is least where A M r, whose norm beside that of r and of A is
  // the gradient, is next to nothing; rounding leaves the root of a unit of it. Later steps go astray along the null
  // space, and seem to bring the residual down where x has grown so large that its rounding errors, times A, are what is
  // left of b. Of others, however ill-conditioned, the residual falls before that: the iterate is kept until it does.
  bool settles(double gradient, view<const T> d, double norm_of_r) {
    constexpr double unit = std::numeric_limits<T>::epsilon();
    const double little = 8 * std::sqrt(unit);
    if (settled_at_ == never && !(gradient < little)) return false;
    const double image = norm_of_A_ * static_cast<double>(nrm2<T>(dev_, d));
    if (settled_at_ < never && unit * image > 0.01 * settled_norm_) return true;
    if (std::fabs(residual_) <= 0.5 * settled_residual_) settled_at_ = never;
    if (gradient < std::min(little, 0.5 * settled_at_) && std::sqrt(unit) * image <= norm_of_r) {
      copy<T, T>(dev_, d, settled_);
      settled_at_ = gradient;
      settled_residual_ = std::fabs(residual_);
      settled_norm_ = norm_of_r;
    }
    return false;
  }

  // The root of v' M v, with M v in z(); -1: M is not positive definite.
  double norm_of_v() {
    if (M_ == nullptr) return nrm2<T>(dev_, v_);
    M_->apply(dev_, v_, z_);
    const T* const both[] = {v_.data(), z_.data()};
    double products[4];  // v' v, v' z, z' v, z' z
    over_.products(both, {v_.data(), z_.data()}, products);
    const double squared = products[1];
    if (!(squared < 0)) return std::sqrt(squared);
    return is_rounding<T>(squared, std::sqrt(products[0]) * std::sqrt(products[3])) ? 0 : -1;
  }
  // Why no step can be taken from a v of this norm.
  static solver_event unfit(double norm) {
    if (norm < 0) return solver_event::indefinite_preconditioner;
    return norm == 0 ? solver_event::running : solver_event::diverged;
  }
  void normalise(double norm) {
    scal<T>(dev_, static_cast<T>(1 / norm), v_);
    if (M_ != nullptr) scal<T>(dev_, static_cast<T>(1 / norm), z_);
  }
  view<const T> z() const { return M_ == nullptr ? v_.all() : z_.all(); }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  array<T> before_, v_, next_;  // v_(j-1), v_j, v_(j+1)
  array<T> z_;                  // M v_j
  array<T> earlier_, direction_;
  array<T> settled_;  // the iterate of the least gradient
  scalar_vectors<T, double> over_;
  recurrence coefficients_;
  double residual_ = 0;   // in the norm of M, with a sign
  double largest_ = 0;    // entry of the tridiagonal matrices of all runs
  double norm_of_A_ = 0;  // at least that
  static constexpr double never = 1;
  double settled_at_ = never;  // that gradient
  double settled_residual_ = 0,
         settled_norm_ = 0;  // the residual there, in the norm of M and in that of vectors
};

constexpr krylov_method method{.name = "minres", .title = "MINRES", .allowed_growth = 1e8};

template <real T>
engine_maker<T> maker(const device& dev) {
  return [&dev](const linear_operator<T>& A, const preconditioner<T>* M, bool) {
    return std::make_unique<minres_engine<T>>(dev, A, M);
  };
}

// Where the norm r' M r of a residual is least, A M r = 0, so that A is singular; rounding leaves of A M r the root of a
// unit. The norm of A is at least that of A b over that of b.
template <real T>
void explain_stagnation(const device& dev, const linear_operator<T>& A, view<const T> b, view<const T> x,
                        const preconditioner<T>* M, solve_report& report) {
  array<T> r(dev, A.rows()), z(dev, A.rows()), product(dev, A.rows());
  const auto stretched = [&](view<const T> v) {
    A.apply(dev, v, product);
    return static_cast<double>(nrm2<T>(dev, product)) / static_cast<double>(nrm2<T>(dev, v));
  };
  A.apply(dev, x, r);
  axpby(dev, T{1}, b.data(), T{-1}, r.data(), A.rows());
  if (M != nullptr) M->apply(dev, r, z);
  const double along_residual = stretched(M != nullptr ? z.all() : r.all()), along_b = stretched(b);
  constexpr double unit = std::numeric_limits<T>::epsilon();
  if (!(along_residual <= 8 * std::sqrt(unit) * along_b)) return;
  report.reason = string_printf(
      "the residual is the least there is%s, relative %.2g: the matrix is singular, and x a solution of least "
      "squares, or its condition number is at least %.1g",
      M != nullptr ? " in the norm of the preconditioner" : "", report.relative_true(),
      1 / std::max(unit, along_residual / along_b));
}

}  // namespace

template <real T>
solve_report minres(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                    const minres_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const valid_csr valid(method.name, dev, A);
  if (!options.matrix_checked && A.rows == A.cols) check_symmetric(dev, A);
  solve_report report = solve_by_krylov<T>(method, dev, A, b, x, options, M, maker<T>(dev));
  if (report.status == solve_status::stagnated) {
    const spmv_plan<T> plan = spmv_plan<T>::make(dev, A);
    explain_stagnation<T>(dev, plan_operator<T>(plan), b, x, M, report);
  }
  return report;
}

template <real T>
solve_report minres(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                    const minres_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  solve_report report = solve_by_krylov<T>(method, dev, A, b, x, options, M, maker<T>(dev));
  if (report.status == solve_status::stagnated) explain_stagnation<T>(dev, A, b, x, M, report);
  return report;
}

#define VOUCH_MINRES(T)                                                                                       \
  template VOUCH_PUBLIC solve_report minres(const device&, csr_view<const T>, view<const T>, view<T>,         \
                                            const minres_options&, const preconditioner<T>*);                 \
  template VOUCH_PUBLIC solve_report minres(const device&, const linear_operator<T>&, view<const T>, view<T>, \
                                            const minres_options&, const preconditioner<T>*);
VOUCH_MINRES(float)
VOUCH_MINRES(double)
#undef VOUCH_MINRES

}  // namespace vouch
