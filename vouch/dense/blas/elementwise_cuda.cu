#include <vouch/core/parallel_for.cuh>
#include <vouch/dense/blas/complex_bodies.hpp>
#include <vouch/dense/blas/elementwise_bodies.hpp>

namespace vouch::detail {

template <class Body>
void each_element_cuda(const device& dev, const char* name, std::int64_t n, const Body& body) {
  parallel_for(dev, name, n, body);
}

#define VOUCH_BODY(body) template void each_element_cuda(const device&, const char*, std::int64_t, const body&);
#define VOUCH_BODIES(T)                  \
  VOUCH_BODY(hulls<T>)                   \
  VOUCH_BODY(intersections<T>)           \
  VOUCH_BODY(midpoints<T>)               \
  VOUCH_BODY(radii<T>)                   \
  VOUCH_BODY(ball_hulls<T>)              \
  VOUCH_BODY(parts_of_factor<T>)         \
  VOUCH_BODY(negatives<T>)               \
  VOUCH_BODY(sums_of_parts<T>)           \
  VOUCH_BODY(hermitian_sums<T>)          \
  VOUCH_BODY(symmetric_sums<T>)          \
  VOUCH_BODY(small_solutions<T>)         \
  VOUCH_BODY(matrix_multiples<T>)        \
  VOUCH_BODY(complex_sizes<T>)           \
  VOUCH_BODY(complex_multiples<T>)       \
  VOUCH_BODY(turned_parts<T>)            \
  VOUCH_BODY(product_from_parts<T>)      \
  VOUCH_BODY(column_factors<T>)          \
  VOUCH_BODY(square_diagonal_entries<T>) \
  VOUCH_BODY(mixed_diagonal_entries<T>)

VOUCH_BODIES(float)
VOUCH_BODIES(double)

}  // namespace vouch::detail
