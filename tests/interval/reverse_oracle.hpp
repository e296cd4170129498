// tests/interval/reverse_oracle.hpp -- whether a reverse operation found the smallest interval, from the forward
// function alone: by MPFR with 300 bits and the sign of what it rounded away.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include <vouch/interval/functions.hpp>

namespace vouch::testing {

using real_set = interval<double>;

/// Answers of a set c whether t is a solution, and whether there is one strictly between u and v.
struct oracle {
  std::function<bool(double)> at;
  std::function<bool(double, double)> between;
};

oracle sine_oracle(real_set c);
oracle cosine_oracle(real_set c);
oracle tangent_oracle(real_set c);
oracle cosh_oracle(real_set c);
oracle magnitude_oracle(real_set c);
oracle power_oracle(int n, real_set c);
oracle product_oracle(real_set b, real_set c);
oracle base_oracle(real_set y, real_set c);
oracle exponent_oracle(real_set x, real_set c);
oracle ordinate_oracle(real_set x, real_set c);
oracle abscissa_oracle(real_set y, real_set c);

template <real T>
bool solution_at(const oracle& o, T t) {
  return rounding::finite(t) && o.at(static_cast<double>(t));
}

template <real T>
bool solution_between(const oracle& o, T u, T v) {
  return u < v && o.between(static_cast<double>(u), static_cast<double>(v));
}

/// The result is the smallest interval around the solutions in x.
template <real T>
::testing::AssertionResult is_tightest(interval<T> result, interval<T> x, const oracle& o) {
  const auto wrong = [&](const char* what) {
    return ::testing::AssertionFailure() << std::hexfloat << what << ": [" << result.lo() << ", " << result.hi()
                                         << "] of [" << x.lo() << ", " << x.hi() << ']';
  };
  const bool any = solution_at(o, x.lo()) || solution_between(o, x.lo(), x.hi()) || solution_at(o, x.hi());
  if (is_empty(result)) return any ? wrong("a solution is left out") : ::testing::AssertionSuccess();
  if (!any) return wrong("there is no solution");
  if (result.lo() < x.lo() || result.hi() > x.hi()) return wrong("beyond x");
  if (result.lo() > x.lo() && (solution_at(o, x.lo()) || solution_between(o, x.lo(), result.lo())))
    return wrong("a solution below is left out");
  if (result.hi() < x.hi() && (solution_at(o, x.hi()) || solution_between(o, result.hi(), x.hi())))
    return wrong("a solution above is left out");
  if (!solution_at(o, result.lo()) && !solution_between(o, result.lo(), std::min(next_up(result.lo()), x.hi())))
    return wrong("the lower bound is too low");
  if (!solution_at(o, result.hi()) &&
      !solution_between(o, std::max(next_down(result.hi()), x.lo()), result.hi()))
    return wrong("the upper bound is too high");
  return ::testing::AssertionSuccess();
}

}  // namespace vouch::testing
