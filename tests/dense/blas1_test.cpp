#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/blas1.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

using testing::devices;
__extension__ typedef __int128 wide;

template <class E>
struct set_of {
  static E make(std::int64_t lo, std::int64_t hi) {
    if constexpr (is_interval<E>)
      return E::unchecked(static_cast<bound_of<E>>(lo), static_cast<bound_of<E>>(hi));
    else
      return static_cast<E>(lo);
  }
  static wide lo(E e) { return static_cast<wide>(detail::lower(e)); }
  static wide hi(E e) { return static_cast<wide>(detail::upper(e)); }
};

// n sets of integers up to `largest`, some of which straddle 0.
template <class E>
std::vector<E> integers(std::int64_t n, std::int64_t largest, std::uint64_t seed) {
  std::vector<E> all;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const auto some = [&](std::uint64_t stream) {
      return static_cast<std::int64_t>(random_bits(seed + stream, at) %
                                       static_cast<std::uint64_t>(2 * largest + 1)) -
             largest;
    };
    const std::int64_t a = some(0), b = some(100);
    all.push_back(set_of<E>::make(std::min(a, b), std::max(a, b)));
  }
  return all;
}

// A vector of n elements with a stride, on a device; the elements between are not to be touched.
template <class E>
class strided {
 public:
  strided(const device& dev, const std::vector<E>& values, std::int64_t stride)
      : n_(static_cast<std::int64_t>(values.size())), stride_(stride) {
    std::vector<E> laid(static_cast<std::size_t>(n_ * std::abs(stride) + 1), set_of<E>::make(77, 78));
    for (std::int64_t i = 0; i < n_; ++i) laid[place(i)] = values[static_cast<std::size_t>(i)];
    memory_ = array<E>::from(dev, laid);
  }
  view<E> all() { return {memory_.data() + (n_ > 0 ? place(0) : 0), n_, stride_}; }
  view<const E> read() { return all(); }
  std::vector<E> values() const {
    const std::vector<E> laid = memory_.to_vector();
    std::vector<E> v;
    for (std::int64_t i = 0; i < n_; ++i) v.push_back(laid[place(i)]);
    std::size_t others = 0;
    for (const E& e : laid) others += e == set_of<E>::make(77, 78);
    EXPECT_GE(others, laid.size() - v.size());
    return v;
  }

 private:
  std::size_t place(std::int64_t i) const {
    return static_cast<std::size_t>(stride_ > 0 ? i * stride_ : (n_ - 1 - i) * -stride_);
  }
  std::int64_t n_, stride_;
  array<E> memory_;
};

struct bounds {
  wide lo = 0, hi = 0;
};
template <class X, class Y>
bounds product(X x, Y y) {
  const wide xl = set_of<X>::lo(x), xh = set_of<X>::hi(x), yl = set_of<Y>::lo(y), yh = set_of<Y>::hi(y);
  return {std::min({xl * yl, xl * yh, xh * yl, xh * yh}), std::max({xl * yl, xl * yh, xh * yl, xh * yh})};
}

constexpr std::int64_t sizes[] = {0, 1, 2, 31, 4096, 4097, 9000};
constexpr std::int64_t strides[] = {1, 2, -1, -3};

template <class E>
class blas1 : public ::testing::Test {};
using elements = ::testing::Types<float, double, interval<float>, interval<double>>;
TYPED_TEST_SUITE(blas1, elements);

// Small integers: every routine that does not divide or take roots is exact.
TYPED_TEST(blas1, integers_come_out_exactly) {
  using E = TypeParam;
  const std::int64_t largest = sizeof(bound_of<E>) == 8 ? 100000 : 30;
  for (const device& dev : devices())
    for (const std::int64_t n : sizes)
      for (const std::int64_t stride : strides) {
        const std::vector<E> a = integers<E>(n, largest, 1), b = integers<E>(n, largest, 2);
        const E alpha = set_of<E>::make(-3, 5);
        strided<E> x(dev, a, stride), y(dev, b, 1);
        axpy(dev, alpha, x.read(), y.all());
        const std::vector<E> sums = y.values();
        bounds inner, size;
        for (std::size_t i = 0; i < a.size(); ++i) {
          const bounds p = product(alpha, a[i]);
          EXPECT_EQ(set_of<E>::lo(sums[i]), p.lo + set_of<E>::lo(b[i]));
          EXPECT_EQ(set_of<E>::hi(sums[i]), p.hi + set_of<E>::hi(b[i]));
          const bounds q = product(a[i], b[i]);
          inner = {inner.lo + q.lo, inner.hi + q.hi};
          const wide l = set_of<E>::lo(a[i]), h = set_of<E>::hi(a[i]);
          const wide least = l > 0 ? l : h < 0 ? -h : 0, most = std::max(l < 0 ? -l : l, h < 0 ? -h : h);
          size = {size.lo + least, size.hi + most};
        }
        strided<E> z(dev, b, -2);
        const E got = dot(dev, x.read(), z.read());
        EXPECT_EQ(set_of<E>::lo(got), inner.lo) << dev.kind() << ' ' << n << ' ' << stride;
        EXPECT_EQ(set_of<E>::hi(got), inner.hi);
        const E norm = asum(dev, x.read());
        EXPECT_EQ(set_of<E>::lo(norm), is_interval<E> ? size.lo : size.hi);
        EXPECT_EQ(set_of<E>::hi(norm), size.hi);
        scal(dev, alpha, x.all());
        const std::vector<E> scaled = x.values();
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(set_of<E>::lo(scaled[i]), product(alpha, a[i]).lo);
        swap(dev, x.all(), z.all());
        EXPECT_EQ(x.values(), b);
        EXPECT_EQ(z.values(), scaled);
        copy(dev, z.read(), x.all());
        EXPECT_EQ(x.values(), scaled);
      }
}

