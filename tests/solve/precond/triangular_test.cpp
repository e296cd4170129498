#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <regex>

#include <vouch/core/error.hpp>
#include <vouch/solve/precond/elimination.hpp>
#include <vouch/solve/precond/ic0.hpp>
#include <vouch/solve/precond/ssor.hpp>
#include <vouch/solve/precond/triangular_pair.hpp>

#include "data.hpp"
#include "devices.hpp"
#include "solve/precond/problems.hpp"

namespace vouch::testing {
namespace {

// The order of elimination that a name tells: first-fit colours, found here once more from the entries, or the
// matrix's own. order[k] is the row eliminated as k-th.
std::vector<std::int32_t> order_of(const problem& p, const std::string& name) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(p.n));
  std::iota(order.begin(), order.end(), 0);
  if (name.find("colours") == std::string::npos) return order;
  std::vector<int> colour(order.size(), -1);
  for (std::int32_t i = 0; i < p.n; ++i) {
    std::vector<bool> taken(order.size() + 1, false);
    for (std::int32_t j = 0; j < i; ++j)
      if (p.a.count({i, j}) > 0) taken[static_cast<std::size_t>(colour[static_cast<std::size_t>(j)])] = true;
    int& mine = colour[static_cast<std::size_t>(i)];
    for (mine = 0; taken[static_cast<std::size_t>(mine)];) ++mine;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return colour[static_cast<std::size_t>(a)] < colour[static_cast<std::size_t>(b)];
  });
  return order;
}

double shift_of(const std::string& name) {
  std::smatch found;
  return std::regex_search(name, found, std::regex("shift ([0-9.e+-]+)")) ? std::stod(found[1]) : 0;
}

dense permuted(const dense& A, const std::vector<std::int32_t>& order, bool back) {
  dense B(A.n);
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j) {
      const std::int64_t p = order[static_cast<std::size_t>(i)], q = order[static_cast<std::size_t>(j)];
      if (back)
        B(p, q) = A(i, j);
      else
        B(i, j) = A(p, q);
    }
  return B;
}

// (L L^T)^-1 by Cholesky's algorithm column by column, keeping the pattern of A alone; A is scaled and shifted
// as the contract says.
dense ic0_oracle(const dense& A, double shift, const std::vector<std::int32_t>& order) {
  dense L = permuted(A, order, false);
  const dense pattern = L;
  const std::int64_t n = L.n;
  for (std::int64_t i = 0; i < n; ++i) L(i, i) *= 1 + static_cast<long double>(shift);
  for (std::int64_t k = 0; k < n; ++k) {
    EXPECT_GT(L(k, k), 0);
    L(k, k) = std::sqrt(L(k, k));
    for (std::int64_t i = k + 1; i < n; ++i) L(i, k) /= L(k, k);
    for (std::int64_t j = k + 1; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i)
        if (pattern(i, j) != 0) L(i, j) -= L(i, k) * L(j, k);
    for (std::int64_t i = 0; i < k; ++i) L(i, k) = 0;
  }
  const dense X = inverse(L);
  return permuted(transpose(X) * X, order, true);
}

// omega (2 - omega) (D + omega L^T)^-1 D (D + omega L)^-1
dense ssor_oracle(const dense& A, double omega, const std::vector<std::int32_t>& order) {
  const dense B = permuted(A, order, false);
  dense lower(B.n), diagonal(B.n);
  for (std::int64_t i = 0; i < B.n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) lower(i, j) = omega * B(i, j);
    lower(i, i) = B(i, i);
    diagonal(i, i) = omega * (2 - static_cast<long double>(omega)) * B(i, i);
  }
  const dense X = inverse(lower);
  return permuted(transpose(X) * (diagonal * X), order, true);
}

// Bound on the rounding of two sweeps, relative to the operator's own growth, with room.
template <real T>
double tolerance(std::int64_t n) {
  return 20 * static_cast<double>(n + 10) * std::numeric_limits<T>::epsilon();
}

