// Passes over vectors against sums in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <devices.hpp>
#include <sparse/spmv_cases.hpp>
#include <vouch/solve/krylov/scalar_vectors.hpp>
#include <vouch/solve/loop/plan_operator.hpp>

namespace vouch {
namespace {

using wide = std::complex<long double>;

template <class T, class S>
struct scalars {
  using value = T;
  using scalar = S;
};
template <class Both>
class scalar_vectors_typed : public ::testing::Test {};
using kinds = ::testing::Types<scalars<float, double>, scalars<double, double>,
                               scalars<float, std::complex<double>>, scalars<double, std::complex<double>>>;
TYPED_TEST_SUITE(scalar_vectors_typed, kinds);

// Element i of a vector as a number of its scalars.
template <class S, class T>
wide number(const std::vector<T>& v, std::size_t i) {
  if constexpr (std::is_same_v<S, double>)
    return v[i];
  else
    return {v[2 * i], v[2 * i + 1]};
}
template <class S, class T>
std::size_t numbers(const std::vector<T>& v) {
  return std::is_same_v<S, double> ? v.size() : v.size() / 2;
}

// u* v or u^T v, and the sum of the magnitudes of its terms.
struct wide_product {
  wide value;
  long double size = 0;
};
template <class S, class T>
wide_product product_of(const std::vector<T>& u, const std::vector<T>& v, bool transposed = false) {
  wide_product sum;
  for (std::size_t i = 0; i < numbers<S>(u); ++i) {
    const wide of_u = number<S>(u, i);
    sum.value += (transposed ? of_u : std::conj(of_u)) * number<S>(v, i);
    sum.size += std::abs(number<S>(u, i)) * std::abs(number<S>(v, i));
  }
  return sum;
}

// On the CPU 512 rounding errors of T meet in a lane, then those of double.
template <class T>
void expect_product(std::complex<double> got, const wide_product& expected, const std::string& where) {
  const long double bound = 600 * std::numeric_limits<T>::epsilon() * expected.size;
  EXPECT_LE(std::abs(wide(got) - expected.value), bound) << where;
}

template <class S>
S some_scalar(std::uint64_t k) {
  const double re = random_unit(77, 2 * k) - 0.5, im = random_unit(77, 2 * k + 1) - 0.5;
  if constexpr (std::is_same_v<S, double>)
    return re;
  else
    return {re, im};
}

template <class T>
std::vector<std::vector<T>> random_vectors(std::int64_t n, std::size_t count, std::uint64_t seed) {
  std::vector<std::vector<T>> all;
  for (std::size_t k = 0; k < count; ++k) all.push_back(testing::random_vector<T>(seed + k, n));
  return all;
}

template <class T>
std::vector<T> read(const device& dev, view<const T> v) {
  std::vector<T> all(static_cast<std::size_t>(v.size()));
  copy_bytes(all.data(), device::cpu(1), v.data(), dev, all.size() * sizeof(T));
  return all;
}

// With and without whole chunks, pieces and blocks.
template <class S>
std::vector<std::int64_t> sizes() {
  if constexpr (std::is_same_v<S, double>)
    return {0, 1, 7, 511, 4096, 20003};
  else
    return {0, 2, 6, 510, 4096, 20002};
}

TYPED_TEST(scalar_vectors_typed, a_recipe_makes_sums_of_multiples_of_the_vectors_before_it) {
  using T = typename TypeParam::value;
  using S = typename TypeParam::scalar;
  for (const std::int64_t n : sizes<S>())
    for (const std::size_t inputs : {std::size_t{3}, std::size_t{6}, std::size_t{90}})
      for (const int outputs : {1, 2, 3, 4})
        for (const std::int64_t shift : {0, 1}) {
          if (inputs == 90 && n > 20000) continue;  // takes its time
          std::vector<std::vector<double>> sums_of_devices;
          for (const device& dev : testing::devices()) {
            const std::string where = "n " + std::to_string(n) + ", inputs " + std::to_string(inputs) +
                                      ", outputs " + std::to_string(outputs) + ", " + dev.kind();
            const auto before = random_vectors<T>(n, inputs + 2, 5);
            std::vector<array<T>> held;
            std::vector<view<T>> v;
            for (const auto& values : before) {
              held.push_back(array<T>(dev, n + shift));
              v.push_back({held.back().data() + shift, n});
              copy_bytes(v.back().data(), dev, values.data(), device::cpu(1), values.size() * sizeof(T));
            }
            scalar_vectors<T, S> over(dev, n);
            vector_recipe<T, S> recipe;
            // The last inputs are the first outputs; the output behind them is new, and the last probe.
            std::vector<std::size_t> made;
            for (int j = 0; j < outputs; ++j) {
              made.push_back(j < 3 ? inputs - 1 - static_cast<std::size_t>(j) : inputs);
              recipe.make(v[made.back()]);
              for (std::size_t k = 0; k < inputs; ++k)
                if ((k + static_cast<std::size_t>(j)) % 5 != 4)
                  recipe.add(some_scalar<S>(k * 4 + static_cast<std::uint64_t>(j)), v[k]);
            }
            recipe.multiply(v[inputs + 1]).multiply(v[0]);
            const recipe_sums<S> sums = over.make_and_multiply(recipe);
            std::vector<T> first;
            for (int j = 0; j < outputs; ++j) {
              const std::vector<T> got = read<T>(dev, v[made[static_cast<std::size_t>(j)]]);
              if (j == 0) first = got;
              for (std::size_t i = 0; i < numbers<S>(got); i += 1 + i / 16) {
                wide expected = 0;
                long double size = 0;
                for (std::size_t k = 0; k < inputs; ++k) {
                  if ((k + static_cast<std::size_t>(j)) % 5 == 4) continue;
                  const wide term =
                      wide(some_scalar<S>(k * 4 + static_cast<std::uint64_t>(j))) * number<S>(before[k], i);
                  expected += term;
                  size += std::abs(term);
                }
                ASSERT_LE(std::abs(number<S>(got, i) - expected),
                          4 * static_cast<long double>(inputs) * std::numeric_limits<T>::epsilon() * size)
                    << where << ", output " << j << ", element " << i;
              }
            }
            expect_product<T>(sums.square, product_of<S>(first, first), where);
            expect_product<T>(sums.product[0], product_of<S>(before[inputs + 1], first), where);
            if (inputs > 3 || outputs < 3)
              expect_product<T>(sums.product[1], product_of<S>(before[0], first), where);
            if (!dev.is_cuda())
              sums_of_devices.push_back({sums.square, std::abs(sums.product[0]), std::abs(sums.product[1])});
          }
          for (const auto& sums : sums_of_devices) EXPECT_EQ(sums, sums_of_devices.front());
        }
}

TYPED_TEST(scalar_vectors_typed, a_vector_times_itself_is_not_conjugated) {
  using T = typename TypeParam::value;
  using S = std::complex<double>;
  for (const std::int64_t n : sizes<S>())
    for (const device& dev : testing::devices()) {
      const auto values = random_vectors<T>(n, 2, 21);
      auto made = array<T>::from(dev, values[0]);
      const auto other = array<T>::from(dev, values[1]);
      scalar_vectors<T, S> over(dev, n);
      vector_recipe<T, S> recipe;
      recipe.make(made).add(1, made).add(some_scalar<S>(3), other).multiply_by_itself().multiply(other);
      const recipe_sums<S> sums = over.make_and_multiply(recipe);
      const std::vector<T> got = made.to_vector();
      const std::string where = "n " + std::to_string(n) + ", " + dev.kind();
      expect_product<T>(sums.square, product_of<S>(got, got), where);
      expect_product<T>(sums.product[0], product_of<S>(got, got, true), where);
      expect_product<T>(sums.product[1], product_of<S>(values[1], got, true), where);
    }
}

TYPED_TEST(scalar_vectors_typed, products_of_many_columns) {
  using T = typename TypeParam::value;
  using S = typename TypeParam::scalar;
  for (const std::int64_t n : sizes<S>())
    for (const std::size_t columns : {1, 2, 5, 9, 17, 33, 70})
      for (const bool two : {false, true}) {
        if (n > 600 && columns != 9) continue;  // takes its time
        std::vector<std::vector<S>> of_threads;
        for (const device& dev : testing::devices()) {
          const auto values = random_vectors<T>(n, columns + 2, 9);
          std::vector<array<T>> held;
          std::vector<const T*> pointers;
          for (const auto& v : values) {
            held.push_back(array<T>::from(dev, v));
            pointers.push_back(held.back().data());
          }
          scalar_vectors<T, S> over(dev, n);
          std::vector<S> got(columns * 2);
          const std::span<const T* const> some{pointers.data(), columns};
          if (two)
            over.products(some, {pointers[columns], pointers[columns + 1]}, got.data());
          else
            over.products(some, {pointers[columns]}, got.data());
          for (std::size_t k = 0; k < columns; ++k)
            for (std::size_t v = 0; v < (two ? 2 : 1); ++v)
              expect_product<T>(got[k * (two ? 2 : 1) + v], product_of<S>(values[k], values[columns + v]),
                                "n " + std::to_string(n) + ", column " + std::to_string(k) + " of " +
                                    std::to_string(columns) + ", " + dev.kind());
          if (!dev.is_cuda()) of_threads.push_back(got);
        }
        for (const auto& got : of_threads) EXPECT_EQ(got, of_threads.front());
      }
}

// An operator that is no plan.
template <class T>
class wrapped final : public linear_operator<T> {
 public:
  explicit wrapped(const spmv_plan<T>& plan) : plan_(plan) {}
  std::int64_t rows() const override { return plan_.rows(); }
  void apply(const device&, view<const T> x, view<T> y) const override { plan_.multiply(T{1}, x, T{0}, y); }

