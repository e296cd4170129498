// vouch/solve/precond/amg/cycle_steps.hpp -- a V-cycle as a sequence of steps, on one GPU or on several; private.
#pragma once
#include <cstddef>
#include <span>
#include <utility>

#include <vouch/solve/precond/amg/combination.hpp>

namespace vouch::multigrid {

/// The vectors of a level; the last one is used where the smoother's polynomial has more than three terms.
enum class part : std::size_t { b, x, r, y, other };
inline constexpr std::size_t parts_of_level = 5;

/// Steps takes them, on one device or as one of several that share the rows:
///   at(depth, part): the elements; smoother(depth): the coefficients of its polynomial by powers of A
///   combine(depth, terms) with the level's matrix; combine_both(depth, one, other), which they may have where nothing is
///   shared: two of these, of which the other multiplies what the first makes
///   restrict_to_next(depth, r): the next level's b; prolongate(depth, a, u, out): out := a u + P x of the next level
///   solve(depth): x for b, false where there is more to be done than that
///   share(depth, part): behind the steps that make it; its elements are then known to all who read them

/// Two combinations, of which the other multiplies what the first makes.
template <class Steps>
void combine_both(const Steps& on, std::size_t depth, const combination& one, part made,
                  const combination& other) {
  if constexpr (requires { on.combine_both(depth, one, other); }) {
    on.combine_both(depth, one, other);
  } else {
    on.combine(depth, one);
    on.share(depth, made);
    on.combine(depth, other);
  }
}

/// The smoother's polynomial in A times v, but for its last step: what makes out := a u + q(A) v, all done before that.
/// Takes y and other.
template <class Steps>
combination begin_polynomial(const Steps& on, std::size_t depth, const float* v, float a, const float* u,
                             part out) {
  const std::span<const double> q = on.smoother(depth);
  const auto coefficient = [&](std::size_t k) { return static_cast<float>(q[k]); };
  const float* last = v;
  float factor = coefficient(q.size() - 1);
  part next = part::y, after = part::other;
  for (std::size_t k = q.size() - 2; k > 0; --k) {
    on.combine(depth, {0, nullptr, coefficient(k), v, factor, last, on.at(depth, next)});
    on.share(depth, next);
    last = on.at(depth, next);
    factor = 1;
    std::swap(next, after);
  }
  return {a, u, coefficient(0), v, factor, last, on.at(depth, out)};
}
template <class Steps>
void apply_polynomial(const Steps& on, std::size_t depth, const float* v, float a, const float* u, part out) {
  on.combine(depth, begin_polynomial(on, depth, v, a, u, out));
  on.share(depth, out);
}

/// One V-cycle from zero: the level's x for its b, both shared.
template <class Steps>
void visit(const Steps& on, std::size_t depth) {
  if (on.solve(depth)) return;
  const float* const b = on.at(depth, part::b);
  float *const x = on.at(depth, part::x), *const r = on.at(depth, part::r);
  const auto first = static_cast<float>(on.smoother(depth)[0]);
  const bool plain =
      on.smoother(depth).size() == 1;  // q is a number: x need not be formed before the correction
  if (plain) {
    on.combine(depth, {1, b, 0, nullptr, -first, b, r});
  } else {
    combine_both(on, depth, begin_polynomial(on, depth, b, 0, nullptr, part::x), part::x,
                 {1, b, 0, nullptr, -1, x, r});
  }
  on.share(depth, part::r);
  on.restrict_to_next(depth, r);
  on.share(depth + 1, part::b);
  visit(on, depth + 1);
  const part corrected = plain ? part::y : part::x;
  const float* const solution = on.at(depth, corrected);
  on.prolongate(depth, plain ? first : 1, plain ? b : x, on.at(depth, corrected));
  on.share(depth, corrected);
  if (plain) {
    on.combine(depth, {1, solution, first, b, -first, solution, x});
    on.share(depth, part::x);
    return;
  }
  const combination residual{1, b, 0, nullptr, -1, solution, r};
  if (on.smoother(depth).size() == 2) {
    combine_both(on, depth, residual, part::r, begin_polynomial(on, depth, r, 1, x, part::x));
    on.share(depth, part::x);
    return;
  }
  on.combine(depth, residual);
  on.share(depth, part::r);
  apply_polynomial(on, depth, r, 1, x, part::x);
}

}  // namespace vouch::multigrid
