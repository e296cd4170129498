// vouch/solve/stationary/chebyshev_steps.hpp -- Chebyshev's acceleration of a fixed-point iteration, its scalars; one text
// for every device; private.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include <vouch/core/types.hpp>

namespace vouch {

/// The iteration x -> G x + c, whose eigenvalues are taken to be real and to lie in [low, high], is replaced by
/// x += p, p := along_change (G x + c - x) + keep p.
///
/// high starts low and is raised whenever the residual falls more slowly than it promises: what the steps since
/// then have left of it tells how far the spectrum really reaches. A residual that grows instead says that the
/// eigenvalues are elsewhere: the acceleration ends, and does not come back. One that has fallen far before and
/// then stands still has met the level of rounding: stalled, and nothing is learnt from it.
///
/// Where the plain iteration leaves less than 0.3 of the residual, or less than an accelerated step promises,
/// it is left alone. Eigenvalues that are not real, or a low far below the lowest, may make it the faster one
/// for good: after a raise, and at times where the promise is no better than high itself, a plain step is
/// tried. Each answer makes the next question rarer, so that the iteration is never much slower than the plain
/// one.
///
/// Source  Hageman, Young, Applied Iterative Methods, 1981, chapters 4 and 5.
struct chebyshev_steps {
  double along_change = 1;
  double keep = 0;

  bool wanted = false;
  bool failed = false;
  bool running = false;
  bool stalled = false;  // the run does not come further
  double far = 0;        // a residual that has fallen so far may have met the level of rounding
  double low = 0, high = 0;
  bool trying = false;          // a plain step, by which the acceleration is judged
  std::int64_t slow = 0;        // plain steps in a row that are slower than accelerated ones would be
  std::int64_t patience = 1;    // so many are enough
  std::int64_t steps = 0;       // accelerated ones
  std::int64_t next_trial = 0;  // not before so many of them
  std::int64_t degree = 0;      // steps since the last start
  std::int64_t estimates = 0;   // of high
  double start = 0;             // the residual at that start
  double last = -1;             // the residual of the sweep before; negative: none
  double first = -1;            // the residual of this run's first sweep; negative: none
  double rho = 1, sigma = 0;
  double root = 0;   // of the rate r that high promises
  double power = 1;  // root to the degree

  /// For iterates of T, of whose eigenvalues the lowest is known. In single precision rounding may end the fall
  /// of the residual after two digits, where the condition of the matrix is 10^4.
  template <real T>
  void prepare(bool chebyshev, double lowest_eigenvalue) {
    wanted = chebyshev;
    low = lowest_eigenvalue;
    high = lowest_eigenvalue > 0 ? lowest_eigenvalue : 0;
    far = sizeof(T) == sizeof(float) ? 0.03 : 1e-3;
  }

  /// A new run: what was learnt of the spectrum stays.
  VOUCH_HOST_DEVICE void begin() {
    go_plain();
    stalled = trying = false;
    last = first = -1;
  }

  /// After a sweep which met a residual of this norm: the coefficients of the next step.
  VOUCH_HOST_DEVICE void take(double met) {
    if (!wanted || failed) return;
    if (first < 0) first = met;
    if (!running) return watch(met);
    if (degree == 0) {
      start = met;
    } else {
      const double left = met / start, promised = 2 * power / (1 + power * power);
      if (!(left <= 4) || (degree >= 20 && left > 1)) return stop(met);
      const bool telling = degree >= 6 && power * power < 0.1 && left < 1;
      if (telling && left * left > promised * std::sqrt(promised)) return raise(met, left, promised);
      if (telling && root > high && steps >= next_trial) return try_plain(met);
    }
    advance();
  }

 private:
  VOUCH_HOST_DEVICE bool fell_far(double met) const { return met <= far * first; }

  // What does not fall as it should ends the acceleration, unless only rounding is left of it.
  VOUCH_HOST_DEVICE void stop(double met) {
    if (fell_far(met)) {
      stalled = true;
      return restart();
    }
    failed = true;
    go_plain();
  }

  VOUCH_HOST_DEVICE void go_plain() {
    running = false;
    slow = 0;
    along_change = 1;
    keep = 0;
  }
  VOUCH_HOST_DEVICE void try_plain(double met) {
    go_plain();
    trying = true;
    last = met;
  }

  // After a plain step.
  VOUCH_HOST_DEVICE void watch(double met) {
    const double left = last >= 0 ? met / last : 0;
    last = met;
    promise();
    slow = left > 0.3 && left > root ? slow + 1 : 0;
    const bool tried = trying;
    trying = false;
    if (tried && slow == 0) {
      patience *= 4;
    } else if (tried) {
      next_trial = 4 * steps;
      restart();
    } else if (slow >= patience) {
      restart();
    }
  }

  // What accelerated steps over [low, high] leave, one by one in the long run.
  VOUCH_HOST_DEVICE void promise() {
    sigma = (high - low) / (2 - high - low);
    const double s = std::sqrt(1 - sigma * sigma);
    root = std::sqrt((1 - s) / (1 + s));
  }

  // Steps begin anew at the next iterate.
  VOUCH_HOST_DEVICE void restart() {
    running = true;
    promise();
    degree = 0;
    power = 1;
    rho = 1;
    along_change = 2 / (2 - high - low);
    keep = 0;
  }

  VOUCH_HOST_DEVICE void advance() {
    ++degree;
    ++steps;
    power *= root;
    rho = degree == 1 ? 1 / (1 - sigma * sigma / 2) : 1 / (1 - sigma * sigma * rho / 4);
    along_change = rho * 2 / (2 - high - low);
    keep = rho - 1;
  }

  // The largest eigenvalue that leaves so much of the residual.
  VOUCH_HOST_DEVICE void raise(double met, double left, double promised) {
    constexpr double nearest_to_one = 1 - 1e-12;
    const double r = root * root;
    const double y = 0.5 * (1 + power * power) * (left + std::sqrt(left * left - promised * promised));
    const double x = std::pow(y, 1 / static_cast<double>(degree));
    const double found = 0.5 * (high + low + (2 - high - low) / (1 + r) * (x + r / x));
    const bool far_off = 1 - found < 0.125 * (1 - high);
    if (!(found > high) || (far_off && fell_far(met))) return stop(met);
    high = found < nearest_to_one ? found : nearest_to_one;
    ++estimates;
    steps < next_trial ? restart() : try_plain(met);
  }
};

/// What became of it, for the engine's name; "" where it was not wanted.
std::string chebyshev_text(const chebyshev_steps& steps);

}  // namespace vouch
