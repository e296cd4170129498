// Every routine with every combination of its parameters, storages, strides and leading dimensions on small
// integers: the results must be exact, and nothing beside the operands may be read or written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/blas/avx512.hpp>
#include <vouch/dense/blas2.hpp>

#include "dense/blas2_cases.hpp"

namespace vouch {
namespace {

using namespace testing;

template <class Types>
class blas2 : public ::testing::Test {
 protected:
  using type_a = typename Types::a;
  using type_x = typename Types::b;
  using type_y = typename Types::c;
  static constexpr bool two_types = std::same_as<type_x, type_y>;  // as in-place routines have
  static type_y value(whole w) { return element<type_y>(w); }

  std::vector<whole> factors() const {
    if constexpr (is_interval<type_y>) return {{0, 0}, {1, 1}, {-2, 3}};
    return {{0, 0}, {1, 1}, {-2, -2}};
  }
};
TYPED_TEST_SUITE(blas2, all_types);

TYPED_TEST(blas2, gemv_and_gbmv) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    using TA = typename f::type_a;
    const whole beta{3, 3};
    std::size_t turn = 0;
    for (const std::int64_t m : sizes)
      for (const std::int64_t n : sizes)
        for (const transpose trans : both_transposes)
          for (const whole alpha : this->factors()) {
            const bool t = trans == transpose::yes;
            const auto a = random_matrix<TA>(m, n, 1);
            const auto x = random_matrix<typename f::type_x>(t ? m : n, 1, 2);
            const auto y = random_matrix<typename f::type_y>(t ? n : m, 1, 3);
            laid_out<TA> A(dev, a);
            laid_vector<typename f::type_x> X(dev, x, strides[turn++ % 4]);
            laid_vector<typename f::type_y> Y(dev, y, strides[turn / 4 % 4]), Z(dev, y, 1);
            gemv(dev, trans, f::value(alpha), A.read(), X.read(), f::value(beta), Y.all());
            Y.expect(combination(alpha, product(a.transposed(t), x), beta, y), "gemv");
            if (!(alpha == this->factors().back())) continue;
            for (const std::int64_t kl : {0, 2, 90})
              for (const std::int64_t ku : {0, 1, 75}) {
                const auto b = banded(a, kl, ku);
                const auto band = band_array<TA>(b, kl, ku);
                laid_vector<typename f::type_y> W(dev, y, -1);
                gbmv(dev, trans, m, kl, ku, f::value(alpha), band.to(dev).read(), X.read(), f::value(beta),
                     W.all());
                W.expect(combination(alpha, product(b.transposed(t), x), beta, y), "gbmv");
              }
          }
  }
}

TYPED_TEST(blas2, beta_of_zero_overwrites_anything) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    const exact_matrix zero(3, 3), vector(3, 1);
    laid_out<typename f::type_a> A(dev, zero);
    laid_vector<typename f::type_x> X(dev, vector, 1);
    laid_vector<typename f::type_y> Y(dev, vector, 2);
    Y.set(1, poison<typename f::type_y>());
    gemv(dev, transpose::no, f::value({1, 1}), A.read(), X.read(), f::value({0, 0}), Y.all());
    Y.expect(vector, "gemv");
  }
}

TYPED_TEST(blas2, symv_sbmv_and_spmv) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    using TA = typename f::type_a;
    std::size_t turn = 0;
    for (const std::int64_t n : sizes)
      for (const triangle stored : both_triangles)
        for (const whole alpha : this->factors())
          for (const whole beta : this->factors()) {
            const auto a = random_matrix<TA>(n, n, 1);
            const auto x = random_matrix<typename f::type_x>(n, 1, 2);
            const auto y = random_matrix<typename f::type_y>(n, 1, 3);
            laid_out<TA> A(dev, a);
            poison_unread(A.host(), stored);
            laid_vector<typename f::type_x> X(dev, x, strides[turn++ % 4]);
            laid_vector<typename f::type_y> Y(dev, y, strides[turn / 4 % 4]), Z(dev, y, 1);
            const auto wanted = combination(alpha, product(symmetric_of(a, stored), x), beta, y);
            symv(dev, stored, f::value(alpha), A.read(), X.read(), f::value(beta), Y.all());
            Y.expect(wanted, "symv");
            const auto packed = packed_array<TA>(a, stored);
            const auto on_dev = array<TA>::from(dev, packed);
            spmv(dev, stored, f::value(alpha), on_dev.all(), X.read(), f::value(beta), Z.all());
            Z.expect(wanted, "spmv");
            for (const std::int64_t k : {0, 1, 5, 140}) {
              const std::int64_t kl = stored == triangle::lower ? k : 0, ku = k - kl;
              const auto b = banded(a, k, k);
              const auto band = band_array<TA>(banded(a, kl, ku), kl, ku);
              laid_vector<typename f::type_y> W(dev, y, -3);
              sbmv(dev, stored, k, f::value(alpha), band.to(dev).read(), X.read(), f::value(beta), W.all());
              W.expect(combination(alpha, product(symmetric_of(b, stored), x), beta, y), "sbmv");
            }
          }
  }
}