TYPED_TEST(blas1, the_first_largest_and_smallest_are_found) {
  using E = TypeParam;
  for (const device& dev : devices()) {
    std::vector<E> v = integers<E>(10000, 1000, 3);
    for (const std::size_t i : {std::size_t{7777}, std::size_t{4100}, std::size_t{9000}})
      v[i] = set_of<E>::make(-5000, -5000);
    for (const std::size_t i : {std::size_t{50}, std::size_t{51}}) v[i] = set_of<E>::make(0, 0);
    for (std::size_t i = 0; i < 40; ++i)
      if (detail::smallest_size(v[i]) == 0) v[i] = set_of<E>::make(3, 3);
    strided<E> x(dev, v, -2);
    EXPECT_EQ(iamax(dev, x.read()), 4100);
    std::int64_t first = 0;
    while (detail::smallest_size(v[static_cast<std::size_t>(first)]) != 0) ++first;
    EXPECT_EQ(iamin(dev, x.read()), first);
    strided<E> none(dev, {}, 1);
    EXPECT_EQ(iamax(dev, none.read()), -1);
  }
}

// Long integers: sums are rounded, and must enclose; the bits are those of one thread.
TYPED_TEST(blas1, sums_enclose_and_have_the_same_bits_everywhere) {
  using E = TypeParam;
  using B = bound_of<E>;
  const int digits = std::numeric_limits<B>::digits;
  for (const std::int64_t n : {std::int64_t{3}, std::int64_t{4096}, std::int64_t{30001}}) {
    const std::vector<E> a = integers<E>(n, (std::int64_t{1} << digits) - 1, 4),
                         b = integers<E>(n, (std::int64_t{1} << digits) - 1, 5);
    bounds exact;
    long double magnitude = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bounds p = product(a[i], b[i]);
      exact = {exact.lo + p.lo, exact.hi + p.hi};
      magnitude += std::max(std::abs(static_cast<long double>(p.lo)), std::abs(static_cast<long double>(p.hi)));
    }
    const long double most = 300 * std::ldexp(magnitude, -digits);
    E first{};
    for (const device& dev : devices()) {
      strided<E> x(dev, a, 1), y(dev, b, 3);
      const E got = dot(dev, x.read(), y.read());
      if (dev.kind() == devices().front().kind() && dev.threads() == 1) first = got;
      EXPECT_EQ(std::memcmp(&first, &got, sizeof got), 0) << dev.kind();
      if constexpr (is_interval<E>) {
        EXPECT_LE(static_cast<wide>(got.lo()), exact.lo);
        EXPECT_GE(static_cast<wide>(got.hi()), exact.hi);
      } else {
        const interval<E> around = dot_enclosure(dev, x.read(), y.read());
        EXPECT_LE(static_cast<wide>(around.lo()), exact.lo);
        EXPECT_GE(static_cast<wide>(around.hi()), exact.hi);
        EXPECT_LE(static_cast<long double>(around.hi()) - static_cast<long double>(around.lo()), 2 * most);
      }
      EXPECT_LE(std::abs(static_cast<long double>(detail::lower(got)) - static_cast<long double>(exact.lo)),
                most);
      EXPECT_LE(std::abs(static_cast<long double>(detail::upper(got)) - static_cast<long double>(exact.hi)),
                most);
    }
  }
}

