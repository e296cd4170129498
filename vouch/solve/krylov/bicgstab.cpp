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
#include <vouch/dense/blas2.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/loop/vector_update.hpp>

namespace vouch {
namespace {

constexpr int most = 8;  // of l

// Inner products of r_0 to r_l; Z[i][j], i <= j, and mirrored.
using gram_matrix = std::array<std::array<double, most + 1>, most + 1>;
using polynomial = std::array<double, most + 1>;

// Of r_1 to r_(l-1) the combination nearest to r_of. What depends on those before it, up to rounding, takes no part.
polynomial project(gram_matrix Z, int l, int of, double rounding) {
  polynomial w{};
  std::array<double, most + 1> right{};
  std::array<bool, most + 1> used{};
  for (int k = 1; k < l; ++k) right[k] = Z[k][of];
  for (int k = 1; k < l; ++k) w[k] = Z[k][k];  // before elimination
  for (int k = 1; k < l; ++k) {
    used[k] = Z[k][k] > rounding * w[k];
    if (!used[k]) continue;
    for (int i = k + 1; i < l; ++i) {
      const double factor = Z[i][k] / Z[k][k];
      for (int j = k; j < l; ++j) Z[i][j] -= factor * Z[k][j];
      right[i] -= factor * right[k];
    }
  }
  for (int k = l - 1; k >= 1; --k) {
    double sum = right[k];
    for (int j = k + 1; j < l; ++j) sum -= Z[k][j] * w[j];
    w[k] = used[k] ? sum / Z[k][k] : 0;
  }
  return w;
}

double inner(const gram_matrix& Z, int l, const polynomial& a, const polynomial& b) {
  double sum = 0;
  for (int i = 0; i <= l; ++i)
    for (int j = 0; j <= l; ++j) sum += a[i] * Z[i][j] * b[j];
  return sum;
}

// c_1 to c_l, the residual being r_0 - c_1 r_1 - ... - c_l r_l: that of least norm, but for a c_l that is large enough
// for the next steps to be accurate. c_l is 0 where rounding leaves nothing of what it is made from.
polynomial minimal_residual_polynomial(const gram_matrix& Z, int l, double rounding) {
  polynomial least = project(Z, l, 0, rounding), last = project(Z, l, l, rounding), c = least;
  least[0] = -1;
  last[l] = -1;
  const double of_least = inner(Z, l, least, least), of_last = inner(Z, l, last, last);
  if (!(of_least > rounding * Z[0][0]) || !(of_last > rounding * Z[l][l])) return c;
  constexpr double cosine = 0.7;
  const double ratio = std::sqrt(of_least / of_last);
  const double along = inner(Z, l, last, least) / std::sqrt(of_least) / std::sqrt(of_last);
  const double weight = std::copysign(std::max(std::fabs(along), cosine), along) * ratio;
  for (int k = 1; k <= l; ++k) c[k] -= weight * last[k];
  return c;
}

template <real T>
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
        products_(dev, std::int64_t{l + 1} * (l + 1)),
        coefficients_(dev, l) {}

  std::string name() const override { return "l = " + std::to_string(l_); }