TYPED_TEST(blas2, ger) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    for (const std::int64_t m : sizes)
      for (const std::int64_t n : sizes)
        for (const whole alpha : this->factors()) {
          const auto x = random_matrix<typename f::type_a>(m, 1, 1);
          const auto y = random_matrix<typename f::type_x>(n, 1, 2);
          const auto a = random_matrix<typename f::type_y>(m, n, 3);
          laid_vector<typename f::type_a> X(dev, x, -1);
          laid_vector<typename f::type_x> Y(dev, y, 2);
          laid_out<typename f::type_y> A(dev, a);
          ger(dev, f::value(alpha), X.read(), Y.read(), A.all());
          A.expect(combination(alpha, product(x, y.transposed()), {1, 1}, a), "ger");
        }
  }
}

TYPED_TEST(blas2, syr_spr_syr2_and_spr2) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    using TX = typename f::type_a;
    using E = typename f::type_y;
    if constexpr (std::same_as<TX, typename f::type_x>)
      for (const std::int64_t n : sizes)
        for (const triangle stored : both_triangles)
          for (const whole alpha : this->factors()) {
            const auto x = random_matrix<TX>(n, 1, 1), y = random_matrix<TX>(n, 1, 2);
            const auto a = random_matrix<E>(n, n, 3);
            laid_vector<TX> X(dev, x, -1), Y(dev, y, 2);
            auto xx = product(x, x.transposed());
            for (std::int64_t i = 0; i < n; ++i) xx(i, i) = square(x(i, 0));
            const auto xy = product(x, y.transposed()), yx = product(y, x.transposed());
            const auto one = combination(alpha, xx, {1, 1}, a);
            const auto two = combination(alpha, xy, {1, 1}, combination(alpha, yx, {1, 1}, a));
            const auto expect = [&](const exact_matrix& sum, laid_out<E>& A, const array<E>& packed) {
              exact_matrix wanted = a;
              for (std::int64_t j = 0; j < n; ++j)
                for (std::int64_t i = 0; i < n; ++i)
                  if (stored == triangle::lower ? i >= j : i <= j) wanted(i, j) = sum(i, j);
              A.expect(wanted, "syr");
              EXPECT_EQ(packed.to_vector(), packed_array<E>(sum, stored));
            };
            laid_out<E> A(dev, a), B(dev, a);
            auto packed_a = array<E>::from(dev, packed_array<E>(a, stored));
            auto packed_b = packed_a.to(dev);
            syr(dev, stored, f::value(alpha), X.read(), A.all());
            spr(dev, stored, f::value(alpha), X.read(), packed_a.all());
            expect(one, A, packed_a);
            syr2(dev, stored, f::value(alpha), X.read(), Y.read(), B.all());
            spr2(dev, stored, f::value(alpha), X.read(), Y.read(), packed_b.all());
            expect(two, B, packed_b);
          }
  }
}

