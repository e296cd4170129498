// vouch/solve/krylov/minres_steps.hpp -- the steps of MINRES, for any team that carries them out; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <vouch/solve/krylov/host_team.hpp>
#include <vouch/solve/krylov/iteration_count.hpp>
#include <vouch/solve/krylov/product_pass.hpp>

namespace vouch {

/// What one run leaves for the next.
struct minres_facts {
  double largest = 0;    // entry of the tridiagonal matrices so far
  double norm_of_A = 0;  // at least that
};

/// Solves A d = r from d = 0, which d is. Without M what r holds afterwards is of no use.
template <real T, class Team>
class minres_steps {
 public:
  using facts = minres_facts;
  struct vectors {
    T *r, *d;
    T *before, *v, *next;  // v_(j-1), v_j, v_(j+1)
    T* z;                  // M v_j; none without M
    T *earlier, *direction;
    T* settled;  // the iterate of the least gradient
  };

  VOUCH_TEAM minres_steps(Team& team, const vectors& all, const facts& known)
      : team_(team), all_(all), facts_(known) {}

  VOUCH_TEAM const facts& known() const { return facts_; }

  template <class Run>
  VOUCH_TEAM void run(Run& iterations) {
    recipe zeros = team_.begin();
    team_.make(zeros.make(all_.before).make(all_.earlier).make(all_.direction));
    const auto state = [this](auto& s) { keep(s); };
    if (!iterations.resumes(state) && iterations.goes_on()) {
      recipe first = team_.begin();
      team_.make(first.make(all_.v).add(1, all_.r));
      const double size = norm_of_v();
      if (!(size > 0 && std::isfinite(size)))
        iterations.end(unfit(size));
      else
        normalise(size);
      residual_ = size;
    }
    while (iterations.goes_on_from(state)) step(iterations);
    const bool free = iterations.event() == solver_event::running ||
                      (iterations.event() == solver_event::iteration_limit && iterations.has_target());
    if (!(free && settled_at_ < never)) return;
    recipe chosen = team_.begin();
    team_.make(chosen.make(all_.d).add(1, all_.settled));
  }

 private:
  using recipe = typename Team::recipe;

