#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/scalar_vectors.hpp>
#include <vouch/solve/loop/complex_vectors.hpp>
#include <vouch/solve/loop/vector_update.hpp>

namespace vouch {
namespace {

constexpr int most = 8;  // of l

// Inner products of r_0 to r_l, Z[i][j] = r_i* r_j; S is double or a complex number.
template <class S>
using gram_matrix = std::array<std::array<S, most + 1>, most + 1>;
template <class S>
using polynomial = std::array<S, most + 1>;

// Of r_1 to r_(l-1) the combination nearest to r_of. What depends on those before it, up to rounding, takes no part.
template <class S>
polynomial<S> project(gram_matrix<S> Z, int l, int of, double rounding) {
  polynomial<S> w{};
  std::array<S, most + 1> right{};
  std::array<double, most + 1> before{};  // elimination
  std::array<bool, most + 1> used{};
  for (int k = 1; k < l; ++k) right[k] = Z[k][of];
  for (int k = 1; k < l; ++k) before[k] = std::real(Z[k][k]);
  for (int k = 1; k < l; ++k) {
    used[k] = std::real(Z[k][k]) > rounding * before[k];
    if (!used[k]) continue;
    for (int i = k + 1; i < l; ++i) {
      const S factor = Z[i][k] / Z[k][k];
      for (int j = k; j < l; ++j) Z[i][j] -= factor * Z[k][j];
      right[i] -= factor * right[k];
    }
  }
  for (int k = l - 1; k >= 1; --k) {
    S sum = right[k];
    for (int j = k + 1; j < l; ++j) sum -= Z[k][j] * w[j];
    w[k] = used[k] ? sum / Z[k][k] : 0;
  }
  return w;
}

template <class S>
S inner(const gram_matrix<S>& Z, int l, const polynomial<S>& a, const polynomial<S>& b) {
  S sum = 0;
  for (int i = 0; i <= l; ++i)
    for (int j = 0; j <= l; ++j) sum += conjugate(a[i]) * Z[i][j] * b[j];
  return sum;
}

// c_1 to c_l, the residual being r_0 - c_1 r_1 - ... - c_l r_l: that of least norm, but for a c_l that is large enough
// for the next steps to be accurate. c_l is 0 where rounding leaves nothing of what it is made from.
template <class S>
polynomial<S> minimal_residual_polynomial(const gram_matrix<S>& Z, int l, double rounding) {
  polynomial<S> least = project(Z, l, 0, rounding), last = project(Z, l, l, rounding), c = least;
  least[0] = -1;
  last[l] = -1;
  const double of_least = std::real(inner(Z, l, least, least)), of_last = std::real(inner(Z, l, last, last));
  if (!(of_least > rounding * std::real(Z[0][0])) || !(of_last > rounding * std::real(Z[l][l]))) return c;
  constexpr double cosine = 0.7;
  const double ratio = std::sqrt(of_least / of_last);
  const S along = inner(Z, l, last, least) / std::sqrt(of_least) / std::sqrt(of_last);
  const S weight = std::max(std::abs(along), cosine) * direction_of(along) * ratio;
  for (int k = 1; k <= l; ++k) c[k] -= weight * last[k];
  return c;
}

// S is double, or a complex number where A and M are linear for numbers by their parts.
template <real T, class S>
class bicgstab_engine final : public inner_solver<T> {
 public:
  bicgstab_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M, int l)
      : dev_(dev),
        A_(A),
        M_(M),
        n_(A.rows()),
        l_(l),
        residuals_(dev, n_, l + 1),
        directions_(dev, n_, l + 1),
        shadow_(dev, n_),
        z_(dev, M == nullptr ? 0 : n_),
        best_(dev, n_),
        over_(dev, n_) {}

  std::string name() const override {
    return (vectors::is_complex ? "complex numbers, l = " : "l = ") + std::to_string(l_);
  }

  // d holds M^-1 of the solution until the end.
  inner_outcome run(T* r_data, T* d_data, const stopping_rule& rule, iteration_log& log) override {
    const view<T> r(r_data, n_), y(d_data, n_);
    zero_bytes(dev_, d_data, static_cast<std::size_t>(n_) * sizeof(T));
    copy<T, T>(dev_, r, residuals_[0]);
    if (M_ != nullptr) zero_bytes(dev_, z_.data(), static_cast<std::size_t>(n_) * sizeof(T));
    krylov_run iterations(rule, log, n_, nrm2<T>(dev_, r), M_ == nullptr ? d_data : z_.data());
    best_.begin(iterations);
    double broke_at = std::numeric_limits<double>::infinity();
    const auto state = [&](solver_state& s) { keep(s, broke_at); };
    if (!iterations.resumes(state) && iterations.goes_on()) {
      copy<T, T>(dev_, r, shadow_);
      begin();
    }
    while (iterations.goes_on_from(state)) {
      if (!cycle(y, iterations)) {
        if (!(iterations.norm() <= 0.5 * broke_at)) {
          iterations.end(solver_event::breakdown);
          break;
        }
        broke_at = iterations.norm();
        fill_hashed<T>(dev_, own_stream + ++seed_, shadow_);
        begin();
      }
      best_.offer(iterations, y);
    }
    best_.choose(iterations, y);
    if (M_ != nullptr) {
      M_->apply(dev_, y, z_);
      copy<T, T>(dev_, z_, y);
    }
    copy<T, T>(dev_, residuals_[0], r);
    return iterations.outcome();
  }