 private:
  const spmv_plan<T>& plan_;
};

TYPED_TEST(scalar_vectors_typed, a_product_with_its_inner_products) {
  using T = typename TypeParam::value;
  using S = typename TypeParam::scalar;
  const device host = device::cpu(1);
  const csr<T> matrices[] = {testing::stencil_matrix<T>(6, true, 1).to_csr(host),
                             testing::stencil_matrix<T>(22, false, 2).to_csr(host),
                             testing::random_matrix<T>(5000, 5000, 9, 3).to_csr(host),
                             testing::block_matrix<T>(400, 2, 5, false, 4).to_csr(host),
                             testing::block_matrix<T>(500, 3, 5, false, 5).to_csr(host),
                             testing::complex_matrix<T>(700, 7, 6).to_csr(host),
                             testing::complex_bands<T>(700, testing::below::conjugate, 7).to_csr(host)};
  for (const csr<T>& A : matrices)
    for (const bool with_diagonal : {false, true})
      for (const bool as_plan : {true, false}) {
        std::vector<std::vector<double>> of_threads;
        for (const device& dev : testing::devices()) {
          const csr<T> there{A.rows, A.cols, array<std::int64_t>::from(dev, A.row_ptr.to_vector()),
                             array<std::int32_t>::from(dev, A.col.to_vector()),
                             array<T>::from(dev, A.val.to_vector())};
          const spmv_plan<T> plan = spmv_plan<T>::make(dev, there.all());
          const plan_operator<T> planned(plan);
          const wrapped<T> unplanned(plan);
          const linear_operator<T>& by = as_plan ? static_cast<const linear_operator<T>&>(planned) : unplanned;
          const std::string where = plan.format() + (as_plan ? ", " : ", no plan, ") + dev.kind();
          auto values = random_vectors<T>(A.rows, 5, 11);  // x, w, u, v, diagonal
          for (T& d : values[4]) d = static_cast<T>(1 + d / 2);
          std::vector<array<T>> held;
          for (const auto& v : values) held.push_back(array<T>::from(dev, v));
          array<T> y(dev, A.rows);
          scalar_vectors<T, S> over(dev, A.rows);
          const T a = T(1.5), b = T(-0.75);
          T* const into = as_plan ? held[1].data() : y.data();  // w itself, where that is allowed
          const operator_sums<S> sums = over.apply(by, {.x = held[0].data(),
                                                        .y = into,
                                                        .a = a,
                                                        .diagonal = with_diagonal ? held[4].data() : nullptr,
                                                        .b = b,
                                                        .w = held[1].data(),
                                                        .u = held[2].data(),
                                                        .v = held[3].data()});
          const std::vector<T> got = read<T>(dev, {into, A.rows});
          std::vector<T> divided = got;
          for (std::size_t i = 0; i < got.size(); ++i) {
            long double product = 0, size = 0;
            for (std::int64_t k = A.row_ptr[static_cast<std::int64_t>(i)];
                 k < A.row_ptr[static_cast<std::int64_t>(i) + 1]; ++k) {
              const long double term =
                  static_cast<long double>(A.val[k]) * values[0][static_cast<std::size_t>(A.col[k])];
              product += term;
              size += std::fabs(term);
            }
            const long double d = with_diagonal ? values[4][i] : T{1};
            const long double expected = a * d * d * product + static_cast<long double>(b) * values[1][i];
            ASSERT_LE(std::fabs(got[i] - expected),
                      30 * std::numeric_limits<T>::epsilon() * (a * d * d * size + std::fabs(b * values[1][i])))
                << where << ", row " << i;
            if (with_diagonal) divided[i] = got[i] / values[4][i];
          }
          expect_product<T>(sums.yy, product_of<double>(divided, divided), where);
          expect_product<T>(sums.uy, product_of<S>(values[2], got), where);
          expect_product<T>(sums.vy, product_of<S>(values[3], got), where);
          expect_product<T>(sums.uv, product_of<S>(values[2], values[3]), where);
          expect_product<T>(sums.vv, product_of<S>(values[3], values[3]), where);
          if (!dev.is_cuda()) of_threads.push_back({sums.yy, std::abs(sums.uy), std::abs(sums.uv), sums.vv});
          // With u alone, or with both, without conjugation.
          constexpr bool is_complex = scalar_vectors<T, S>::is_complex;
          for (const std::size_t second : {std::size_t{2}, std::size_t{3}}) {
            const operator_sums<S> of = over.apply(by, {.x = held[0].data(),
                                                        .y = y.data(),
                                                        .u = held[2].data(),
                                                        .v = held[second].data(),
                                                        .transposed = is_complex});
            const std::vector<T> image = read<T>(dev, y);
            expect_product<T>(of.yy, product_of<double>(image, image), where);
            expect_product<T>(of.uy, product_of<S>(values[2], image, is_complex), where);
            expect_product<T>(of.vy, product_of<S>(values[second], image, is_complex), where);
            expect_product<T>(of.uv, product_of<S>(values[2], values[second]), where);
            expect_product<T>(of.vv, product_of<S>(values[second], values[second]), where);
          }
        }
        for (const auto& sums : of_threads) EXPECT_EQ(sums, of_threads.front());
      }
}

}  // namespace
}  // namespace vouch
