// Incomplete LU factorisations against dense ones, and what they refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/krylov/gmres.hpp>
#include <vouch/solve/precond/ilu0.hpp>
#include <vouch/solve/precond/ilut.hpp>
#include <vouch/solve/precond/incomplete_lu.hpp>
#include <vouch/solve/precond/make.hpp>

#include "data.hpp"
#include "devices.hpp"
#include "solve/precond/problems.hpp"

namespace vouch::testing {
namespace {

using places = std::vector<std::int32_t>;

// -u_xx - u_yy + c (u_x + u_y / 2) on a by b points, upwind.
problem convection(std::int32_t a, std::int32_t b, double c) {
  problem p{"convection " + std::to_string(a) + "x" + std::to_string(b), std::int64_t{a} * b, {}};
  for (std::int32_t i = 0; i < a; ++i)
    for (std::int32_t j = 0; j < b; ++j) {
      const std::int32_t row = i * b + j;
      p.a[{row, row}] = 4 + 1.5 * c;
      if (i > 0) p.a[{row, row - b}] = -1 - c;
      if (j > 0) p.a[{row, row - 1}] = -1 - c / 2;
      if (j + 1 < b) p.a[{row, row + 1}] = -1;
      if (i + 1 < a) p.a[{row, row + b}] = -1;
    }
  return p;
}

// Places on one side only, the diagonal dominant by rows, rows scaled by up to 2^20.
problem random_dominant(std::int32_t n, int per_row, std::uint64_t seed) {
  problem p{"random unsymmetric " + std::to_string(n), n, {}};
  std::uint64_t k = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 0.1;
    for (int e = 0; e < per_row; ++e) {
      const auto j = static_cast<std::int32_t>(random_unit(seed, ++k) * n);
      const double value = random_unit(seed, ++k) - 0.5;
      if (j == i || p.a.count({i, j}) > 0) continue;
      p.a[{i, j}] = value;
      sum += std::abs(value);
    }
    p.a[{i, i}] = random_unit(seed, ++k) < 0.5 ? sum : -sum;
  }
  for (auto& [place, value] : p.a)
    value = std::ldexp(value,
                       static_cast<int>(random_unit(seed + 1, static_cast<std::uint64_t>(place.first)) * 20));
  return p;
}

std::vector<problem> unsymmetric_problems() {
  return {{"empty", 0, {}},          {"one", 1, {{{0, 0}, -3}}}, convection(1, 40, 2.0),
          convection(9, 11, 0.5),    random_dominant(80, 3, 4),  poisson(1, 8, 9),
          random_dominant(60, 25, 2)};
}

places natural(std::int64_t n) {
  places order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Rows in one order, columns in another.
dense permuted(const dense& A, const places& rows, const places& columns) {
  dense B(A.n);
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j)
      B(i, j) = A(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
  return B;
}

// L U by the textbook's loop with the pattern of A.
std::pair<dense, dense> dense_ilu0(const dense& A) {
  const std::int64_t n = A.n;
  dense work = A, L(n), U(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < i; ++k) {
      if (A(i, k) == 0) continue;
      work(i, k) /= work(k, k);
      for (std::int64_t j = k + 1; j < n; ++j)
        if (A(i, j) != 0) work(i, j) -= work(i, k) * work(k, j);
    }
  for (std::int64_t i = 0; i < n; ++i) {
    L(i, i) = 1;
    for (std::int64_t j = 0; j < n; ++j) (j < i ? L : U)(i, j) = work(i, j);
  }
  return {L, U};
}

// Each element of M A^ - I, where A^ is what M is to invert, against its row and column sizes.
void expect_inverse(const dense& M, const dense& of, double tolerance, const std::string& what) {
  const dense product = M * of;
  for (std::int64_t i = 0; i < M.n; ++i) {
    long double size = 0;
    for (std::int64_t j = 0; j < M.n; ++j)
      for (std::int64_t k = 0; k < M.n; ++k) size = std::max(size, std::abs(M(i, k) * of(k, j)));
    for (std::int64_t j = 0; j < M.n; ++j)
      ASSERT_NEAR(static_cast<double>(product(i, j)), i == j,
                  tolerance * static_cast<double>(std::max(size, 1.0L)))
          << what << " at " << i << ", " << j;
  }
}

template <class T>
class incomplete_lu : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(incomplete_lu, types);

TYPED_TEST(incomplete_lu, ilu0_agrees_with_the_matrix_on_its_pattern) {
  for (const problem& p : unsymmetric_problems()) {
    const dense A = to_dense<TypeParam>(p);
    const auto [L, U] = dense_ilu0(A);
    const dense product = L * U;
    for (std::int64_t i = 0; i < p.n; ++i)
      for (std::int64_t j = 0; j < p.n; ++j)
        ASSERT_NEAR(A(i, j) == 0 ? 0 : static_cast<double>((product(i, j) - A(i, j)) / A(i, i)), 0, 1e-15);
    const auto M = make_ilu0(device::cpu(1), to_sparse<TypeParam>(device::cpu(1), p).all());
    EXPECT_EQ(M->name(), "ilu0");
    EXPECT_EQ(M->rows(), p.n);
    expect_inverse(matrix_of(device::cpu(1), *M, p.n), product,
                   20 * static_cast<double>(p.n + 10) * std::numeric_limits<TypeParam>::epsilon(), p.name);
  }
}

// In the order that a device takes or is given, with rows matched or not, on every device.
TEST(ilu0, any_order_and_any_rows_on_any_device) {
  for (const device& dev : devices())
    for (const problem& given : unsymmetric_problems())
      for (const bool coloured_order : {false, true})
        for (const std::int32_t moved : {0, 2}) {  // by so many rows: the diagonal is no longer it
          problem p{given.name + (moved > 0 ? ", rows moved" : ""), given.n, {}};
          for (const auto& [place, value] : given.a)
            p.a[{static_cast<std::int32_t>((place.first + moved) % p.n), place.second}] = value;
          const csr<double> A = to_sparse<double>(device::cpu(1), p);
          scaled_rows B = scale_and_match(A.all(), matching_use::where_weak, 1, "test");
          if (coloured_order) reorder(B, order_by_symmetric_pattern(B.rows, coloured<double>));
          const places columns = B.order.order.empty() ? natural(p.n) : B.order.order;
          const places rows = B.sources.empty() ? columns : B.sources;
          EXPECT_EQ(B.matched, !B.sources.empty());
          const dense ordered = permuted(to_dense<double>(p), rows, columns);
          unit_factor exact;  // all of B by dense elimination: what the pair is to invert is A itself
          dense full = ordered;
          for (std::int64_t i = 0; i < p.n; ++i)
            for (std::int64_t j = 0; j < p.n; ++j)
              full(i, j) *= std::exp2(static_cast<long double>(B.row_exponent[static_cast<std::size_t>(i)] +
                                                               B.column_exponent[static_cast<std::size_t>(j)]));
          for (std::int64_t i = 0; i < p.n; ++i) {
            for (std::int64_t k = 0; k < i; ++k) {
              full(i, k) /= full(k, k);
              for (std::int64_t j = k + 1; j < p.n; ++j) full(i, j) -= full(i, k) * full(k, j);
            }
            exact.pivots.push_back(static_cast<double>(full(i, i)));
          }
          for (std::int64_t i = 0; i < p.n; ++i) {
            for (std::int64_t j = 0; j < p.n; ++j) {
              if (i == j || full(i, j) == 0) continue;
              sparse_rows& side = j < i ? exact.lower : exact.upper;
              side.col.push_back(static_cast<std::int32_t>(j));
              side.val.push_back(static_cast<double>(j < i ? full(i, j) : full(i, j) / full(i, i)));
            }
            exact.lower.row_ptr.push_back(std::ssize(exact.lower.col));
            exact.upper.row_ptr.push_back(std::ssize(exact.upper.col));
          }
          const factored_matrix F = unscaled("test", std::move(B), std::move(exact));
          const auto M = make_triangular_pair<double>(dev, F, "test");
          expect_inverse(matrix_of(dev, *M, p.n), to_dense<double>(p), 1e-10, p.name + " on " + dev.kind());
        }
}

TEST(ilu0, matches_rows_where_the_diagonal_is_zero_or_weak) {
  const problem p = convection(9, 11, 0.5);
  problem moved{"moved", p.n, {}}, weak = p;
  for (const auto& [place, value] : p.a)
    moved.a[{static_cast<std::int32_t>((place.first + 7) % p.n), place.second}] = value;
  for (std::int32_t i = 0; i < p.n; i += 10) weak.a[{i, i}] = 1e-9;
  for (const device& dev : devices()) {
    const auto M = make_ilu0(dev, to_sparse<double>(dev, moved).all());
    EXPECT_NE(M->name().find("rows matched"), std::string::npos) << M->name();
    if (!dev.is_cuda()) {  // the rows come back to where they were
      const auto [L, U] = dense_ilu0(to_dense<double>(p));
      const dense product = L * U;
      dense back(p.n);
      for (std::int64_t i = 0; i < p.n; ++i)
        for (std::int64_t j = 0; j < p.n; ++j) back((i + 7) % p.n, j) = product(i, j);
      expect_inverse(matrix_of(dev, *M, p.n), back, 1e-12, M->name());
    }
    EXPECT_NE(make_ilu0(dev, to_sparse<double>(dev, weak).all())->name().find("rows matched"),
              std::string::npos);
  }
}

std::string refusal(const device& dev, const problem& p, const std::string& spec) {
  try {
    return "made " + make_preconditioner(dev, to_sparse<double>(dev, p).all(), spec)->name();
  } catch (const value_error& e) {
    return e.what();
  }
}

TEST(ilu0, pivots_that_vanish_are_named_or_shifted) {
  // Cancels in row 3: a weak diagonal is not to see before.
  const problem p{"cancels",
                  4,
                  {{{0, 0}, 1}, {{0, 2}, 1}, {{1, 1}, 1}, {{2, 0}, 1}, {{2, 2}, 1}, {{3, 3}, 2}, {{2, 3}, 1}}};
  for (const device& dev : devices()) {
    EXPECT_EQ(refusal(dev, p, "ilu0"), "ilu0: the pivot of row 3 is zero");
    const auto M = make_ilu0(dev, to_sparse<double>(dev, p).all(), 0.125);
    EXPECT_EQ(M->name().substr(0, 17), "ilu0 (shift 0.125");
    dense shifted = to_dense<double>(p);
    shifted(0, 0) += 0.125;
    shifted(1, 1) += 0.125;
    shifted(2, 2) += 0.125;
    shifted(3, 3) += 0.25;  // the last row has entries of 2
    expect_inverse(matrix_of(dev, *M, p.n), shifted, 1e-14, M->name());
  }
}

// Entries of a row that are not the `most` largest in magnitude, the earlier of equals, become zero.
void keep_largest(dense& A, std::int64_t row, std::int64_t first, std::int64_t end, std::int64_t most) {
  std::vector<std::int64_t> columns;
  for (std::int64_t j = first; j < end; ++j)
    if (A(row, j) != 0) columns.push_back(j);
  std::stable_sort(columns.begin(), columns.end(),
                   [&](std::int64_t a, std::int64_t b) { return std::abs(A(row, a)) > std::abs(A(row, b)); });
  for (std::int64_t k = most; k < std::ssize(columns); ++k) A(row, columns[static_cast<std::size_t>(k)]) = 0;
}

// L U by threshold, row by row, of a matrix whose rows and columns are scaled.
dense dense_ilut(const dense& B, double drop, std::int64_t fill) {
  const std::int64_t n = B.n;
  dense work = B, L(n), U(n);
  for (std::int64_t i = 0; i < n; ++i) {
    long double squares = 0;
    std::int64_t left = 0, right = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      squares += B(i, j) * B(i, j);
      if (B(i, j) != 0 && j != i) ++(j < i ? left : right);
    }
    const long double least = drop * std::sqrt(squares);
    for (std::int64_t k = 0; k < i; ++k) {
      const long double l = work(i, k) / U(k, k);
      work(i, k) = std::abs(l) > least ? l : 0;
      for (std::int64_t j = k + 1; j < n; ++j) work(i, j) -= work(i, k) * U(k, j);
    }
    for (std::int64_t j = i + 1; j < n; ++j)
      if (std::abs(work(i, j)) <= least) work(i, j) = 0;
    keep_largest(work, i, 0, i, left + fill);
    keep_largest(work, i, i + 1, n, right + fill);
    L(i, i) = 1;
    for (std::int64_t j = 0; j < n; ++j) (j < i ? L : U)(i, j) = work(i, j);
  }
  return L * U;
}

TYPED_TEST(incomplete_lu, ilut_is_the_dense_algorithm) {
  for (const device& dev : devices())
    for (const problem& p : unsymmetric_problems())
      for (const ilut_options& options : {ilut_options{0.3, 2}, {1e-2, 1}, {0, 100}}) {
        const csr<TypeParam> A = to_sparse<TypeParam>(device::cpu(1), p);
        scaled_rows B = scale_and_match(A.all(), matching_use::always, 1, "test");
        ASSERT_FALSE(B.matched);
        reorder_for_bandwidth(B);
        const places& order = B.order.order;
        const auto power = [&](std::int64_t i, std::int64_t j) {
          return std::exp2(static_cast<long double>(B.row_exponent[static_cast<std::size_t>(i)] +
                                                    B.column_exponent[static_cast<std::size_t>(j)]));
        };
        dense scaled = permuted(to_dense<TypeParam>(p), order, order);
        for (std::int64_t i = 0; i < p.n; ++i)
          for (std::int64_t j = 0; j < p.n; ++j) scaled(i, j) *= power(i, j);
        const dense factored = dense_ilut(scaled, options.drop, options.fill);
        dense product(p.n);
        for (std::int64_t i = 0; i < p.n; ++i)
          for (std::int64_t j = 0; j < p.n; ++j)
            product(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]) =
                factored(i, j) / power(i, j);
        const auto M = make_ilut(dev, A.to(dev).all(), options);
        const double tolerance = 20 * static_cast<double>(p.n + 10) * std::numeric_limits<TypeParam>::epsilon();
        expect_inverse(matrix_of(dev, *M, p.n), product, tolerance, p.name + ": " + M->name());
        if (options.drop == 0)
          expect_inverse(matrix_of(dev, *M, p.n), to_dense<TypeParam>(p), tolerance, M->name());
      }
}