  bool saves() const override { return true; }

 private:
  using vectors = scalar_vectors<T, S>;
  using recipe = vector_recipe<T, S>;

  // Between cycles the first residual and the first direction are all there is of each.
  void keep(solver_state& state, double& broke_at) {
    state.vector("residual of BiCGStab", dev_, residuals_.at(0), n_);
    state.vector("direction of BiCGStab", dev_, directions_.at(0), n_);
    state.vector("shadow", dev_, shadow_.data(), n_);
    best_.keep(state);
    S numbers[] = {rho_, alpha_, omega_, along_, broke_at};
    state.numbers("numbers of BiCGStab", reinterpret_cast<double*>(numbers), 5 * vectors::parts);
    rho_ = numbers[0], alpha_ = numbers[1], omega_ = numbers[2], along_ = numbers[3];
    broke_at = std::real(numbers[4]);
    state.seed("seed", seed_);
  }

  void begin() {
    scal<T>(dev_, static_cast<T>(1 / static_cast<double>(nrm2<T>(dev_, shadow_))), shadow_);
    zero_bytes(dev_, directions_.at(0), static_cast<std::size_t>(n_) * sizeof(T));
    along_ = over_.product(shadow_, residuals_[0]);
    rho_ = omega_ = 1;
    alpha_ = 0;
  }

  // Up to l steps of biconjugate gradients, then a polynomial of that degree. False: there is nothing but rounding to
  // divide by; y and r_0 belong together then as well.
  bool cycle(view<T> y, krylov_run& iterations) {
    const int l = static_cast<int>(std::min<std::int64_t>(l_, iterations.left()));
    rho_ *= -omega_;
    double norm = iterations.norm();  // of the last residual
    gram_matrix<S> Z{};
    for (int j = 0; j < l; ++j) {
      if (is_rounding<T>(std::abs(along_), norm)) {
        settle(y);
        return false;
      }
      const S beta = alpha_ * (along_ / rho_);
      rho_ = along_;
      turn(j, beta, y);
      const operator_sums<S> image = apply(directions_[j], {.y = directions_.at(j + 1), .u = shadow_.data()});
      if (is_rounding<T>(std::abs(image.uy), std::sqrt(image.yy))) return false;
      alpha_ = rho_ / image.uy;
      const bool last = j + 1 == l;
      Z[0][0] = move(j);
      deferred_step_ = alpha_;
      const double norm_of_first = std::sqrt(std::real(Z[0][0]));
      if (!last || iterations.is_done(norm_of_first)) {
        if (last || iterations.shows()) settle(y);
        step(y, norm_of_first, iterations);
        if (!iterations.goes_on()) {
          settle(y);
          return true;
        }
      }
      const operator_sums<S> next = apply(residuals_[j], {.y = residuals_.at(j + 1),
                                                          .u = last ? residuals_.at(0) : shadow_.data(),
                                                          .v = last && j > 0 ? residuals_.at(j) : nullptr});
      if (last)
        fill_gram(Z, l, next);
      else
        along_ = next.uy, norm = std::sqrt(next.yy);
    }
    const polynomial<S> c = minimal_residual_polynomial(Z, l, std::numeric_limits<T>::epsilon());
    const recipe_sums<S> left = take(c, l, y);
    along_ = left.product[0];
    omega_ = c[l];
    step(y, std::sqrt(left.square), iterations);
    return omega_ != 0.0 || !iterations.goes_on();
  }

  // u_i := r_i - beta u_i for i up to j; y takes the step along the u_0 before.
  void turn(int j, S beta, view<T> y) {
    for (int i = 0; i <= j;) {
      recipe combined;
      if (i == 0 && deferred_step_ != 0.0) combined.make(y).add(1, y).add(deferred_step_, directions_[0]);
      for (; i <= j && combined.outputs() < recipe::most; ++i)
        combined.make(directions_[i]).add(1, residuals_[i]).add(-beta, directions_[i]);
      over_.make(combined);
    }
    deferred_step_ = 0;
  }

  // r_i := r_i - alpha u_(i+1) for i up to j; the square of the norm of r_0.
  double move(int j) {
    double square = 0;
    for (int i = 0; i <= j;) {
      recipe moved;
      const bool first = i == 0;
      for (; i <= j && moved.outputs() < recipe::most; ++i)
        moved.make(residuals_[i]).add(1, residuals_[i]).add(-alpha_, directions_[i + 1]);
      if (first)
        square = over_.make_and_multiply(moved).square;
      else
        over_.make(moved);
    }
    return square;
  }
  // The step of y that was deferred.
  void settle(view<T> y) {
    if (deferred_step_ == 0.0) return;
    recipe moved;
    over_.make(moved.make(y).add(1, y).add(deferred_step_, directions_[0]));
    deferred_step_ = 0;
  }

