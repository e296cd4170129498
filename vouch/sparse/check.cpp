#include <vouch/sparse/check.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/sparse/valid_row.hpp>

namespace vouch {
namespace {

template <class T>
std::int64_t first_not_finite(const device& dev, const T* values, std::int64_t count) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return detail::first_not_finite_cuda(dev, values, count);
  std::int64_t first = count;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, count)) schedule(static) \
    reduction(min                                                                                  \
              : first)
  for (std::int64_t k = 0; k < count; ++k)
    if (!std::isfinite(values[k])) first = std::min(first, k);
  return first;
}

template <class T>
T fetched(const device& dev, const T* from) {
  T value;
  copy_bytes(&value, device::cpu(1), from, dev, sizeof value);
  return value;
}

// Where entry k of a valid matrix stands, and what it is.
template <class T>
std::string describe(const device& dev, csr_view<const T> A, std::int64_t k) {
  std::int64_t row = 0, behind = A.rows;  // row_ptr[row] <= k < row_ptr[behind]
  while (behind - row > 1) {
    const std::int64_t middle = row + (behind - row) / 2;
    (fetched(dev, A.row_ptr + middle) <= k ? row : behind) = middle;
  }
  return "entry " + std::to_string(k) + " of row " + std::to_string(row) + ", in column " +
         std::to_string(fetched(dev, A.col + k)) + ", is " +
         (std::isnan(fetched(dev, A.val + k)) ? "NaN" : "infinite");
}

}  // namespace

template <real T>
std::string check(const device& dev, csr_view<const T> A) {
  const ieee_environment here;
  constexpr const char* routine = "check";
  try {
    const valid_csr valid(routine, dev, A);
  } catch (const error& e) {
    return std::string(e.what()).substr(std::string(routine).size() + 2);
  }
  const std::int64_t k = first_not_finite(dev, A.val, A.nonzeros);
  return k < A.nonzeros ? describe(dev, A, k) : "";
}

template VOUCH_PUBLIC std::string check(const device&, csr_view<const float>);
template VOUCH_PUBLIC std::string check(const device&, csr_view<const double>);

}  // namespace vouch