TEST(ilut, says_what_was_done) {
  const device dev = device::cpu(1);
  const csr<double> tridiagonal = to_sparse<double>(dev, poisson(1, 1, 30));
  EXPECT_EQ(make_ilut(dev, tridiagonal.all(), {})->name(), "ilut (drop 0.001, fill 10: 1 times the entries)");
  // Elimination leaves nothing of one pivot.
  const problem p{"cancels", 3, {{{0, 0}, 1}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 1}, {{2, 2}, 1}}};
  const std::string name = make_ilut(dev, to_sparse<double>(dev, p).all(), {})->name();
  EXPECT_NE(name.find(", 1 pivot raised"), std::string::npos) << name;
  for (const ilut_options& bad : {ilut_options{-1, 2}, {1, 2}, {std::nan(""), 2}, {1e-3, -1}})
    EXPECT_THROW(make_ilut(dev, tridiagonal.all(), bad), value_error);
}

TEST(ilu0, bad_input_is_refused_with_its_row) {
  const device dev = device::cpu(2);
  for (const std::string spec : {"ilu0", "ilut"}) {
    const auto refused = [&](problem p, std::pair<std::int32_t, std::int32_t> place, double value) {
      p.a[place] = value;
      return refusal(dev, p, spec);
    };
    const problem p = convection(4, 5, 1);
    EXPECT_EQ(refused(p, {6, 5}, std::nan("")), spec + ": row 7 holds an entry that is NaN or infinite");
    EXPECT_EQ(refused(p, {6, 5}, std::numeric_limits<double>::infinity()),
              spec + ": row 7 holds an entry that is NaN or infinite");
    problem zero_row = p, zero_column = p,
            deficient{"deficient", 3, {{{0, 0}, 1}, {{1, 0}, 1}, {{2, 1}, 1}, {{2, 2}, 1}}};
    for (auto& [place, value] : zero_row.a) value *= place.first != 4;
    for (auto& [place, value] : zero_column.a) value *= place.second != 4;
    EXPECT_EQ(refusal(dev, zero_row, spec), spec + ": the matrix is singular: row 5 is zero");
    EXPECT_EQ(refusal(dev, zero_column, spec), spec + ": the matrix is singular: column 5 is zero");
    const std::string words = refusal(dev, deficient, spec);
    EXPECT_NE(words.find("singular: whatever its values are, as the entries of row 2 "), std::string::npos)
        << words;
    EXPECT_EQ(refusal(dev, {"none", 0, {}}, spec).substr(0, 9), "made " + spec.substr(0, 4));
    csr<double> wide = to_sparse<double>(dev, p);
    wide.cols = 21;
    EXPECT_THROW(make_preconditioner(dev, wide.all(), spec), shape_error);
  }
  for (const double shift : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e4})
    EXPECT_THROW(make_ilu0(dev, to_sparse<double>(dev, poisson(1, 3, 3)).all(), shift), value_error);
}

