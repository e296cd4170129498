// vouch/verify/uncertainty.hpp -- data that are known within a relative radius only.
#pragma once
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Every a_ij stands for all numbers within matrix * |a_ij| of it, every b_i likewise with rhs: bounds then
/// hold for the solutions of all these systems. 0 means the number itself. What takes radii throws value_error
/// for one that is negative, infinite or NaN; nothing is ever proved of a matrix with a radius of 1 or more.
struct uncertainty {
  double matrix = 0;
  double rhs = 0;
};

namespace detail {
/// Throws  value_error  a radius that is negative or not finite; the text names it
void require_radii(const char* routine, const uncertainty& within);
}  // namespace detail

}  // namespace vouch