  // d holds M^-1 of the solution until the end.
  inner_outcome run(T* r_data, T* d_data, const stopping_rule& rule, iteration_log& log) override {
    const view<T> r(r_data, n_), y(d_data, n_);
    zero_bytes(dev_, d_data, static_cast<std::size_t>(n_) * sizeof(T));
    copy<T, T>(dev_, r, column(residuals_, 0));
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
        fill_hashed<T>(dev_, ++seed_, shadow_);
        begin();
      }
      best_.offer(iterations, y);
    }
    best_.choose(iterations, y);
    if (M_ != nullptr) {
      M_->apply(dev_, y, z_);
      copy<T, T>(dev_, z_, y);
    }
    copy<T, T>(dev_, column(residuals_, 0), r);
    return iterations.outcome();
  }

  bool saves() const override { return true; }

 private:
  // Between cycles the first residual and the first direction are all there is of each.
  void keep(solver_state& state, double& broke_at) {
    state.vector("residual of BiCGStab", dev_, residuals_.data(), n_);
    state.vector("direction of BiCGStab", dev_, directions_.data(), n_);
    state.vector("shadow", dev_, shadow_.data(), n_);
    best_.keep(state);
    double numbers[] = {rho_, alpha_, omega_, broke_at};
    state.numbers("numbers of BiCGStab", numbers, 4);
    rho_ = numbers[0], alpha_ = numbers[1], omega_ = numbers[2], broke_at = numbers[3];
    auto seed = static_cast<std::int64_t>(seed_);
    state.integer("seed", seed);
    seed_ = static_cast<std::uint64_t>(seed);
  }

  void begin() {
    scal<T>(dev_, static_cast<T>(1 / static_cast<double>(nrm2<T>(dev_, shadow_))), shadow_);
    zero_bytes(dev_, directions_.data(), static_cast<std::size_t>(n_) * sizeof(T));
    rho_ = omega_ = 1;
    alpha_ = 0;
  }

  // Up to l steps of biconjugate gradients, then a polynomial of that degree. False: there is nothing but rounding to
  // divide by; y and r_0 belong together then as well.
  bool cycle(view<T> y, krylov_run& iterations) {
    const int l = static_cast<int>(std::min<std::int64_t>(l_, iterations.left()));
    rho_ *= -omega_;
    for (int j = 0; j < l; ++j) {
      const double along = dot<T, T>(dev_, shadow_, column(residuals_, j));
      if (is_rounding<T>(along, nrm2<T>(dev_, column(residuals_, j)))) return false;
      const double beta = alpha_ * (along / rho_);
      rho_ = along;
      axpby(dev_, T{1}, residuals_.data(), static_cast<T>(-beta), directions_.data(), (j + 1) * n_);
      apply(column(directions_, j), column(directions_, j + 1));
      const double gamma = dot<T, T>(dev_, shadow_, column(directions_, j + 1));
      if (is_rounding<T>(gamma, nrm2<T>(dev_, column(directions_, j + 1)))) return false;
      alpha_ = rho_ / gamma;
      axpy<T, T>(dev_, static_cast<T>(-alpha_), columns(directions_, 1, j + 1), columns(residuals_, 0, j + 1));
      axpy<T, T>(dev_, static_cast<T>(alpha_), column(directions_, 0), y);
      const double norm = nrm2<T>(dev_, column(residuals_, 0));
      if (j + 1 < l || iterations.is_done(norm)) step(y, norm, iterations);
      if (!iterations.goes_on()) return true;
      apply(column(residuals_, j), column(residuals_, j + 1));
    }
    const polynomial c = minimal_residual_polynomial(inner_products(l), l, std::numeric_limits<T>::epsilon());
    take(c, l, y);
    omega_ = c[l];
    step(y, nrm2<T>(dev_, column(residuals_, 0)), iterations);
    return omega_ != 0 || !iterations.goes_on();
  }

  void step(view<const T> y, double norm, krylov_run& iterations) {
    if (M_ != nullptr && iterations.shows()) M_->apply(dev_, y, z_);
    iterations.step(norm);
  }

  gram_matrix inner_products(int l) {
    for (int k = 0; k <= l; ++k)
      gemv<T, T, T>(dev_, transpose::yes, T{1}, block(residuals_, 0, k + 1), column(residuals_, k), T{0},
                    view<T>(products_.data() + k * (l_ + 1), k + 1));
    std::array<T, (most + 1) * (most + 1)> host{};
    copy_bytes(host.data(), device::cpu(1), products_.data(), dev_,
               static_cast<std::size_t>((l + 1) * (l_ + 1)) * sizeof(T));
    gram_matrix Z{};
    for (int k = 0; k <= l; ++k)
      for (int i = 0; i <= k; ++i) Z[i][k] = Z[k][i] = static_cast<double>(host[k * (l_ + 1) + i]);
    return Z;
  }

  // The polynomial with the coefficients c.
  void take(const polynomial& c, int l, view<T> y) {
    std::array<T, most> host{};
    for (int k = 0; k < l; ++k) host[k] = static_cast<T>(c[k + 1]);
    copy_bytes(coefficients_.data(), dev_, host.data(), device::cpu(1),
               static_cast<std::size_t>(l) * sizeof(T));
    const view<const T> weights(coefficients_.data(), l);
    gemv<T, T, T>(dev_, transpose::no, T{1}, block(residuals_, 0, l), weights, T{1}, y);
    gemv<T, T, T>(dev_, transpose::no, T{-1}, block(residuals_, 1, l), weights, T{1}, column(residuals_, 0));
    gemv<T, T, T>(dev_, transpose::no, T{-1}, block(directions_, 1, l), weights, T{1}, column(directions_, 0));
  }

  void apply(view<const T> from, view<T> to) {
    if (M_ == nullptr) return A_.apply(dev_, from, to);
    M_->apply(dev_, from, z_);
    A_.apply(dev_, z_, to);
  }

  view<T> column(matrix<T>& m, std::int64_t j) { return columns(m, j, 1); }
  // One after another, as one vector.
  view<T> columns(matrix<T>& m, std::int64_t first, std::int64_t count) {
    return {m.data() + first * n_, count * n_};
  }
  matrix_view<const T> block(const matrix<T>& m, std::int64_t first, std::int64_t count) const {
    return {m.data() + first * n_, n_, count, std::max<std::int64_t>(1, n_)};
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  int l_;
  matrix<T> residuals_, directions_;  // r_j = (A M)^j r_0 and u_j = (A M)^j u_0
  array<T> shadow_, z_;
  best_iterate<T> best_;
  array<T> products_, coefficients_;
  std::uint64_t seed_ = 0;
  double rho_ = 1, alpha_ = 0, omega_ = 1;
};

template <real T>
engine_maker<T> maker(const device& dev, const bicgstab_options& options) {
  if (options.l < 1 || options.l > most)
    throw value_error("BiCGStab(l): l is " + std::to_string(options.l) + ", not 1 to " + std::to_string(most));
  return [&dev, l = options.l](const linear_operator<T>& A, const preconditioner<T>* M) {
    return std::make_unique<bicgstab_engine<T>>(dev, A, M, l);
  };
}

krylov_method method(const bicgstab_options& options) {
  return {.name = "bicgstab", .title = "BiCGStab", .allowed_growth = 1e8, .powers = options.l};
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
