// Products and systems with triangles, bands and packed triangles of small integers: the results must be exact,
// and nothing beside the operands may be read or written.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include <vouch/dense/blas/avx512.hpp>
#include <vouch/dense/blas2.hpp>

#include "dense/blas2_cases.hpp"

namespace vouch {
namespace {

using namespace testing;

template <class Types>
class triangles : public ::testing::Test {
 protected:
  using type_a = typename Types::a;
  using type_x = typename Types::b;
  static constexpr bool in_place = std::same_as<type_x, typename Types::c>;
};
TYPED_TEST_SUITE(triangles, all_types);

// Calls body for every triangle, transposition and diagonal.
template <class Body>
void for_triangles(const Body& body) {
  for (const triangle stored : both_triangles)
    for (const transpose trans : both_transposes)
      for (const diagonal unit : both_diagonals) body(stored, trans, unit);
}

// The diagonal is the last row of an upper band and the first of a lower one.
template <class E>
void poison_band_diagonal(matrix<E>& band, triangle stored, diagonal unit) {
  if (unit == diagonal::unit)
    for (std::int64_t j = 0; j < band.cols(); ++j)
      band(stored == triangle::lower ? 0 : band.rows() - 1, j) = poison<E>();
}

TYPED_TEST(triangles, trmv_tbmv_and_tpmv) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    using TA = typename f::type_a;
    if constexpr (f::in_place)
      for (const std::int64_t n : sizes)
        for_triangles([&](triangle stored, transpose trans, diagonal unit) {
          const bool t = trans == transpose::yes;
          const auto a = random_matrix<TA>(n, n, 1);
          const auto x = random_matrix<typename f::type_x>(n, 1, 2);
          laid_out<TA> A(dev, a);
          poison_unread(A.host(), stored, unit);
          laid_vector<typename f::type_x> X(dev, x, -2), Y(dev, x, 1);
          const auto wanted = product(triangular_of(a, stored, unit).transposed(t), x);
          trmv(dev, stored, trans, unit, A.read(), X.all());
          X.expect(wanted, "trmv");
          const auto packed = packed_array<TA>(a, stored);
          const auto on_dev = array<TA>::from(dev, packed);
          tpmv(dev, stored, trans, unit, on_dev.all(), Y.all());
          Y.expect(wanted, "tpmv");
          for (const std::int64_t k : {0, 2, 140}) {
            const std::int64_t kl = stored == triangle::lower ? k : 0, ku = k - kl;
            const auto b = banded(a, kl, ku);
            auto band = band_array<TA>(b, kl, ku);
            poison_band_diagonal(band, stored, unit);
            laid_vector<typename f::type_x> Z(dev, x, 3);
            tbmv(dev, stored, trans, unit, k, band.to(dev).read(), Z.all());
            Z.expect(product(triangular_of(b, stored, unit).transposed(t), x), "tbmv");
          }
        });
  }
}

// Points, 1 or -1 on the diagonal, a few entries beside: integer systems have solutions that are integers.
exact_matrix solvable(std::int64_t n) {
  exact_matrix A(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto r = random_bits(9, static_cast<std::uint64_t>(i + j * n)) % 64;
      const std::int64_t x = i == j ? (r % 2 == 0 ? 1 : -1) : (r == 0 ? 1 : r == 1 ? -1 : 0);
      A(i, j) = {x, x};
    }
  return A;
}

TYPED_TEST(triangles, trsv_tbsv_and_tpsv) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    using TA = typename f::type_a;
    if constexpr (f::in_place)
      for (const std::int64_t n : sizes)
        for_triangles([&](triangle stored, transpose trans, diagonal unit) {
          const bool t = trans == transpose::yes;
          const auto a = solvable(n);
          const auto x = random_matrix<double>(n, 1, 2);
          laid_out<TA> A(dev, a);
          poison_unread(A.host(), stored, unit);
          const auto b = product(triangular_of(a, stored, unit).transposed(t), x);
          laid_vector<typename f::type_x> X(dev, b, -2), Y(dev, b, 1);
          trsv(dev, stored, trans, unit, A.read(), X.all());
          X.expect(x, "trsv");
          const auto packed = packed_array<TA>(a, stored);
          const auto on_dev = array<TA>::from(dev, packed);
          tpsv(dev, stored, trans, unit, on_dev.all(), Y.all());
          Y.expect(x, "tpsv");
          for (const std::int64_t k : {0, 3, 140}) {
            const std::int64_t kl = stored == triangle::lower ? k : 0, ku = k - kl;
            const auto c = banded(a, kl, ku);
            auto band = band_array<TA>(c, kl, ku);
            poison_band_diagonal(band, stored, unit);
            laid_vector<typename f::type_x> Z(dev, product(triangular_of(c, stored, unit).transposed(t), x), 3);
            tbsv(dev, stored, trans, unit, k, band.to(dev).read(), Z.all());
            Z.expect(x, "tbsv");
          }
        });
  }
}