std::vector<problem> triangular_problems() {
  std::vector<problem> all = small_problems();
  const std::string plate = data_file("matrices/bcsstk01.mtx"),
                    dense_plate = data_file("matrices/bcsstk02.mtx");
  if (!plate.empty()) all.push_back(read_symmetric(plate));
  if (!dense_plate.empty()) all.push_back(read_symmetric(dense_plate));
  return all;
}

template <class T>
class triangular_preconditioner : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(triangular_preconditioner, types);

TYPED_TEST(triangular_preconditioner, ic0_is_the_dense_formula) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const problem& p : triangular_problems())
      for (const double shift : {0.0, 0.01}) {
        const auto M = make_ic0(dev, to_sparse<T>(dev, p).all(), shift);
        SCOPED_TRACE(p.name + ": " + M->name());
        const double used = shift_of(M->name());
        EXPECT_GE(used, shift);
        expect_near(matrix_of(dev, *M, p.n), ic0_oracle(to_dense<T>(p), used, order_of(p, M->name())),
                    tolerance<T>(p.n), dev.kind());
      }
}

TYPED_TEST(triangular_preconditioner, ssor_is_the_dense_formula) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const problem& p : triangular_problems())
      for (const double omega : {0.7, 1.0, 1.6}) {
        const auto M = make_ssor(dev, to_sparse<T>(dev, p).all(), omega);
        SCOPED_TRACE(p.name + ": " + M->name());
        expect_near(matrix_of(dev, *M, p.n), ssor_oracle(to_dense<T>(p), omega, order_of(p, M->name())),
                    tolerance<T>(p.n), dev.kind());
      }
}

// Without fill there is nothing to leave out: a tridiagonal matrix is factored exactly.
TEST(ic0, inverts_a_tridiagonal_matrix) {
  const problem p = poisson(1, 1, 60);
  const device dev = device::cpu(1);
  const auto M = make_ic0(dev, to_sparse<double>(dev, p).all());
  EXPECT_EQ(M->name(), "ic0");
  expect_near(matrix_of(dev, *M, p.n), inverse(to_dense<double>(p)), tolerance<double>(p.n), "tridiagonal");
}

