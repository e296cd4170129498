// Sweeps as an operator, against textbook sweeps over a dense matrix in long double.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/stationary/sweeps.hpp>

#include "solve/stationary_systems.hpp"

namespace vouch {
namespace {

using testing::kept;
using testing::square;

struct named_options {
  const char* name;
  sweep_options options;
};
const named_options all_options[] = {
    {"jacobi", {.simultaneous = true}},
    {"damped jacobi", {.simultaneous = true, .omega = 0.625}},
    {"gauss-seidel", {}},
    {"backward", {.order = sweep_order::backward}},
    {"symmetric", {.order = sweep_order::symmetric}},
    {"sor", {.omega = 1.25}},
    {"ssor", {.omega = 0.75, .order = sweep_order::symmetric}},
};

void textbook_sweep(const square& A, const std::vector<double>& b, std::vector<long double>& x,
                    const sweep_options& o) {
  const auto row = [&](std::int64_t i, const std::vector<long double>& from) {
    long double r = b[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < A.n; ++j)
      r -= static_cast<long double>(A(i, j)) * from[static_cast<std::size_t>(j)];
    x[static_cast<std::size_t>(i)] += o.omega * r / A(i, i);
  };
  if (o.simultaneous) {
    const std::vector<long double> old = x;
    for (std::int64_t i = 0; i < A.n; ++i) row(i, old);
    return;
  }
  if (o.order != sweep_order::backward)
    for (std::int64_t i = 0; i < A.n; ++i) row(i, x);
  if (o.order != sweep_order::forward)
    for (std::int64_t i = A.n; i-- > 0;) row(i, x);
}

template <real T>
struct stored {
  stored(const square& A, kept how) : n(A.n), form(how) {
    if (form == kept::sparse) {
      sparse = convert_values<T>(device::cpu(1), testing::sparse_of(A).all());
      return;
    }
    entries.resize(A.a.size());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        entries[static_cast<std::size_t>(form == kept::by_rows ? i * n + j : i + j * n)] =
            static_cast<T>(A(i, j));
  }
  sweeps<T> operator()(const device& dev, const sweep_options& o) const {
    if (form == kept::sparse) return {dev, sparse.all(), o};
    return {dev, form == kept::by_rows ? transpose::yes : transpose::no,
            matrix_view<const T>{entries.data(), n, n, std::max<std::int64_t>(1, n)}, o};
  }
  std::int64_t n;
  kept form;
  csr<T> sparse;
  std::vector<T> entries;
};

template <class T>
view<T> all(std::vector<T>& v) {
  return {v.data(), static_cast<std::int64_t>(v.size())};
}
template <class T>
view<const T> all(const std::vector<T>& v) {
  return {v.data(), static_cast<std::int64_t>(v.size())};
}

std::vector<double> integers(std::int64_t n, std::uint64_t seed) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(random_bits(seed, i) % 64) - 32;
  return v;
}

template <class T>
class sweeps_as_operator : public ::testing::Test {};
using scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(sweeps_as_operator, scalars);

TYPED_TEST(sweeps_as_operator, any_number_of_them_from_any_start_are_the_textbooks) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 7, 200, 300})
    for (const bool mostly_zero : {true, false}) {
      const square A = testing::random_square(n, 1.5, 11 + static_cast<std::uint64_t>(n), mostly_zero);
      for (const kept form : testing::forms) {
        const stored<T> here(A, form);
        for (const named_options& o : all_options) {
          sweeps<T> smoother = here(device::cpu(2), o.options);
          EXPECT_EQ(smoother.rows(), n);
          // One object, several right-hand sides, each from its own start, by one sweep, none and two more.
          for (const std::uint64_t seed : {1U, 2U}) {
            const std::vector<double> b = integers(n, seed), start = integers(n, seed + 10);
            const std::vector<T> rhs(b.begin(), b.end());
            std::vector<T> x(start.begin(), start.end());
            std::vector<long double> expected(start.begin(), start.end());
            smoother.apply(all(rhs), all(x));
            smoother.apply(all(rhs), all(x), 0);
            smoother.apply(all(rhs), all(x), 2);
            for (int k = 0; k < 3; ++k) textbook_sweep(A, b, expected, o.options);
            // Dominance keeps what sweeps weigh below 64; rows have up to 300 entries, three sweeps of two halves.
            EXPECT_LE(testing::distance(x, expected), 2e4 * double{std::numeric_limits<T>::epsilon()})
                << o.name << ", n = " << n << ", form " << static_cast<int>(form) << ", " << smoother.name();
          }
        }
      }
    }
}

