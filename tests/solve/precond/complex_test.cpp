// Preconditioners of complex matrices, given by their real form.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/precond/ilut.hpp>
#include <vouch/solve/precond/jacobi.hpp>

#include "devices.hpp"
#include "solve/precond/problems.hpp"

namespace vouch::testing {
namespace {

using complex = std::complex<double>;
using numbers = std::map<std::pair<std::int32_t, std::int32_t>, complex>;

// a + bi as [a -b; b a].
problem real_form(std::int64_t n, const numbers& A) {
  problem p{"complex", 2 * n, {}};
  const auto put = [&](std::int32_t i, std::int32_t j, double value) {
    if (value != 0) p.a[{i, j}] = value;
  };
  for (const auto& [place, value] : A) {
    const auto [i, j] = place;
    put(2 * i, 2 * j, value.real());
    put(2 * i, 2 * j + 1, -value.imag());
    put(2 * i + 1, 2 * j, value.imag());
    put(2 * i + 1, 2 * j + 1, value.real());
  }
  return p;
}

numbers times(complex factor, const problem& p) {
  numbers A;
  for (const auto& [place, value] : p.a) A[place] = factor * value;
  return A;
}

TEST(complex_preconditioner, jacobi_divides_by_complex_numbers) {
  const std::vector<complex> d{{0, 2}, {-3, 4}, {1, 0}, {1e-3, -1e3}};
  numbers A;
  for (std::int32_t i = 0; i < 4; ++i) A[{i, i}] = d[static_cast<std::size_t>(i)];
  A[{0, 3}] = {7, 1};
  const std::vector<double> r{1, 2, -3, 4, 5, 6, 7, -8};
  for (const device& dev : devices()) {
    const csr<double> S = to_sparse<double>(dev, real_form(4, A));
    const auto M = make_jacobi(dev, S.all());
    EXPECT_EQ(M->name(), "jacobi");
    EXPECT_EQ(M->diagonal(), nullptr);
    const std::vector<double> z = apply(dev, *M, r);
    for (std::size_t i = 0; i < 4; ++i) {
      const complex expected = complex(r[2 * i], r[2 * i + 1]) / d[i];
      EXPECT_LE(std::abs(complex(z[2 * i], z[2 * i + 1]) - expected), 2e-15 * std::abs(expected)) << i;
    }
  }
}

TEST(complex_preconditioner, jacobi_of_a_real_diagonal_is_the_real_one) {
  numbers A;
  for (std::int32_t i = 0; i < 4; ++i) A[{i, i}] = 2.0 + i;
  A[{0, 1}] = {0, 1};
  for (const device& dev : devices())
    EXPECT_NE(make_jacobi(dev, to_sparse<double>(dev, real_form(4, A)).all())->diagonal(), nullptr);
  A[{2, 2}] = 0;
  A[{3, 3}] = {1, 1};
  for (const device& dev : devices())
    EXPECT_THROW(make_jacobi(dev, to_sparse<double>(dev, real_form(4, A)).all()), value_error);
}

TEST(complex_preconditioner, multigrid_of_a_turned_matrix_is_that_of_the_matrix_for_both_parts) {
  const problem p = poisson(1, 40, 40);
  const std::vector<double> re = random_vector<double>(p.n, 1), im = random_vector<double>(p.n, 2);
  std::vector<double> r;
  for (std::size_t i = 0; i < re.size(); ++i) r.insert(r.end(), {re[i], im[i]});
  for (const device& dev : devices()) {
    const auto expected = make_amg<double>(dev, to_sparse<double>(dev, p).all());
    const auto M = make_amg<double>(dev, to_sparse<double>(dev, real_form(p.n, times({0, 1}, p))).all());
    EXPECT_EQ(M->rows(), 2 * p.n);
    const auto expect_both = [&](double factor) {
      const std::vector<double> z = apply(dev, *M, r), a = apply(dev, *expected, re),
                                b = apply(dev, *expected, im);
      for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(factor * z[2 * i], a[i]) << i;
        ASSERT_EQ(factor * z[2 * i + 1], b[i]) << i;
      }
    };
    expect_both(1);
    M->refill(to_sparse<double>(dev, real_form(p.n, times({0, -4}, p))).all());
    expect_both(4);
    EXPECT_THROW(M->refill(to_sparse<double>(dev, p).all()), shape_error);
  }
}

// Waves: rows sum to less than zero, and those of the real matrix to as much above it.
TEST(complex_preconditioner, multigrid_turns_negative_shifts_round) {
  const problem p = poisson(1, 30, 30);
  problem raised = p;
  numbers waves = times(1, p);
  for (std::int32_t i = 0; i < p.n; ++i) {
    double sum = 0;
    for (std::int32_t j = 0; j < p.n; ++j)
      if (const auto at = p.a.find({i, j}); at != p.a.end()) sum += at->second;
    waves[{i, i}] -= complex(0.5 + sum, 0.25);  // then it is -1/2 - i/4
    raised.a[{i, i}] = p.a.at({i, i}) - sum + std::abs(complex(0.5, 0.25));
  }
  const std::vector<double> re = random_vector<double>(p.n, 3);
  std::vector<double> r(2 * re.size());
  for (std::size_t i = 0; i < re.size(); ++i) r[2 * i] = re[i];
  for (const device& dev : devices()) {
    const std::vector<double> z =
        apply(dev, *make_amg<double>(dev, to_sparse<double>(dev, real_form(p.n, waves)).all()), r);
    const std::vector<double> expected =
        apply(dev, *make_amg<double>(dev, to_sparse<double>(dev, raised).all()), re);
    for (std::size_t i = 0; i < re.size(); ++i) {
      ASSERT_NEAR(z[2 * i], expected[i], 1e-5 * std::abs(expected[i]) + 1e-6) << i;
      ASSERT_EQ(z[2 * i + 1], 0) << i;
    }
  }
}

// Rows turned by powers of i: the factors are those of the real matrix, between turns.
TEST(complex_preconditioner, ilut_of_turned_rows_is_that_of_the_real_matrix_behind_turns) {
  problem p = random_spd(60, 5, 4);
  for (auto& [place, value] : p.a) value *= 1 + 0.3 * (place.second % 3);
  const std::vector<complex> power{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const auto turn = [&](std::int32_t i) { return power[static_cast<std::size_t>(i * i + i / 3) % 4]; };
  numbers A;
  for (const auto& [place, value] : p.a) A[place] = turn(place.first) * value;
  const std::vector<double> re = random_vector<double>(p.n, 5), im = random_vector<double>(p.n, 6);
  std::vector<double> r;
  for (std::int32_t i = 0; i < p.n; ++i) {
    const complex turned = turn(i) * complex(re[static_cast<std::size_t>(i)], im[static_cast<std::size_t>(i)]);
    r.insert(r.end(), {turned.real(), turned.imag()});
  }
  for (const ilut_options& options : {ilut_options{0.1, 1}, {1e-3, 3}, {0, 60}})
    for (const device& dev : devices()) {
      const auto expected = make_ilut<double>(dev, to_sparse<double>(dev, p).all(), options);
      const auto M = make_ilut<double>(dev, to_sparse<double>(dev, real_form(p.n, A)).all(), options);
      const std::vector<double> z = apply(dev, *M, r), a = apply(dev, *expected, re),
                                b = apply(dev, *expected, im);
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_NEAR(z[2 * i], a[i], 1e-12 * (1 + std::abs(a[i]))) << options.drop << ", " << i;
        EXPECT_NEAR(z[2 * i + 1], b[i], 1e-12 * (1 + std::abs(b[i]))) << options.drop << ", " << i;
      }
    }
}

TEST(complex_preconditioner, ilut_that_drops_nothing_is_the_inverse) {
  constexpr std::int32_t n = 40;
  const std::vector<double> random = random_vector<double>(4 * n * n, 8);
  std::size_t next = 0;
  numbers A;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      const complex value(random[next], random[next + 1]);
      next += 2;
      if (std::abs(i - j) <= 2 || (7 * i + j) % 11 == 0) A[{i, j}] = i == j ? 4.0 * value : value;
    }
  std::vector<complex> x, b(n);
  for (std::int32_t i = 0; i < n; ++i) x.emplace_back(i % 5 - 2.0, i % 3);
  for (const auto& [place, value] : A)
    b[static_cast<std::size_t>(place.first)] += value * x[static_cast<std::size_t>(place.second)];
  std::vector<double> parts;
  for (const complex& of : b) parts.insert(parts.end(), {of.real(), of.imag()});
  for (const device& dev : devices()) {
    const auto M = make_ilut<double>(dev, to_sparse<double>(dev, real_form(n, A)).all(), {0, n});
    const std::vector<double> z = apply(dev, *M, parts);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_LE(std::abs(complex(z[2 * i], z[2 * i + 1]) - x[i]), 1e-9) << i;
  }
}

}  // namespace
}  // namespace vouch::testing
