#include <vouch/sparse/structure_symmetry.hpp>

#include <algorithm>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/spmv_layouts.hpp>
#include <vouch/sparse/structure_row.hpp>

namespace vouch {
namespace {

using namespace detail;

constexpr std::int64_t chunk = 4096;  // rows that a thread takes at a time

// Where mirror images of entries stand: in the next row most often at the same place of theirs as in this one.
class mirror_search {
 public:
  // Of the entry of row i in column col, the row's k-th.
  template <class T>
  std::int64_t find(csr_view<const T> A, std::int64_t i, std::int64_t col, std::int64_t k) {
    if (k >= most) return find_entry(A, col, i);
    std::int64_t& place = places_[k];
    const std::int64_t guess = A.row_ptr[col] + place;
    if (guess < A.row_ptr[col + 1] && A.col[guess] == i) return guess;
    const std::int64_t found = find_entry(A, col, i);
    if (found != no_entry) place = found - A.row_ptr[col];
    return found;
  }

 private:
  static constexpr std::int64_t most = 32;
  std::int64_t places_[most] = {};
};

// Every entry above the diagonal has its equal below, and none is left over there.
template <class T>
bool mirrors_itself(csr_view<const T> A, int threads) {
  bool equal = true;
  std::int64_t surplus = 0;  // entries above less entries below
  mirror_search search;
#pragma omp parallel for firstprivate(ieee) firstprivate(search) num_threads(loop_threads(threads, A.nonzeros)) \
    schedule(dynamic, chunk) reduction(&& : equal) reduction(+ : surplus)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    if (!equal) continue;
    const std::int64_t begin = A.row_ptr[i];
    for (std::int64_t k = begin; k < A.row_ptr[i + 1]; ++k) {
      surplus += (A.col[k] > i) - (A.col[k] < i);
      if (A.col[k] <= i) continue;
      const std::int64_t mirror = search.find(A, i, A.col[k], k - begin);
      if (mirror == no_entry || A.val[mirror] != A.val[k]) equal = false;
    }
  }
  return equal && surplus == 0;
}

template <class T>
unsymmetric_entry describe(csr_view<const T> A, std::int64_t place) {
  const std::int64_t row = std::upper_bound(A.row_ptr, A.row_ptr + A.rows + 1, place) - A.row_ptr - 1;
  const std::int64_t mirror = find_entry(A, A.col[place], row);
  return {row, A.col[place], double{A.val[place]}, mirror == no_entry ? 0.0 : double{A.val[mirror]}};
}

}  // namespace

template <real T>
symmetry_facts check_symmetry(csr_view<const T> A, int threads) {
  const ieee_environment here;
  if (mirrors_itself(A, threads)) return {true, {}};
  bool pattern = true;
  std::int64_t first = no_row;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(threads, A.nonzeros)) schedule(dynamic, chunk) \
    reduction(&& : pattern) reduction(min : first)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t mirror = find_entry(A, A.col[k], i);
      pattern = pattern && mirror != no_entry;
      if (A.val[k] != (mirror == no_entry ? T{0} : A.val[mirror])) first = std::min(first, k);
    }
  if (first == no_row) return {pattern, {}};
  return {pattern, describe(A, first)};
}

template <real T>
bool is_complex_symmetric(const device& dev, csr_view<const T> A) {
  if (A.rows != A.cols || !detail::holds_complex_numbers(dev, A)) return false;
  if (dev.is_cuda()) {
    const device cpu = device::cpu();
    return is_complex_symmetric<T>(cpu, copy<T>(cpu, dev, A));
  }
  bool equal = true;
  // The parts of row i of the complex matrix stand in row 2i; the other one has the same again.
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static) \
    reduction(&& : equal)
  for (std::int64_t i = 0; i < A.rows; i += 2)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1] && equal; ++k) {
      const std::int64_t part = A.col[k] % 2, mirror = find_entry(A, A.col[k] - part, i + part);
      equal = A.val[k] == (mirror == no_entry ? T{0} : A.val[mirror]);
    }
  return equal;
}

template bool is_complex_symmetric(const device&, csr_view<const float>);
template bool is_complex_symmetric(const device&, csr_view<const double>);
template symmetry_facts check_symmetry(csr_view<const float>, int);
template symmetry_facts check_symmetry(csr_view<const double>, int);

}  // namespace vouch
