// Products, sums and small systems have the same bits in every floating-point environment.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <vouch/dense/blas1.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/elementwise.hpp>
#include <vouch/dense/rounded_sums.hpp>
#include <vouch/dense/small_systems.hpp>

#include "hostile.hpp"

namespace vouch {
namespace {

template <class Work>
void expect_same_everywhere(const char* what, Work work) {
  const std::vector<double> usual = work();
  for (const testing::hostile_environment& how : testing::hostile_environments()) {
    const std::vector<double> there = testing::in(how, work);
    ASSERT_EQ(there.size(), usual.size());
    EXPECT_EQ(std::memcmp(there.data(), usual.data(), usual.size() * sizeof(double)), 0)
        << what << ", " << how.name;
  }
}

std::vector<double> bounds(view<const interval<double>> x) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < x.size(); ++i) all.insert(all.end(), {x[i].lo(), x[i].hi()});
  return all;
}

constexpr std::int64_t n = 40;

// Products are subnormal, and every sum is rounded.
array<interval<double>> small_intervals(int seed) {
  std::vector<interval<double>> x;
  for (int k = 0; k < n * n; ++k) {
    const double mid = std::ldexp(((k + seed) * 37 % 101) / 101.0 - 0.5, -520 - (k * seed) % 20);
    x.push_back(interval<double>::unchecked(mid - std::ldexp(1.0, -570), mid));
  }
  return array<interval<double>>::from(device::cpu(1), x);
}

TEST(environment, products_of_intervals) {
  const device cpu = device::cpu(4);
  const auto a = small_intervals(3), b = small_intervals(5);
  for (const gemm_mode mode : {gemm_mode::tight, gemm_mode::fast, gemm_mode::exact})
    expect_same_everywhere("gemm", [&] {
      array<interval<double>> c(cpu, n * n);
      gemm<interval<double>, interval<double>, interval<double>>(cpu, transpose::no, transpose::no, 1.0,
                                                                 {a.data(), n, n, n}, {b.data(), n, n, n}, 0.0,
                                                                 {c.data(), n, n, n}, mode);
      return bounds(c);
    });
  expect_same_everywhere("dot", [&] {
    const interval<double> x = dot<interval<double>, interval<double>>(cpu, a, b);
    return std::vector<double>{x.lo(), x.hi()};
  });
}

TEST(environment, vectors_of_intervals) {
  using I = interval<double>;
  const device cpu = device::cpu(4);
  const auto a = small_intervals(3), x = small_intervals(5);
  const std::vector<I> others = small_intervals(7).to_vector();
  expect_same_everywhere("gemv", [&] {
    array<I> y = array<I>::zeros(cpu, n);
    gemv<I, I, I>(cpu, transpose::no, I(1.0), {a.data(), n, n, n}, {x.data(), n}, I(), y);
    return bounds(y);
  });
  expect_same_everywhere("axpy", [&] {
    auto y = array<I>::from(cpu, others);
    axpy<I, I>(cpu, I(0x1p-520), x, y);
    return bounds(y);
  });
  expect_same_everywhere("mid", [&] {
    array<double> m(cpu, n * n);
    mid<double>(cpu, x, m);
    return m.to_vector();
  });
}

TEST(environment, sums_rounded_once) {
  const device cpu = device::cpu(4);
  std::vector<double> numbers;
  for (int k = 0; k < 5000; ++k) numbers.push_back(std::ldexp(1 + (k * 37 % 101) / 101.0, -500 - k % 60));
  const auto x = array<double>::from(cpu, numbers);
  expect_same_everywhere("rounded_dot", [&] {
    const rounded<double> sum = rounded_sum<double>(cpu, x), dot = rounded_dot<double>(cpu, x, x);
    return std::vector<double>{sum.down, sum.nearest, sum.up, dot.down, dot.nearest, dot.up};
  });
}

TEST(environment, small_systems) {
  const device cpu = device::cpu(1);
  for (const double scale : {1.0, 0x1p-1000, 0x1p-1060}) {
    const auto A = array<double>::from(cpu, std::vector<double>{3 * scale, 1 * scale, 1 * scale, 2 * scale});
    const auto b = array<double>::from(cpu, std::vector<double>{1 * scale, 7 * scale});
    expect_same_everywhere("enclose_solution", [&] {
      const auto x = enclose_solution<double, double>(cpu, {A.data(), 2, 2, 2}, {b.data(), 2, 1, 2});
      std::vector<double> all{static_cast<double>(x.result)};
      for (int i = 0; i < 2; ++i) all.insert(all.end(), {x.enclosure(i, 0).lo(), x.enclosure(i, 0).hi()});
      return all;
    });
  }
}

}  // namespace
}  // namespace vouch
