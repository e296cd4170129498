#include <vouch/sparse/structure_symmetry.hpp>

#include <algorithm>
#include <limits>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>

namespace vouch {
namespace {

constexpr std::int64_t chunk = 4096;  // rows that a thread takes at a time
constexpr std::int64_t short_row = 16;
constexpr std::int64_t missing = -1;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// Where column col stands in a row, or missing.
template <class T>
std::int64_t find(csr_view<const T> A, std::int64_t row, std::int64_t col) {
  const std::int64_t first = A.row_ptr[row], last = A.row_ptr[row + 1];
  std::int64_t place = first;
  if (last - first <= short_row)
    for (std::int64_t k = first; k < last; ++k) place += A.col[k] < col;
  else
    place = std::lower_bound(A.col + first, A.col + last, col) - A.col;
  return place < last && A.col[place] == col ? place : missing;
}

// Every entry above the diagonal has its equal below, and none is left over there.
template <class T>
bool mirrors_itself(csr_view<const T> A, int threads) {
  bool equal = true;
  std::int64_t surplus = 0;  // entries above less entries below
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(threads, A.nonzeros)) schedule(dynamic, chunk) \
    reduction(&& : equal) reduction(+ : surplus)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    if (!equal) continue;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      surplus += (A.col[k] > i) - (A.col[k] < i);
      if (A.col[k] <= i) continue;
      const std::int64_t mirror = find(A, A.col[k], i);
      if (mirror == missing || A.val[mirror] != A.val[k]) equal = false;
    }
  }
  return equal && surplus == 0;
}

template <class T>
unsymmetric_entry describe(csr_view<const T> A, std::int64_t place) {
  const std::int64_t row = std::upper_bound(A.row_ptr, A.row_ptr + A.rows + 1, place) - A.row_ptr - 1;
  const std::int64_t mirror = find(A, A.col[place], row);
  return {row, A.col[place], double{A.val[place]}, mirror == missing ? 0.0 : double{A.val[mirror]}};
}

}  // namespace

template <real T>
symmetry_facts check_symmetry(csr_view<const T> A, int threads) {
  const ieee_environment here;
  if (mirrors_itself(A, threads)) return {true, {}};
  bool pattern = true;
  std::int64_t first = never;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(threads, A.nonzeros)) schedule(dynamic, chunk) \
    reduction(&& : pattern) reduction(min : first)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t mirror = find(A, A.col[k], i);
      pattern = pattern && mirror != missing;
      if (A.val[k] != (mirror == missing ? T{0} : A.val[mirror])) first = std::min(first, k);
    }
  if (first == never) return {pattern, {}};
  return {pattern, describe(A, first)};
}

template symmetry_facts check_symmetry(csr_view<const float>, int);
template symmetry_facts check_symmetry(csr_view<const double>, int);

}  // namespace vouch
