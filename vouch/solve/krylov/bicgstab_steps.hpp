// vouch/solve/krylov/bicgstab_steps.hpp -- the steps of BiCGStab(l), for any team that carries them out; private.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include <vouch/solve/krylov/host_team.hpp>
#include <vouch/solve/krylov/iteration_count.hpp>
#include <vouch/solve/krylov/product_pass.hpp>
#include <vouch/solve/loop/complex_vectors.hpp>

namespace vouch {

// Inner products of r_0 to r_l, Z[i][j] = r_i* r_j; S is double or a complex number, l at most Most.
template <class S, int Most>
using gram_matrix = std::array<std::array<S, Most + 1>, Most + 1>;
template <class S, int Most>
using polynomial = std::array<S, Most + 1>;

// Of r_1 to r_(l-1) the combination nearest to r_of. What depends on those before it, up to rounding, takes no part.
template <class S, int Most>
VOUCH_TEAM polynomial<S, Most> project(gram_matrix<S, Most> Z, int l, int of, double rounding) {
  polynomial<S, Most> w{};
  std::array<S, Most + 1> right{};
  std::array<double, Most + 1> before{};  // elimination
  std::array<bool, Most + 1> used{};
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

template <class S, int Most>
VOUCH_TEAM S inner(const gram_matrix<S, Most>& Z, int l, const polynomial<S, Most>& a,
                   const polynomial<S, Most>& b) {
  S sum = 0;
  for (int i = 0; i <= l; ++i)
    for (int j = 0; j <= l; ++j) sum += conjugate(a[i]) * Z[i][j] * b[j];
  return sum;
}

// c_1 to c_l, the residual being r_0 - c_1 r_1 - ... - c_l r_l: that of least norm, but for a c_l that is large enough
// for the next steps to be accurate. c_l is 0 where rounding leaves nothing of what it is made from.
template <class S, int Most>
VOUCH_TEAM polynomial<S, Most> minimal_residual_polynomial(const gram_matrix<S, Most>& Z, int l,
                                                           double rounding) {
  polynomial<S, Most> least = project<S, Most>(Z, l, 0, rounding), last = project<S, Most>(Z, l, l, rounding),
                      c = least;
  least[0] = -1;
  last[l] = -1;
  const double of_least = std::real(inner<S, Most>(Z, l, least, least)),
               of_last = std::real(inner<S, Most>(Z, l, last, last));
  if (!(of_least > rounding * std::real(Z[0][0])) || !(of_last > rounding * std::real(Z[l][l]))) return c;
  constexpr double cosine = 0.7;
  const double ratio = std::sqrt(of_least / of_last);
  const S along = inner<S, Most>(Z, l, last, least) / std::sqrt(of_least) / std::sqrt(of_last);
  const S weight = std::max(std::abs(along), cosine) * direction_of(along) * ratio;
  for (int k = 1; k <= l; ++k) c[k] -= weight * last[k];
  return c;
}

/// What one run leaves for the next.
struct bicgstab_facts {
  std::uint64_t seed = 0;  // of the last shadow vector
};

/// Solves A d = r from y = 0, which y is, with l at most Most. S is double, or a complex number where A and M are linear
/// for numbers by their parts.
template <real T, class S, int Most, class Team>
class bicgstab_steps {
 public:
  using facts = bicgstab_facts;
  struct vectors {
    T *residuals,
        *directions;  // r_j = (A M)^j r_0 and u_j = (A M)^j u_0, one every stride elements, l + 1 of each
    std::int64_t stride;
    T* shadow;
    T* z;     // M of what is multiplied, of the solution at the end; none without M
    T* y;     // M^-1 of the solution
    T* best;  // the y of the least residual
  };

  VOUCH_TEAM bicgstab_steps(Team& team, const vectors& all, const facts& known, int l)
      : team_(team), all_(all), facts_(known), l_(l) {}

  VOUCH_TEAM const facts& known() const { return facts_; }

  // r_0 is the residual. Then y is the solution.
  template <class Run>
  VOUCH_TEAM void run(Run& iterations) {
    best_.begin(iterations);
    keep_best();
    double broke_at = std::numeric_limits<double>::infinity();
    const auto state = [&](auto& s) { keep(s, broke_at); };
    if (!iterations.resumes(state) && iterations.goes_on()) {
      recipe first = team_.begin();
      team_.make(first.make(all_.shadow).add(1, r(0)));
      begin();
    }
    while (iterations.goes_on_from(state)) {
      if (!cycle(iterations)) {
        if (!(iterations.norm() <= 0.5 * broke_at)) {
          iterations.end(solver_event::breakdown);
          break;
        }
        broke_at = iterations.norm();
        team_.hash(own_stream + ++facts_.seed, all_.shadow);
        begin();
      }
      if (best_.improves(iterations)) keep_best();
    }
    const T* chosen = best_.is_less(iterations) ? all_.best : all_.y;
    if (team_.has_preconditioner()) {
      team_.precondition(chosen, all_.z);
      chosen = all_.z;
    }
    if (chosen == all_.y) return;
    recipe solution = team_.begin();
    team_.make(solution.make(all_.y).add(1, chosen));
  }

 private:
  using recipe = typename Team::recipe;

  VOUCH_TEAM T* r(int j) const { return all_.residuals + j * all_.stride; }
  VOUCH_TEAM T* u(int j) const { return all_.directions + j * all_.stride; }

  // Between cycles the first residual and the first direction are all there is of each.
  template <class State>
  void keep(State& state, double& broke_at) {
    team_.keep(state, "residual of BiCGStab", {r(0)});
    team_.keep(state, "direction of BiCGStab", {u(0)});
    team_.keep(state, "shadow", {all_.shadow});
    team_.keep(state, "best iterate", {all_.best});
    state.number("its norm", best_.value());
    S numbers[] = {rho_, alpha_, omega_, along_, broke_at};
    constexpr int parts = sizeof(S) / sizeof(double);
    state.numbers("numbers of BiCGStab", reinterpret_cast<double*>(numbers), 5 * parts);
    rho_ = numbers[0], alpha_ = numbers[1], omega_ = numbers[2], along_ = numbers[3];
    broke_at = std::real(numbers[4]);
    state.seed("seed", facts_.seed);
  }

  VOUCH_TEAM void keep_best() {
    recipe kept = team_.begin();
    team_.make(kept.make(all_.best).add(1, all_.y));
  }

  VOUCH_TEAM void begin() {
    const double size = team_.norm(all_.shadow);
    recipe scaled = team_.begin();
    team_.make(scaled.make(all_.shadow).add(1 / size, all_.shadow).make(u(0)));
    along_ = team_.product(all_.shadow, r(0));
    rho_ = omega_ = 1;
    alpha_ = 0;
  }

  // Up to l steps of biconjugate gradients, then a polynomial of that degree. False: there is nothing but rounding to
  // divide by; y and r_0 belong together then as well.
  template <class Run>
  VOUCH_TEAM bool cycle(Run& iterations) {
    const int l = Most == 1 ? 1 : static_cast<int>(std::min<std::int64_t>(l_, iterations.left()));
    rho_ *= -omega_;
    double norm = iterations.norm();  // of the last residual
    gram_matrix<S, Most> Z{};
    for (int j = 0; j < l; ++j) {
      if (is_rounding<T>(std::abs(along_), norm)) {
        settle();
        return false;
      }
      const S beta = alpha_ * (along_ / rho_);
      rho_ = along_;
      turn(j, beta);
      const operator_sums<S> image = apply(u(j), {.y = u(j + 1), .u = all_.shadow});
      if (is_rounding<T>(std::abs(image.uy), std::sqrt(image.yy))) return false;
      alpha_ = rho_ / image.uy;
      const bool last = j + 1 == l;
      if (l > 1) Z[0][0] = move(j);
      deferred_step_ = alpha_;
      operator_sums<S> next{};
      if (l == 1) {  // the product finds the norm of what it multiplies
        move(j, false);
        next = multiply_residual(j, r(0));
        Z[0][0] = next.vv;
      }
      const double norm_of_first = std::sqrt(std::real(Z[0][0]));
      if (!last || iterations.is_done(norm_of_first)) {
        if (last || iterations.shows()) settle();
        step(norm_of_first, iterations);
        if (!iterations.goes_on()) {
          settle();
          return true;
        }
      }
      if (l > 1) next = multiply_residual(j, last ? r(0) : all_.shadow);
      if (last)
        fill_gram(Z, l, next);
      else
        along_ = next.uy, norm = std::sqrt(next.yy);
    }
    const polynomial<S, Most> c = minimal_residual_polynomial<S, Most>(Z, l, std::numeric_limits<T>::epsilon());
    const recipe_sums<S> left = take(c, l);
    along_ = left.product[0];
    omega_ = c[l];
    step(std::sqrt(left.square), iterations);
    return omega_ != 0.0 || !iterations.goes_on();
  }

  // r_(j+1) := A M r_j, with its products with `with` and r_j.
  VOUCH_TEAM operator_sums<S> multiply_residual(int j, const T* with) {
    return apply(r(j), {.y = r(j + 1), .u = with, .v = with == all_.shadow ? nullptr : r(j)});
  }

  // u_i := r_i - beta u_i for i up to j; y takes the step along the u_0 before.
  VOUCH_TEAM void turn(int j, S beta) {
    for (int i = 0; i <= j;) {
      recipe combined = team_.begin();
      if (i == 0 && deferred_step_ != 0.0) combined.make(all_.y).add(1, all_.y).add(deferred_step_, u(0));
      for (; i <= j && combined.outputs() < recipe::most; ++i)
        combined.make(u(i)).add(1, r(i)).add(-beta, u(i));
      team_.make(combined);
    }
    deferred_step_ = 0;
  }

  // r_i := r_i - alpha u_(i+1) for i up to j; the square of the norm of r_0, where it is wanted.
  VOUCH_TEAM double move(int j, bool with_norm = true) {
    double square = 0;
    for (int i = 0; i <= j;) {
      recipe moved = team_.begin();
      const bool first = i == 0;
      for (; i <= j && moved.outputs() < recipe::most; ++i)
        moved.make(r(i)).add(1, r(i)).add(-alpha_, u(i + 1));
      if (first && with_norm)
        square = team_.make_and_multiply(moved).square;
      else
        team_.make(moved);
    }
    return square;
  }
  // The step of y that was deferred.
  VOUCH_TEAM void settle() {
    if (deferred_step_ == 0.0) return;
    recipe moved = team_.begin();
    team_.make(moved.make(all_.y).add(1, all_.y).add(deferred_step_, u(0)));
    deferred_step_ = 0;
  }

  template <class Run>
  VOUCH_TEAM void step(double norm, Run& iterations) {
    if (team_.has_preconditioner() && iterations.shows()) team_.precondition(all_.y, all_.z);
    iterations.step(norm);
  }

  // Z, whose first entry is known. last: of the product that r_l was made by, with r_0 and r_(l-1).
  VOUCH_TEAM void fill_gram(gram_matrix<S, Most>& Z, int l, const operator_sums<S>& last) {
    Z[l][l] = last.yy;
    Z[0][l] = last.uy;
    if (l > 1) {
      Z[l - 1][l] = last.vy;
      Z[0][l - 1] = last.uv;
      Z[l - 1][l - 1] = last.vv;
    }
    // Entries that the sums of the last product do not give.
    if constexpr (Most > 2)
      for (int k = 1; l > 2 && k <= l; ++k) {
        std::array<const T*, Most + 1> before{};
        std::array<S, Most + 1> products{};
        for (int i = 0; i <= k; ++i) before[i] = r(i);
        team_.products({before.data(), static_cast<std::size_t>(k + 1)}, {r(k)}, products.data());
        for (int i = 0; i <= k; ++i) Z[i][k] = products[i];
      }
    for (int k = 0; k <= l; ++k)
      for (int i = 0; i < k; ++i) Z[k][i] = conjugate(Z[i][k]);
  }

  // The polynomial with the coefficients c, and the step that y waits for; what r_0 is then, along the shadow as well.
  VOUCH_TEAM recipe_sums<S> take(const polynomial<S, Most>& c, int l) {
    recipe taken = team_.begin();
    taken.make(r(0)).add(1, r(0));
    for (int k = 1; k <= l; ++k) taken.add(-c[k], r(k));
    taken.make(u(0)).add(1, u(0));
    for (int k = 1; k <= l; ++k) taken.add(-c[k], u(k));
    taken.make(all_.y).add(1, all_.y).add(deferred_step_, u(0));
    for (int k = 1; k <= l; ++k) taken.add(c[k], r(k - 1));
    deferred_step_ = 0;
    return team_.make_and_multiply(taken.multiply(all_.shadow));
  }

  // pass.y := A M from, with its sums.
  VOUCH_TEAM operator_sums<S> apply(const T* from, product_pass<T> pass) {
    if (team_.has_preconditioner()) team_.precondition(from, all_.z);
    pass.x = team_.has_preconditioner() ? all_.z : from;
    return team_.apply(pass);
  }

  Team& team_;
  vectors all_;
  facts facts_;
  int l_;
  least_norm best_;
  S rho_ = 1, alpha_ = 0, omega_ = 1;
  S along_ = 0;          // of the next residual along the shadow
  S deferred_step_ = 0;  // of u_0 to y, within a cycle
};

}  // namespace vouch