// Long enough for several pieces, blocks and threads.
TYPED_TEST(blas2, same_bits_for_any_number_of_threads_and_without_registers) {
  using f = TestFixture;
  using T = bound_of<typename f::type_y>;
  const auto some = [](auto type, std::uint64_t seed, std::int64_t i) {
    using E = decltype(type);
    const auto x = static_cast<T>(random_unit(seed, static_cast<std::uint64_t>(2 * i)) - 0.5);
    if constexpr (is_interval<E>)
      return E::unchecked(x, x + static_cast<T>(random_unit(seed, static_cast<std::uint64_t>(2 * i + 1))));
    else
      return x;
  };
  for (const auto& [m, n] : {std::pair{9000, 20}, {20, 5000}})
    for (const transpose trans : both_transposes) {
      const std::int64_t nx = trans == transpose::no ? n : m, ny = m + n - nx;
      matrix<typename f::type_a> A(device::cpu(1), m, n);
      array<typename f::type_x> x(device::cpu(1), nx);
      for (std::int64_t i = 0; i < A.rows() * A.cols(); ++i) A.data()[i] = some(typename f::type_a{}, 1, i);
      for (std::int64_t i = 0; i < nx; ++i) x[i] = some(typename f::type_x{}, 2, i);
      const auto run = [&](const device& dev) {
        const auto on_dev = A.to(dev);
        const auto x_there = x.to(dev);
        auto y = array<typename f::type_y>::zeros(dev, ny);
        gemv(dev, trans, f::value({1, 1}), on_dev.read(), x_there.all(), f::value({1, 1}), y.all());
        return y.to_vector();
      };
      const auto one = run(device::cpu(1)), three = run(device::cpu(3));
      EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof one[0]), 0);
      for (const device& gpu : gpus()) EXPECT_EQ(run(gpu), one);
#if VOUCH_HAS_AVX512
      avx512::switched_off = true;
      EXPECT_EQ(run(device::cpu(2)), one);
      avx512::switched_off = false;
#endif
    }
}

TEST(blas2_errors, name_sizes_and_elements) {
  const device dev = device::cpu(1);
  const auto A = matrix<double>::zeros(dev, 3, 2);
  auto x = array<double>::zeros(dev, 3), z = array<double>::zeros(dev, 3);
  const auto no = transpose::no;
  const view<const double> read = x.all();
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const error& e) {
      return e.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(message([&] { gemv(dev, no, 1.0, A.all(), read, 0.0, z.all()); }), "gemv: x has 3 elements, not 2");
  EXPECT_EQ(message([&] { symv(dev, triangle::lower, 1.0, A.all(), read, 0.0, z.all()); }),
            "symv: A is 3-by-2, not square");
  EXPECT_EQ(message([&] { gbmv(dev, no, 3, -1, 0, 1.0, A.all(), read, 0.0, x.all()); }),
            "gbmv: -1 diagonals beside the main one");
  EXPECT_EQ(message([&] { gbmv(dev, no, 3, 0, 0, 1.0, A.all(), read, 0.0, x.all()); }),
            "gbmv: A is 3-by-2, not 1-by-2");
  EXPECT_EQ(message([&] { tpsv(dev, triangle::lower, no, diagonal::unit, read, z.all()); }),
            "tpsv: A has 3 elements, not 6");
  EXPECT_EQ(message([&] { gemv(dev, no, 1.0, A.all(), view<const double>(x.data(), 2), 0.0, x.all()); }),
            "gemv: y overlaps x");
  const view<double> one_place(x.data(), 3, 0);
  EXPECT_EQ(message([&] { gemv(dev, transpose::yes, 1.0, A.all(), read, 0.0, view<double>(x.data(), 2, 0)); }),
            "gemv: y has the stride 0");
  EXPECT_EQ(message([&] {
              ger<double, double>(dev, 1.0, one_place, read, matrix_view<double>{x.data(), 3, 3, 0});
            }),
            "ger: A overlaps x");
  auto B = matrix<double>::zeros(dev, 3, 3);
  EXPECT_EQ(message([&] { trsv(dev, triangle::lower, no, diagonal::unit, B.read(), one_place); }),
            "trsv: x has the stride 0");
  // A row and a column of one matrix: apart, and meeting in an element.
  ger(dev, 1.0, view<const double>(&B(1, 0), 2), view<const double>(&B(0, 1), 2, 3), B.all().block(1, 1, 2, 2));
  EXPECT_EQ(message([&] {
              ger(dev, 1.0, view<const double>(&B(1, 1), 2), view<const double>(&B(0, 1), 2, 3),
                  B.all().block(1, 1, 2, 2));
            }),
            "ger: A overlaps x");
  const std::vector<interval<double>> packed{interval<double>(1.0), interval<double>(2.0),
                                             interval<double>::unchecked(-1, 0)};
  auto y = array<interval<double>>::zeros(dev, 2);
  EXPECT_EQ(message([&] { tpsv(dev, triangle::upper, no, diagonal::general, view_of(packed), y.all()); }),
            "tpsv: the diagonal element (1, 1) holds 0");
}

}  // namespace
}  // namespace vouch