TEST(ilu0, units_of_any_size_are_no_matter) {
  for (const std::string spec : {"ilu0", "ilut"})
    for (const double scale : {0x1p996, 0x1p-996}) {
      problem p = convection(6, 7, 1.5);
      for (auto& [place, value] : p.a) value *= place.first % 3 == 0 ? scale : 1;
      const csr<double> A = to_sparse<double>(device::cpu(1), p);
      const auto M = make_preconditioner(device::cpu(1), A.all(), spec);
      const auto plain = make_preconditioner(
          device::cpu(1), to_sparse<double>(device::cpu(1), convection(6, 7, 1.5)).all(), spec);
      std::vector<double> r = random_vector<double>(p.n, 4), scaled = r;
      for (std::size_t i = 0; i < r.size(); i += 3) scaled[i] *= scale;
      const std::vector<double> z = apply(device::cpu(1), *M, scaled),
                                expected = apply(device::cpu(1), *plain, r);
      for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(z[i], expected[i], 1e-12) << spec << scale;
    }
}

// A dense row and a dense column.
TEST(ilu0, arrows_take_no_time) {
  problem p{"arrow", 3000, {}};
  for (std::int32_t i = 0; i < p.n; ++i) {
    p.a[{i, i}] = 4;
    p.a[{1500, i}] = p.a[{i, 1500}] = 1e-3;
  }
  p.a[{1500, 1500}] = 4;
  for (const std::string spec : {"ilu0", "ilut"})
    EXPECT_NE(refusal(device::cpu(1), p, spec).substr(0, 4), "ilu0:") << spec;
}

