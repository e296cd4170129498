// vouch/solve/precond/chebyshev_recurrence.hpp -- the scalars of a Chebyshev polynomial, whoever applies the matrix; private.
#pragma once
#include <cstdint>
#include <sstream>
#include <string>

#include <vouch/core/error.hpp>

namespace vouch {

/// Throws  value_error  a degree that is not offered
inline void require_chebyshev_degree(std::int64_t degree) {
  constexpr std::int64_t largest = 64;
  if (degree < 1 || degree > largest)
    throw value_error("chebyshev: degree " + std::to_string(degree),
                      "degrees go from 1 to " + std::to_string(largest));
}

/// Chebyshev iteration for A z = r from z = 0, written with the last two iterates alone:
/// z_{k+1} = (1 + m) z_k - m z_{k-1} + s (r - A z_k)/D.
class chebyshev_recurrence {
 public:
  /// For eigenvalues of D^-1 A up to bound.
  chebyshev_recurrence(double bound, std::int64_t degree)
      : bound_(bound), low_(bound / static_cast<double>((degree + 1) * (degree + 1))), degree_(degree) {}

  std::int64_t degree() const { return degree_; }
  std::string name() const {
    std::ostringstream text;
    text << "chebyshev (degree " << degree_ << ", eigenvalues to " << bound_ << ")";
    return text.str();
  }

  /// The first iterate is this times D^-1 r.
  double first_factor() const { return 1 / middle(); }

  /// step(1 + m, -m, s) for each of the others; at the first there is no z before.
  template <class Step>
  void for_each_step(const Step& step) const {
    const double half_width = (bound_ - low_) / 2, sigma = middle() / half_width;
    double rho = 1 / sigma;
    for (std::int64_t k = 1; k <= degree_; ++k) {
      const double next = 1 / (2 * sigma - rho), momentum = next * rho;
      step(1 + momentum, k == 1 ? 0.0 : -momentum, 2 * next / half_width);
      rho = next;
    }
  }

 private:
  double middle() const { return (bound_ + low_) / 2; }

  double bound_, low_;
  std::int64_t degree_;
};

}  // namespace vouch