  template <class State>
  void keep(State& state) {
    team_.keep(state, "vector of MINRES",
               {all_.before, all_.v, all_.z, all_.earlier, all_.direction, all_.settled});
    recurrence& k = coefficients_;
    double numbers[] = {k.c_before,     k.c,
                        k.s_before,     k.s,
                        k.beside,       k.size_before,
                        k.size,         residual_,
                        facts_.largest, facts_.norm_of_A,
                        settled_at_,    settled_residual_,
                        settled_norm_};
    state.numbers("numbers of MINRES", numbers, 13);
    k = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]};
    residual_ = numbers[7], facts_ = {numbers[8], numbers[9]};
    settled_at_ = numbers[10], settled_residual_ = numbers[11], settled_norm_ = numbers[12];
  }

  // Of the last two rotations, the entry beside the diagonal of the tridiagonal matrix, and what the last two directions
  // are to be divided by.
  struct recurrence {
    double c_before = 1, c = 1, s_before = 0, s = 0, beside = 0, size_before = 1, size = 1;
  };

  // v_j and z_j = M v_j with v_j' z_j = 1 to the next ones; d and r with them.
  template <class Run>
  VOUCH_TEAM void step(Run& iterations) {
    recurrence& k = coefficients_;
    const bool has_M = team_.has_preconditioner();
    const operator_sums<double> image = team_.apply({.x = z(),
                                                     .y = all_.next,
                                                     .b = static_cast<T>(-k.beside),
                                                     .w = all_.before,
                                                     .u = z(),
                                                     .v = has_M ? nullptr : z()});
    if (iterations.count() == 0)
      facts_.norm_of_A = std::max(facts_.norm_of_A, std::sqrt(image.yy) / team_.norm(z()));
    // Where rounding has left v' v beside 1, Pythagoras would have it grow from step to step.
    const double diagonal = has_M ? image.uy : image.uy / image.vv;
    const double above = k.s * diagonal + k.c_before * k.c * k.beside, two_above = k.s_before * k.beside;
    const double rotated = k.c * diagonal - k.c_before * k.s * k.beside;
    std::swap(all_.earlier, all_.direction);  // the one is w_(j-1), the other w_(j-2) and to be w_j
    // The direction takes the z of this step before M makes the next one.
    const T* const taken = z();
    const auto add_direction = [&](recipe& to, double factor) {
      to.add(factor, taken);
      to.add(-factor * two_above / k.size_before, all_.direction).add(-factor * above / k.size, all_.earlier);
    };
    // Without M the norm of what is left follows from Pythagoras, unless little is.
    double left = std::sqrt(image.yy - diagonal * image.uy);
    const bool is_made = has_M || !(left > 0.1 * std::sqrt(image.yy));
    if (is_made) {
      recipe made = team_.begin();
      made.make(all_.next).add(1, all_.next).add(-diagonal, all_.v);
      add_direction(made.make(all_.direction), 1);
      if (has_M)
        team_.make(made);
      else
        left = std::sqrt(team_.make_and_multiply(made).square);
    }
    std::swap(all_.before, all_.v);
    std::swap(all_.v, all_.next);
    if (has_M) left = norm_of_v();
    if (!(left >= 0 && std::isfinite(left))) return iterations.end(unfit(left));
    // What is left may be rounding alone: the space is invariant.
    facts_.largest = std::max(facts_.largest, std::max(std::fabs(diagonal), left));
    constexpr double few_roundings = 64 * std::numeric_limits<T>::epsilon();
    const bool grows = left > few_roundings * facts_.largest;
    const double gradient = std::hypot(rotated, k.c * left) / facts_.largest;
    if (settles(gradient, iterations.norm()) || !(gradient > few_roundings))
      return iterations.end(solver_event::running);
    const double size = std::hypot(rotated, left);
    const double c = rotated / size, s = left / size;
    const double along = c * residual_;
    residual_ *= -s;
    const double inverse = grows ? 1 / left : 1;
    double norm = std::fabs(residual_);
    recipe moved = team_.begin();
    // With M residual_ has another norm than the one that is watched.
    if (has_M) moved.make(all_.r).add(s * s, all_.r).add(c * residual_ * inverse, all_.v);
    moved.make(all_.v).add(inverse, all_.v);
    if (!is_made) moved.add(-inverse * diagonal, all_.before);
    if (has_M) moved.make(all_.z).add(inverse, all_.z);
    if (is_made) {
      moved.make(all_.d).add(1, all_.d).add(along / size, all_.direction);
    } else {
      add_direction(moved.make(all_.d).add(1, all_.d), along / size);
      add_direction(moved.make(all_.direction), 1);
    }
    k = {k.c, c, k.s, s, left, k.size, size};
    if (!has_M)
      team_.make(moved);
    else
      norm = std::sqrt(team_.make_and_multiply(moved).square);
    iterations.step(norm);
    iterations.halved();
    if (!grows && iterations.goes_on()) iterations.end(solver_event::running);
  }

  // Of a singular system without a solution the residual is least where A M r, whose norm beside that of r and of A is
  // the gradient, is next to nothing; rounding leaves the root of a unit of it. Later steps go astray along the null
  // space, and seem to bring the residual down where x has grown so large that its rounding errors, times A, are what is
  // left of b. Of others, however ill-conditioned, the residual falls before that: the iterate is kept until it does.
  VOUCH_TEAM bool settles(double gradient, double norm_of_r) {
    constexpr double unit = std::numeric_limits<T>::epsilon();
    const double little = 8 * std::sqrt(unit);
    if (settled_at_ == never && !(gradient < little)) return false;
    const double image = facts_.norm_of_A * team_.norm(all_.d);
    if (settled_at_ < never && unit * image > 0.01 * settled_norm_) return true;
    if (std::fabs(residual_) <= 0.5 * settled_residual_) settled_at_ = never;
    if (gradient < std::min(little, 0.5 * settled_at_) && std::sqrt(unit) * image <= norm_of_r) {
      recipe kept = team_.begin();
      team_.make(kept.make(all_.settled).add(1, all_.d));
      settled_at_ = gradient;
      settled_residual_ = std::fabs(residual_);
      settled_norm_ = norm_of_r;
    }
    return false;
  }

  // The root of v' M v, with M v in z(); -1: M is not positive definite.
  VOUCH_TEAM double norm_of_v() {
    if (!team_.has_preconditioner()) return team_.norm(all_.v);
    team_.precondition(all_.v, all_.z);
    const pair_products of = team_.pair(all_.v, all_.z);
    if (!(of.uv < 0)) return std::sqrt(of.uv);
    return is_rounding<T>(of.uv, std::sqrt(of.uu) * std::sqrt(of.vv)) ? 0 : -1;
  }
  // Why no step can be taken from a v of this norm.
  VOUCH_TEAM static solver_event unfit(double norm) {
    if (norm < 0) return solver_event::indefinite_preconditioner;
    return norm == 0 ? solver_event::running : solver_event::diverged;
  }
  VOUCH_TEAM void normalise(double norm) {
    recipe scaled = team_.begin();
    scaled.make(all_.v).add(1 / norm, all_.v);
    if (team_.has_preconditioner()) scaled.make(all_.z).add(1 / norm, all_.z);
    team_.make(scaled);
  }
  VOUCH_TEAM const T* z() const { return team_.has_preconditioner() ? all_.z : all_.v; }

  Team& team_;
  vectors all_;
  facts facts_;
  recurrence coefficients_;
  double residual_ = 0;  // in the norm of M, with a sign
  static constexpr double never = 1;
  double settled_at_ = never;  // that gradient
  double settled_residual_ = 0,
         settled_norm_ = 0;  // the residual there, in the norm of M and in that of vectors
};

}  // namespace vouch