TEST(ilu0, factors_that_are_useless_are_refused) {
  // Each row takes the one before it a thousand times: ones grow to 1e3^n.
  problem p{"growing", 12, {}};
  for (std::int32_t i = 0; i < p.n; ++i) {
    p.a[{i, i}] = 1;
    if (i > 0) p.a[{i, i - 1}] = -900;
  }
  EXPECT_EQ(refusal(device::cpu(1), p, "ilu0").substr(0, 30), "ilu0: the factors are unstable");
  const std::string path = data_file("matrices/nnc1374.mtx.gz");
  VOUCH_NEEDS_DATA(path);
  const csr<double> A = read_csr(device::cpu(1), path);
  EXPECT_THROW(make_preconditioner(device::cpu(1), A.all(), "ilu0"), value_error);
  EXPECT_THROW(make_preconditioner(device::cpu(1), A.all(), "ilut"), value_error);
}

// A row and a column that are full: their pattern is gone through once for all rows, not once for each.
TEST(ilu0, of_a_dense_row_takes_no_longer_than_its_entries) {
  problem p = poisson(1, 1, 60000);
  for (std::int32_t i = 1; i < p.n; ++i) {
    p.a[{0, i}] = p.a[{i, 0}] = -1e-4;
    p.a[{i, i}] = 4;
  }
  p.a[{0, 0}] = 10;
  const device dev = device::cpu(1);
  const csr<double> A = to_sparse<double>(dev, p);
  const auto M = make_ilu0<double>(dev, A.all());
  // L U agrees with A on its pattern: a few products with what was solved for show it as well as all entries do.
  const std::vector<double> b = random_vector<double>(p.n, 1), z = apply(dev, *M, b);
  long double error = 0, size = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    long double r = b[static_cast<std::size_t>(i)];
    size += r * r;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      r -= static_cast<long double>(A.val[k]) * z[static_cast<std::size_t>(A.col[k])];
    error += r * r;
  }
  EXPECT_LT(std::sqrt(error / size), 1e-4);  // the fill that was left out is small
}

