// tests/dense/blas2_cases.hpp -- vectors, bands and packed triangles as BLAS lays them out, poison around.
#pragma once
#include <cstdlib>
#include <vector>

#include "dense/integer_cases.hpp"

namespace vouch::testing {

// A column vector with a stride, poison between its elements.
template <class E>
class laid_vector {
 public:
  laid_vector(const device& dev, const exact_matrix& from, std::int64_t stride)
      : n_(from.rows), stride_(stride), memory_(dev, n_ * std::abs(stride) + 1) {
    for (std::int64_t i = 0; i < n_; ++i) memory_.host()[place(i)] = element<E>(from(i, 0));
  }
  view<E> all() { return {memory_.there() + (n_ > 0 ? place(0) : 0), n_, stride_}; }
  view<const E> read() { return all(); }
  void set(std::int64_t i, E e) { memory_.host()[place(i)] = e; }
  void expect(const exact_matrix& wanted, const char* what) {
    const std::vector<E>& got = memory_.back();
    for (std::int64_t i = 0; i < n_; ++i)
      ASSERT_TRUE(is(got[static_cast<std::size_t>(place(i))], wanted(i, 0)))
          << what << " at " << i << " of " << n_ << ", stride " << stride_;
    std::int64_t poisoned = 0;
    for (const E& e : got) poisoned += detail::lower(e) != detail::lower(e);
    EXPECT_EQ(poisoned, static_cast<std::int64_t>(got.size()) - n_) << what;
  }

 private:
  std::int64_t place(std::int64_t i) const { return stride_ < 0 ? (n_ - 1 - i) * -stride_ : i * stride_; }

  std::int64_t n_, stride_;
  mirrored<E> memory_;
};

// 0 outside the band.
inline exact_matrix banded(exact_matrix A, std::int64_t kl, std::int64_t ku) {
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i)
      if (i > j + kl || j > i + ku) A(i, j) = {};
  return A;
}

// BLAS's band array, poison where no entry stands.
template <class E>
matrix<E> band_array(const exact_matrix& A, std::int64_t kl, std::int64_t ku) {
  matrix<E> band(device::cpu(1), kl + ku + 1, A.cols);
  for (std::int64_t j = 0; j < A.cols; ++j) {
    for (std::int64_t r = 0; r < kl + ku + 1; ++r) band(r, j) = poison<E>();
    for (std::int64_t i = std::max<std::int64_t>(0, j - ku); i <= std::min(A.rows - 1, j + kl); ++i)
      band(ku + i - j, j) = element<E>(A(i, j));
  }
  return band;
}

template <class E>
std::vector<E> packed_array(const exact_matrix& A, triangle stored) {
  std::vector<E> packed;
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = stored == triangle::lower ? j : 0; i < (stored == triangle::lower ? A.rows : j + 1);
         ++i)
      packed.push_back(element<E>(A(i, j)));
  return packed;
}
template <class E>
view<const E> view_of(const std::vector<E>& v) {
  return {v.data(), static_cast<std::int64_t>(v.size())};
}

inline constexpr std::int64_t sizes[] = {0, 1, 3, 65, 97};
inline constexpr std::int64_t strides[] = {1, -1, 3, -2};

}  // namespace vouch::testing