// The square of Poisson's matrix (a clamped plate, nearly), its rows sorted by colours: positive definite, and
// its incomplete factorisation breaks down.
problem plate() {
  const problem membrane = poisson(1, 7, 7);
  problem p{"plate", membrane.n, {}};
  for (const auto& [left, x] : membrane.a)
    for (const auto& [right, y] : membrane.a)
      if (left.second == right.first) p.a[{left.first, right.second}] += x * y;
  const std::vector<std::int32_t> order = order_of(p, "colours");
  std::vector<std::int32_t> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    place[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  return renumber(p, place);
}

// A last row that meets all others fills nothing in: the factor is exact, and made in a moment.
TEST(ic0, inverts_a_matrix_with_a_hub) {
  constexpr std::int32_t n = 100000, hub = n - 1;
  problem p{"hub", n, {}};
  for (std::int32_t i = 0; i < n; ++i) p.a[{i, i}] = 2;
  for (std::int32_t i = 0; i < hub; ++i) p.a[{hub, i}] = p.a[{i, hub}] = 1e-3;
  for (std::int32_t i = 2; i < hub; i += 2) p.a[{i, i - 1}] = p.a[{i - 1, i}] = 0.5;
  for (const device& dev : devices()) {
    const csr<double> A = to_sparse<double>(dev, p);
    const std::vector<double> r = random_vector<double>(p.n, 3), z = apply(dev, *make_ic0<double>(dev, A), r);
    double largest = 0;
    std::vector<double> product(r.size());
    for (const auto& [place, value] : p.a)
      product[static_cast<std::size_t>(place.first)] += value * z[static_cast<std::size_t>(place.second)];
    for (std::size_t i = 0; i < r.size(); ++i) largest = std::max(largest, std::fabs(product[i] - r[i]));
    EXPECT_LT(largest, 1e-11);
  }
}

TEST(ic0, shifts_where_it_breaks_down_and_reports_it) {
  const problem p = plate();
  for (const device& dev : devices()) {
    const auto M = make_ic0(dev, to_sparse<double>(dev, p).all());
    const double shift = shift_of(M->name());
    EXPECT_GE(shift, 1e-3) << M->name();
    EXPECT_EQ(std::exp2(std::round(std::log2(shift / 1e-3))) * 1e-3, shift) << "doubled from 1e-3";
    expect_near(matrix_of(dev, *M, p.n), ic0_oracle(to_dense<double>(p), shift, order_of(p, M->name())), 1e-12,
                M->name());
  }
}

// The order by colours, which the public functions seldom take on a CPU.
TEST(triangular, any_order_on_any_device) {
  for (const device& dev : devices())
    for (const problem& p : triangular_problems()) {
      const csr<double> A = to_sparse<double>(device::cpu(1), p);
      factored_matrix F;
      F.order = coloured(A.all());
      lower_part part = take_lower(A.all(), F.order, 1, "test");
      F.levels = find_levels(part.lower);
      F.factor = symmetric_sor(std::move(part), 1.3);
      const auto M = make_triangular_pair<double>(dev, F, "test");
      expect_near(matrix_of(dev, *M, p.n), ssor_oracle(to_dense<double>(p), 1.3, order_of(p, "colours")),
                  tolerance<double>(p.n), p.name);
    }
}

TEST(ic0, takes_colours_on_the_cpu_where_they_need_no_shift) {
  const std::string path = data_file("matrices/bcsstk11.mtx");
  VOUCH_NEEDS_DATA(path);
  const device dev = device::cpu(2);
  EXPECT_EQ(make_ic0(dev, to_sparse<double>(dev, read_symmetric(path)).all())->name(), "ic0 (13 colours)");
}

TEST(triangular, bad_parameters_and_entries_are_refused) {
  for (const device& dev : devices()) {
    problem p = poisson(1, 5, 5);
    const csr<double> A = to_sparse<double>(dev, p);
    for (const double omega : {0.0, 2.0, -1.0, 3.0, std::nan("")})
      EXPECT_THROW(make_ssor(dev, A.all(), omega), value_error);
    for (const double shift : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()})
      EXPECT_THROW(make_ic0(dev, A.all(), shift), value_error);
    csr_view<const double> wide = A.all();
    wide.cols = 26;
    EXPECT_THROW(make_ic0(dev, wide), shape_error);
    EXPECT_THROW(make_ssor(dev, wide), shape_error);
    p.a[{13, 13}] = -1;
    EXPECT_THROW(make_ic0(dev, to_sparse<double>(dev, p).all()), value_error);
    p.a[{13, 13}] = 4;
    p.a[{13, 12}] = p.a[{12, 13}] = std::nan("");
    try {
      make_ic0(dev, to_sparse<double>(dev, p).all());
      FAIL() << "accepted a NaN";
    } catch (const value_error& e) {
      EXPECT_NE(std::string(e.what()).find("row 13 "), std::string::npos) << e.what();
    }
  }
}

TEST(triangular, factors_beyond_the_precision_are_refused) {
  const problem p{"overflowing", 2, {{{0, 0}, 1e-37}, {{0, 1}, 100}, {{1, 0}, 100}, {{1, 1}, 1}}};
  for (const device& dev : devices()) {
    EXPECT_THROW(make_ssor(dev, to_sparse<float>(dev, p).all()), value_error);
    EXPECT_NO_THROW(make_ssor(dev, to_sparse<double>(dev, p).all()));
  }
}