// Iterations of GMRES(50) for b of ones, to 1e-8 of its norm on the residual of A itself.
struct expectation {
  const char* matrix;
  const char* spec;
  int most;
};

class published : public ::testing::TestWithParam<expectation> {};

TEST_P(published, iterations_are_few) {
  const std::string path = data_file(std::string("matrices/") + GetParam().matrix);
  VOUCH_NEEDS_DATA(path);
  const csr<double> host = read_csr(device::cpu(1), path);
  for (const device& dev : devices()) {
    if (dev.threads() > 1) continue;  // the same bits as one thread
    const csr<double> A = host.to(dev);
    const auto M = make_preconditioner(dev, A.all(), GetParam().spec);
    const auto b = array<double>::from(dev, std::vector<double>(static_cast<std::size_t>(A.rows), 1.0));
    auto x = array<double>::zeros(dev, A.rows);
    const solve_report report = gmres<double>(dev, A, b, x, {}, M.get());
    // Of fs_760_3 rounding leaves just that much.
    EXPECT_TRUE(report.status == solve_status::converged ||
                report.relative_true() <= 2 * report.attainable_relative)
        << M->name() << ": " << report.reason;
    EXPECT_LE(report.iterations, GetParam().most) << M->name();
    ::testing::Test::RecordProperty(dev.kind(), static_cast<int>(report.iterations));
  }
}

