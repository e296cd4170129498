// vouch/verify/bicgstab.hpp -- approximate solutions of unsymmetric systems that a proof starts from; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch::detail {

/// Improves x until the recurrence says ||b - A x||_2 <= rtol ||b||_2, at most so many steps.
///
/// Memory  A, b and x live on dev.
/// Result  False where it did not come so far. An approximation: nothing is checked.
/// Source  van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992).
template <real T>
bool bicgstab(const device& dev, const spmv_plan<T>& A, view<const T> b, view<T> x, double rtol,
              int most_steps = 20000);

}  // namespace vouch::detail