TYPED_TEST(blas1, norms_of_any_size) {
  using E = TypeParam;
  using B = bound_of<E>;
  const int far = sizeof(B) == 8 ? 1000 : 120;
  for (const device& dev : devices())
    for (const int exponent : {0, far, -far}) {
      const B unit = std::ldexp(B{1}, exponent);
      std::vector<E> v;
      for (int i = 0; i < 5000; ++i) v.push_back(E{static_cast<B>(i % 2 == 0 ? 3 : -4) * unit});
      strided<E> x(dev, v, 1);
      const E norm = nrm2(dev, x.read());
      // 2500 * 25 = 250^2
      const long double exact = 250 * static_cast<long double>(unit), u = std::numeric_limits<B>::epsilon();
      EXPECT_LE(static_cast<long double>(detail::lower(norm)), exact * (1 + (is_interval<E> ? 0 : 4 * u)));
      EXPECT_GE(static_cast<long double>(detail::upper(norm)), exact * (1 - (is_interval<E> ? 0 : 4 * u)));
      EXPECT_LE(static_cast<long double>(detail::upper(norm)) - static_cast<long double>(detail::lower(norm)),
                40 * u * exact);
    }
}

TYPED_TEST(blas1, modified_rotations) {
  using E = TypeParam;
  for (const device& dev : devices()) {
    const std::vector<E> a = integers<E>(300, 50, 6), b = integers<E>(300, 50, 7);
    strided<E> x(dev, a, 2), y(dev, b, -1);
    const auto entry = [](int v) { return set_of<E>::make(v, v); };
    rotm(dev, x.all(), y.all(), modified_rotation<E>{-1, entry(2), entry(-3), entry(5), entry(7)});
    const std::vector<E> p = x.values(), q = y.values();
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(set_of<E>::lo(p[i]), product(entry(2), a[i]).lo + product(entry(-3), b[i]).lo);
      EXPECT_EQ(set_of<E>::hi(q[i]), product(entry(5), a[i]).hi + product(entry(7), b[i]).hi);
    }
  }
}

TEST(blas1_shapes, sizes_that_differ_are_named) {
  for (const device& dev : devices()) {
    strided<double> x(dev, {1, 2, 3}, 1), y(dev, {1, 2}, 1);
    EXPECT_THROW(axpy(dev, 1.0, x.read(), y.all()), shape_error);
    EXPECT_THROW(dot(dev, x.read(), y.read()), shape_error);
    EXPECT_THROW(swap(dev, x.all(), y.all()), shape_error);
  }
}

TEST(blas1_memory, what_is_written_overlaps_nothing) {
  for (const device& dev : devices()) {
    strided<double> all(dev, {1, 2, 3, 4, 5, 6}, 1);
    double* const x = all.all().data();
    const auto message = [](auto call) -> std::string {
      try {
        call();
      } catch (const value_error& e) {
        return e.what();
      }
      return "nothing thrown";
    };
    const view<double> first(x, 4), shifted(x + 2, 4), odd(x + 1, 3, 2), backwards(x + 5, 3, -2);
    EXPECT_EQ(message([&] { axpy<double, double>(dev, 1.0, first, first); }), "axpy: y overlaps x");
    EXPECT_EQ(message([&] { copy<double, double>(dev, first, shifted); }), "copy: y overlaps x");
    EXPECT_EQ(message([&] { swap(dev, odd, backwards); }), "swap: y overlaps x");
    EXPECT_EQ(message([&] { rot(dev, shifted, first, 1.0, 0.0); }), "rotm: y overlaps x");
    EXPECT_EQ(message([&] { copy<double, double>(dev, view<const double>(x, 3, 0), view<double>(x, 3)); }),
              "copy: y overlaps x");
    EXPECT_EQ(message([&] { copy<double, double>(dev, view<const double>(x, 3, 0), view<double>(x, 3, 0)); }),
              "copy: y has the stride 0");
    // Every other element of one vector, and the elements between; and reading may overlap.
    swap(dev, view<double>(x, 3, 2), backwards);
    EXPECT_EQ(all.values(), (std::vector<double>{6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(dot(dev, view<const double>(first), view<const double>(shifted)), 6 * 4 + 5 * 3 + 4 * 2 + 3 * 1);
  }
}

// Unbounded and empty elements: the rules of IEEE 1788.
TEST(blas1_sets, anything_may_stand_in_a_vector) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  using I = interval<double>;
  for (const device& dev : devices()) {
    strided<I> x(dev, {I::entire(), I(2), I::unchecked(0, infinite)}, 1), y(dev, {I(0), I(3), I(1)}, 1);
    const I half_line = dot(dev, x.read(), y.read());
    EXPECT_EQ(half_line.lo(), 6);
    EXPECT_EQ(half_line.hi(), infinite);
    strided<I> z(dev, {I::empty(), I(1), I(1)}, 1);
    EXPECT_TRUE(is_empty(dot(dev, z.read(), y.read())));
    axpy(dev, I(2), z.read(), y.all());
    const std::vector<I> sums = y.values();
    EXPECT_TRUE(is_empty(sums[0]));
    EXPECT_EQ(sums[1], I(5));
  }
}

}  // namespace
}  // namespace vouch