// Random entries of all sizes and signs: every quotient and chain is rounded. Beyond the blocks and threads
// that share the work.
TYPED_TEST(triangles, solutions_have_the_same_bits_everywhere) {
  using f = TestFixture;
  using TA = typename f::type_a;
  using TX = typename f::type_x;
  using T = bound_of<TX>;
  const auto some = [](auto type, std::uint64_t seed, std::int64_t i, double scale, double offset) {
    using E = decltype(type);
    const auto at = [&](std::int64_t k) { return random_unit(seed, static_cast<std::uint64_t>(k)); };
    const auto x = static_cast<T>(scale * (at(3 * i) - 0.5) + (at(3 * i + 1) < 0.5 ? offset : -offset));
    if constexpr (is_interval<E>)
      return E::unchecked(x, x + static_cast<T>(scale / 64 * at(3 * i + 2)));
    else
      return x;
  };
  const auto same = [](const std::vector<TX>& a, const std::vector<TX>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(TX)) == 0;
  };
  if constexpr (f::in_place)
    for (const std::int64_t n : {300, 2300}) {
      matrix<TA> A(device::cpu(1), n, n);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          A(i, j) = some(TA{}, 1, i + j * n, i == j ? 1.5 : 2.0 / static_cast<double>(n), i == j ? 2.5 : 0);
      array<TX> b(device::cpu(1), n);
      for (std::int64_t i = 0; i < n; ++i) b[i] = some(TX{}, 2, i, i % 7 == 0 ? 0 : 1, 0);
      for_triangles([&](triangle stored, transpose trans, diagonal unit) {
        const bool large = n > 2048;  // more than one thread has work
        if (large && (stored == triangle::upper || unit == diagonal::unit)) return;
        const auto run = [&](const device& dev) {
          const auto on_dev = A.to(dev);
          auto x = b.to(dev);
          trsv(dev, stored, trans, unit, on_dev.read(), x.all());
          return x.to_vector();
        };
        const auto one = run(device::cpu(1));
        EXPECT_TRUE(same(run(device::cpu(3)), one));
        for (const device& gpu : gpus()) EXPECT_EQ(run(gpu), one);
#if VOUCH_HAS_AVX512
        avx512::switched_off = true;
        if (!large) {
          EXPECT_EQ(run(device::cpu(2)), one);
        }
        avx512::switched_off = false;
#endif
      });
    }
}

// What is not finite takes other ways: the rules of IEEE 1788.
TEST(triangles_of_sets, unbounded_and_empty_entries) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  using I = interval<double>;
  for (const device& dev : devices()) {
    // [1 0 0; [0, inf] 2 0; empty 1 -1] x = (1, 4, 0)
    const std::vector<I> entries{I(1), I::unchecked(0, infinite), I::empty(), I(), I(2), I(1), I(), I(), I(-1)};
    const auto A = matrix<I>::from(dev, 3, 3, entries);
    auto x = array<I>::from(dev, std::vector<I>{I(1), I(4), I(0)});
    trsv(dev, triangle::lower, transpose::no, diagonal::general, A.read(), x.all());
    const std::vector<I> found = x.to_vector();
    EXPECT_EQ(found[0], I(1));
    EXPECT_EQ(found[1], I::unchecked(-infinite, 2));
    EXPECT_TRUE(is_empty(found[2]));
    // A divisor and a right-hand side beyond the usual: 2^1000 x = 2^-1000, and without bounds.
    const auto D =
        matrix<I>::from(dev, 2, 2, std::vector<I>{I(0x1p1000), I(), I(), I::unchecked(-infinite, -4)});
    auto y = array<I>::from(dev, std::vector<I>{I(0x1p-1000), I::unchecked(-1, infinite)});
    trsv(dev, triangle::upper, transpose::yes, diagonal::general, D.read(), y.all());
    const std::vector<I> quotients = y.to_vector();
    EXPECT_EQ(quotients[0], I::unchecked(0, 0x1p-1074));
    EXPECT_EQ(quotients[1], I::unchecked(-infinite, 0.25));
  }
}

}  // namespace
}  // namespace vouch