TYPED_TEST(sweeps_as_operator, same_bits_for_any_number_of_threads) {
  using T = TypeParam;
  const square A = testing::random_square(400, 1.25, 3);
  const std::vector<double> b = integers(A.n, 5);
  const std::vector<T> rhs(b.begin(), b.end());
  for (const kept form : testing::forms) {
    const stored<T> here(A, form);
    for (const named_options& o : all_options) {
      std::vector<T> one(rhs.size()), many(rhs.size());
      here(device::cpu(1), o.options).apply(all(rhs), all(one), 4);
      here(device::cpu(3), o.options).apply(all(rhs), all(many), 4);
      EXPECT_EQ(one, many) << o.name << ", form " << static_cast<int>(form);
    }
  }
}

// Colours take the rows in another order: the textbook's sweep over the rows in that order.
TEST(sweeps_by_colours, of_a_chain_are_the_even_rows_then_the_odd_ones) {
  const std::int64_t n = 51;
  square A{n, std::vector<double>(static_cast<std::size_t>(n * n))};
  for (std::int64_t i = 0; i < n; ++i) {
    A(i, i) = 4;
    if (i > 0) A(i, i - 1) = A(i - 1, i) = -1;
  }
  const std::vector<double> b = integers(n, 9);
  const stored<double> here(A, kept::sparse);
  sweeps<double> smoother = here(device::cpu(2), {.ordering = sweep_ordering::multicolor});
  std::vector<double> x(b.size());
  smoother.apply(all(b), all(x), 2);
  std::vector<long double> expected(b.size());
  for (int sweep = 0; sweep < 2; ++sweep)
    for (const std::int64_t first : {0, 1})
      for (std::int64_t i = first; i < n; i += 2) {
        long double r = b[static_cast<std::size_t>(i)];
        if (i > 0) r += expected[static_cast<std::size_t>(i - 1)];
        if (i + 1 < n) r += expected[static_cast<std::size_t>(i + 1)];
        expected[static_cast<std::size_t>(i)] = r / 4;
      }
  EXPECT_LE(testing::distance(x, expected), 1e-13);
}

TEST(sweeps_refuse, what_they_cannot_do) {
  const square A = testing::random_square(5, 1.5, 4);
  const stored<double> sparse(A, kept::sparse), dense(A, kept::by_rows);
  const device cpu = device::cpu(1);
  EXPECT_THROW(sparse(cpu, {.omega = 0}), value_error);
  EXPECT_THROW(sparse(cpu, {.omega = 2}), value_error);
  EXPECT_THROW(dense(cpu, {.ordering = sweep_ordering::multicolor}), value_error);
  square no_diagonal = A;
  no_diagonal(3, 3) = 0;
  for (const kept form : testing::forms) {
    try {
      stored<double>(no_diagonal, form)(cpu, {});
      ADD_FAILURE() << "no diagonal was taken, form " << static_cast<int>(form);
    } catch (const value_error& e) {
      EXPECT_NE(std::string(e.what()).find("row 4"), std::string::npos) << e.what();
    }
  }
  sweeps<double> smoother = sparse(cpu, {});
  const std::vector<double> b(5), longer(6);
  std::vector<double> x(5), twice(10);
  EXPECT_THROW(smoother.apply(all(longer), all(x)), shape_error);
  EXPECT_THROW(smoother.apply(all(b), view<double>{twice.data(), 5, 2}), shape_error);
  EXPECT_THROW(smoother.apply(all(b), all(x), -1), value_error);
  const csr<double> wide{2, 3, array<std::int64_t>::zeros(cpu, 3), array<std::int32_t>(cpu, 0),
                         array<double>(cpu, 0)};
  EXPECT_THROW((sweeps<double>{cpu, wide.all()}), shape_error);
  cancellation stop;
  stop.request();
  const cancellation_scope listens(stop);
  EXPECT_THROW(smoother.apply(all(b), all(x)), cancelled);
}

TEST(sweeps_refuse, a_gpu) {
  VOUCH_NEEDS_GPU();
  const square A = testing::random_square(5, 1.5, 4);
  for (const device& gpu : testing::gpus()) EXPECT_THROW(stored<double>(A, kept::sparse)(gpu, {}), value_error);
}

}  // namespace
}  // namespace vouch