  void step(view<const T> y, double norm, krylov_run& iterations) {
    if (M_ != nullptr && iterations.shows()) M_->apply(dev_, y, z_);
    iterations.step(norm);
  }

  // Z, whose first entry is known. last: of the product that r_l was made by, with r_0 and r_(l-1).
  void fill_gram(gram_matrix<S>& Z, int l, const operator_sums<S>& last) {
    Z[l][l] = last.yy;
    Z[0][l] = last.uy;
    if (l > 1) {
      Z[l - 1][l] = last.vy;
      Z[0][l - 1] = last.uv;
      Z[l - 1][l - 1] = last.vv;
    }
    // Entries that the sums of the last product do not give.
    for (int k = 1; l > 2 && k <= l; ++k) {
      std::array<const T*, most + 1> before{};
      std::array<S, most + 1> products{};
      for (int i = 0; i <= k; ++i) before[i] = residuals_.at(i);
      over_.products({before.data(), static_cast<std::size_t>(k + 1)}, {residuals_.at(k)}, products.data());
      for (int i = 0; i <= k; ++i) Z[i][k] = products[i];
    }
    for (int k = 0; k <= l; ++k)
      for (int i = 0; i < k; ++i) Z[k][i] = conjugate(Z[i][k]);
  }

  // The polynomial with the coefficients c, and the step that y waits for; what r_0 is then, along the shadow as well.
  recipe_sums<S> take(const polynomial<S>& c, int l, view<T> y) {
    recipe taken;
    taken.make(residuals_[0]).add(1, residuals_[0]);
    for (int k = 1; k <= l; ++k) taken.add(-c[k], residuals_[k]);
    taken.make(directions_[0]).add(1, directions_[0]);
    for (int k = 1; k <= l; ++k) taken.add(-c[k], directions_[k]);
    taken.make(y).add(1, y).add(deferred_step_, directions_[0]);
    for (int k = 1; k <= l; ++k) taken.add(c[k], residuals_[k - 1]);
    deferred_step_ = 0;
    return over_.make_and_multiply(taken.multiply(shadow_));
  }

  // pass.y := A M from, with its sums.
  operator_sums<S> apply(view<const T> from, product_pass<T> pass) {
    if (M_ != nullptr) M_->apply(dev_, from, z_);
    pass.x = M_ != nullptr ? z_.data() : from.data();
    return over_.apply(A_, pass);
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  int l_;
  vector_set<T> residuals_, directions_;  // r_j = (A M)^j r_0 and u_j = (A M)^j u_0
  array<T> shadow_, z_;
  best_iterate<T> best_;
  vectors over_;
  std::uint64_t seed_ = 0;
  S rho_ = 1, alpha_ = 0, omega_ = 1;
  S along_ = 0;          // of the next residual along the shadow
  S deferred_step_ = 0;  // of u_0 to y, within a cycle
};

template <real T>
engine_maker<T> maker(const device& dev, const bicgstab_options& options) {
  if (options.l < 1 || options.l > most)
    throw value_error("BiCGStab(l): l is " + std::to_string(options.l) + ", not 1 to " + std::to_string(most));
  return by_scalars<T>(
      [&dev, l = options.l]<class S>(const linear_operator<T>& A, const preconditioner<T>* M, S) {
        return std::make_unique<bicgstab_engine<T, S>>(dev, A, M, l);
      });
}

krylov_method method(const bicgstab_options& options) {
  return {.name = "bicgstab",
          .title = "BiCGStab",
          .allowed_growth = 1e8,
          .powers = options.l,
          .complex = complex_scalars::with_linear_preconditioners};
}

}  // namespace

template <real T>
solve_report bicgstab(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                      const bicgstab_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const engine_maker<T> make = maker<T>(dev, options);
  return solve_by_krylov<T>(method(options), dev, A, b, x, options, M, make);
}

template <real T>
solve_report bicgstab(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                      const bicgstab_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const engine_maker<T> make = maker<T>(dev, options);
  return solve_by_krylov<T>(method(options), dev, A, b, x, options, M, make);
}

#define VOUCH_BICGSTAB(T)                                                                               \
  template VOUCH_PUBLIC solve_report bicgstab(const device&, csr_view<const T>, view<const T>, view<T>, \
                                              const bicgstab_options&, const preconditioner<T>*);       \
  template VOUCH_PUBLIC solve_report bicgstab(const device&, const linear_operator<T>&, view<const T>,  \
                                              view<T>, const bicgstab_options&, const preconditioner<T>*);
VOUCH_BICGSTAB(float)
VOUCH_BICGSTAB(double)
#undef VOUCH_BICGSTAB

}  // namespace vouch