std::string case_name(const ::testing::TestParamInfo<expectation>& chosen) {
  std::string name = std::string(chosen.param.matrix) + "_" + chosen.param.spec;
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }), name.end());
  return name;
}

// Numbers of GMRES(50) and a little more. Prototypes of GMRES(30) and (100) take with ILU(0) 46 and 35 iterations for
// sherman5, 57 and 53 for orsirr_1, 19 for jpwh_991, 31 for pde900, 30 for vem2, 100 and 76 for ani4; scaled and matched 58
// and 39 for spe1, 21 for adder_dcop_05.
INSTANTIATE_TEST_SUITE_P(
    ilu0, published,
    ::testing::Values(expectation{"sherman5.mtx", "ilu0", 38}, expectation{"orsirr_1.mtx", "ilu0", 58},
                      expectation{"jpwh_991.mtx", "ilu0", 20}, expectation{"pde900.mtx.gz", "ilu0", 33},
                      expectation{"vem2.mtx.gz", "ilu0", 32}, expectation{"ani4.mtx.gz", "ilu0", 90},
                      expectation{"e05r0200.mtx.gz", "ilu0", 165}, expectation{"spe1.mtx.gz", "ilu0", 48},
                      expectation{"adder_dcop_05.mtx.gz", "ilu0", 33}, expectation{"west0479.mtx", "ilu0", 85}),
    case_name);

// SuperLU's ILU with the same threshold, up to ten times the entries and exchanges of rows takes 4 to 18 in the prototypes,
// and finds fs_760_3 singular.
INSTANTIATE_TEST_SUITE_P(
    ilut, published,
    ::testing::Values(expectation{"sherman5.mtx", "ilut", 14}, expectation{"jpwh_991.mtx", "ilut", 11},
                      expectation{"epb0.mtx.gz", "ilut", 9}, expectation{"utm300.mtx", "ilut", 17},
                      expectation{"e05r0200.mtx.gz", "ilut", 28}, expectation{"spe1.mtx.gz", "ilut", 28},
                      expectation{"adder_dcop_05.mtx.gz", "ilut", 6}, expectation{"west0479.mtx", "ilut", 36},
                      expectation{"gemat11.mtx.gz", "ilut", 29}, expectation{"fs_760_3.mtx.gz", "ilut", 100},
                      expectation{"rajat19.mtx.gz", "ilut", 17},
                      expectation{"e20r0000.mtx.gz", "ilut:fill=20", 90}),
    case_name);

TYPED_TEST(incomplete_lu, threads_do_not_change_bits) {
  using T = TypeParam;
  for (const problem& p : {convection(130, 140, 1.0), random_dominant(3000, 40, 9)}) {
    const csr<T> A = to_sparse<T>(device::cpu(1), p);
    const std::vector<T> r = random_vector<T>(p.n, 3);
    for (const std::string spec : {"ilu0", "ilut"}) {
      const auto run = [&](const device& dev) {
        const csr<T> there = A.to(dev);
        return apply(dev, *make_preconditioner(dev, there.all(), spec), r);
      };
      const std::vector<T> alone = run(device::cpu(1));
      for (const int threads : {2, 5}) EXPECT_EQ(run(device::cpu(threads)), alone) << spec << threads;
      for (const device& gpu : gpus()) EXPECT_EQ(run(gpu), run(gpu)) << spec;
    }
  }
}

}  // namespace
}  // namespace vouch::testing