TEST(elimination, colours_share_no_entry_and_levels_come_in_order) {
  const device dev = device::cpu(1);
  for (const problem& p : small_problems()) {
    const csr<double> A = to_sparse<double>(dev, p);
    const elimination order = coloured(A.all());
    ASSERT_EQ(order.order, order_of(p, "colours"));
    const lower_part part = take_lower(A.all(), order, 1, "test");
    const level_sets levels = find_levels(part.lower);
    EXPECT_LE(levels.count(), order.colours);
    std::vector<std::int64_t> level(static_cast<std::size_t>(p.n), -1);
    for (std::int64_t s = 0; s < levels.count(); ++s)
      for (std::int64_t k = levels.start[static_cast<std::size_t>(s)];
           k < levels.start[static_cast<std::size_t>(s) + 1]; ++k)
        level[static_cast<std::size_t>(levels.rows[static_cast<std::size_t>(k)])] = s;
    for (std::size_t i = 0; i < level.size(); ++i) {
      EXPECT_GE(level[i], 0);
      for (std::int64_t k = part.lower.row_ptr[i]; k < part.lower.row_ptr[i + 1]; ++k)
        EXPECT_LT(level[static_cast<std::size_t>(part.lower.col[static_cast<std::size_t>(k)])], level[i]);
    }
  }
}

// Large enough, and few enough level sets, for the sweeps by a team of threads; on a GPU for a kernel a set.
template <real T>
void expect_same_bits(const problem& p, bool ic0) {
  const auto run = [&](const device& dev, const csr<T>& A) {
    const auto M = ic0 ? make_ic0(dev, A.all()) : make_ssor(dev, A.all(), 1.2);
    return apply(dev, *M, random_vector<T>(p.n, 3));
  };
  const csr<T> A = to_sparse<T>(device::cpu(1), p);
  const std::vector<T> alone = run(device::cpu(1), A);
  for (const int threads : {2, 3, 5}) EXPECT_EQ(run(device::cpu(threads), A), alone) << threads << " threads";
  for (const device& gpu : gpus()) {
    const csr<T> there = A.to(gpu);
    const std::vector<T> first = run(gpu, there);
    EXPECT_EQ(run(gpu, there), first) << "twice on the GPU";
  }
}

// The grid's points by colours, black after red: two level sets.
problem red_black(std::int32_t a, std::int32_t b) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(a * b));
  std::int32_t next = 0;
  for (const std::int32_t colour : {0, 1})
    for (std::int32_t i = 0; i < a; ++i)
      for (std::int32_t j = 0; j < b; ++j)
        if ((i + j) % 2 == colour) order[static_cast<std::size_t>(i * b + j)] = next++;
  return renumber(poisson(1, a, b), order);
}

TYPED_TEST(triangular_preconditioner, threads_do_not_change_bits) {
  expect_same_bits<TypeParam>(red_black(130, 140), true);
  expect_same_bits<TypeParam>(red_black(130, 140), false);
  expect_same_bits<TypeParam>(random_spd(3000, 40, 9), true);
  expect_same_bits<TypeParam>(poisson(20, 21, 22), true);
}

// A large system's two sweeps against the triangular systems they must solve, entry by entry.
TEST(triangular, sweeps_of_a_large_system_solve_it) {
  const problem p = red_black(130, 140);
  for (const device& dev : devices()) {
    const auto M = make_ssor(dev, to_sparse<double>(dev, p).all(), 1.0);
    const std::vector<double> r = random_vector<double>(p.n, 8), z = apply(dev, *M, r);
    // D (D + L)^-1 ... backwards: y = (D + L^T) z, then (D + L) D^-1 y must be r.
    std::vector<long double> y(r.size()), back(r.size());
    for (const auto& [place, value] : p.a)
      if (place.second >= place.first)
        y[static_cast<std::size_t>(place.first)] +=
            static_cast<long double>(value) * z[static_cast<std::size_t>(place.second)];
    for (const auto& [place, value] : p.a)
      if (place.second <= place.first)
        back[static_cast<std::size_t>(place.first)] +=
            static_cast<long double>(value) * y[static_cast<std::size_t>(place.second)] / 4;
    for (std::size_t i = 0; i < r.size(); ++i)
      ASSERT_NEAR(static_cast<double>(back[i]), r[i], 1e-14) << dev.kind();
  }
}

}  // namespace
}  // namespace vouch::testing
