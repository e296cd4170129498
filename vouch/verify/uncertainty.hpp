// vouch/verify/uncertainty.hpp -- data that are known within a relative radius only.
#pragma once

namespace vouch {

/// Every a_ij stands for all numbers within matrix * |a_ij| of it, every b_i likewise with rhs: bounds then
/// hold for the solutions of all these systems. 0 means the number itself.
struct uncertainty {
  double matrix = 0;  // below 1
  double rhs = 0;
};

}  // namespace vouch
