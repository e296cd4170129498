// vouch/solve/loop/ritz_values.hpp -- the extreme eigenvalues that conjugate gradients have met, from their scalars;
// private.
#pragma once
#include <algorithm>
#include <cmath>

#include <vouch/solve/loop/checkpoint.hpp>

namespace vouch {

/// Estimates the extreme eigenvalues of M A by the Lanczos matrix T = R^T R that the steps alpha and beta stand
/// for: R has 1/sqrt(alpha_k) on its diagonal and sqrt(beta_k/alpha_k) beside it, and the norms of R and of its
/// inverse are estimated incrementally, by vectors of which only the last element and some products are kept.
///
/// Result  The largest is estimated from below, the smallest from above.
/// Cost    Some 40 flops a step and five numbers.
/// Source  Duff, Voemel, BIT 42 (2002); Meurant, Tichy, Numer. Algorithms 82 (2019).
class ritz_values {
 public:
  /// A run of the method begins: its directions have nothing to do with those before.
  void begin() { beside_ = 0; }

  /// A step was taken along a direction of which the part beta goes into the next.
  void add(double alpha, double beta) {
    if (!(alpha > 0) || !std::isfinite(alpha)) return;
    const double diagonal = 1 / std::sqrt(alpha), ratio = beside_ / diagonal;
    const part forth = grown(largest_, beside_ * last_, beside_ * beside_ + 1 / alpha);
    largest_ = forth.square;
    last_ = diagonal * forth.added;
    const double column = ratio * ratio * column_ + alpha;  // the last of R^-1, squared
    const part back = grown(inverse_, -ratio * product_, column);
    inverse_ = back.square;
    product_ = back.added * column - back.kept * ratio * product_;
    column_ = column;
    beside_ = std::sqrt(beta / alpha);
  }

  bool known() const {
    return largest_ > 0 && inverse_ > 0 && std::isfinite(largest_) && std::isfinite(inverse_);
  }
  double largest() const { return largest_; }
  double smallest() const { return 1 / inverse_; }
  /// For checkpoints.
  void keep(solver_state& state) {
    double all[] = {largest_, last_, inverse_, product_, column_, beside_};
    state.numbers("eigenvalues met", all, 6);
    largest_ = all[0], last_ = all[1], inverse_ = all[2], product_ = all[3], column_ = all[4], beside_ = all[5];
  }

 private:
  // The largest eigenvalue of [a b; b c] and its vector.
  struct part {
    double square, kept, added;
  };
  static part grown(double a, double b, double c) {
    const double half = (a - c) / 2, root = std::sqrt(half * half + b * b);
    const double x = half > 0 ? half + root : b, y = half > 0 ? b : root - half;
    const double size = std::sqrt(x * x + y * y);
    if (!(size > 0)) return {std::max(a, c), 0, 1};
    return {(a + c) / 2 + root, x / size, y / size};
  }

  double largest_ = 0, last_ = 0;  // ||R v||^2, and the last element of R v
  double inverse_ = 0, product_ = 0,
         column_ = 0;  // ||R^-1 w||^2, (R^-1 w)' R^-1 e, ||R^-1 e||^2 for the last e
  double beside_ = 0;  // what stands beside the last diagonal element of R
};

}  // namespace vouch
