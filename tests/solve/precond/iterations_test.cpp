// What preconditioners are for: fewer iterations; and what conjugate gradients demand of them: symmetry and
// positive definiteness.
#include <gtest/gtest.h>

#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/solve/precond/make.hpp>

#include "data.hpp"
#include "devices.hpp"
#include "solve/precond/problems.hpp"

namespace vouch::testing {
namespace {

const std::vector<std::string> specs{"jacobi",      "block-jacobi", "block-jacobi:5", "ssor",
                                     "ssor:1.5",    "ic0",          "ic0:0.05",       "chebyshev",
                                     "chebyshev:1", "chebyshev:7",  "chebyshev:16"};

template <class T>
class any_preconditioner : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(any_preconditioner, types);

// x^T M y = y^T M x up to rounding, measured in the norms of M itself, and x^T M x > 0.
template <real T>
void expect_symmetric_positive(const device& dev, const problem& p) {
  const csr<T> A = to_sparse<T>(dev, p);
  for (const std::string& spec : specs) {
    const auto M = make_preconditioner(dev, A.all(), spec);
    for (std::uint64_t seed = 0; seed < 4 && p.n > 0; ++seed) {
      const std::vector<T> x = random_vector<T>(p.n, 2 * seed), y = random_vector<T>(p.n, 2 * seed + 1);
      const std::vector<T> mx = apply(dev, *M, x), my = apply(dev, *M, y);
      const long double xx = dot(x, mx), yy = dot(y, my);
      EXPECT_GT(xx, 0) << p.name << " " << M->name();
      EXPECT_GT(yy, 0) << p.name << " " << M->name();
      EXPECT_LE(std::abs(dot(y, mx) - dot(x, my)), 1e4 * std::numeric_limits<T>::epsilon() * std::sqrt(xx * yy))
          << p.name << " " << M->name();
    }
  }
}

TYPED_TEST(any_preconditioner, is_symmetric_and_positive) {
  for (const device& dev : devices())
    for (const problem& p : small_problems()) expect_symmetric_positive<TypeParam>(dev, p);
}

TYPED_TEST(any_preconditioner, is_symmetric_and_positive_for_stiffness_matrices) {
  for (const char* name : {"bcsstk01", "bcsstk02", "bcsstk08", "bcsstk14"}) {
    const std::string path = data_file(std::string("matrices/") + name + ".mtx");
    VOUCH_NEEDS_DATA(path);
    const problem p = read_symmetric(path);
    for (const device& dev : devices()) expect_symmetric_positive<TypeParam>(dev, p);
  }
}

TYPED_TEST(any_preconditioner, vectors_of_another_length_are_refused) {
  for (const device& dev : devices()) {
    const csr<TypeParam> A = to_sparse<TypeParam>(dev, small_problems().back());
    array<TypeParam> r = array<TypeParam>::zeros(dev, A.rows), z(dev, A.rows);
    for (const std::string& spec : specs) {
      const auto M = make_preconditioner(dev, A.all(), spec);
      EXPECT_THROW(M->apply(dev, {r.data(), A.rows - 1}, z), shape_error) << spec;
      EXPECT_THROW(M->apply(dev, r, {z.data(), A.rows - 1}), shape_error) << spec;
    }
  }
}

TYPED_TEST(any_preconditioner, of_nothing_does_nothing) {
  for (const device& dev : devices()) {
    const csr<TypeParam> A = to_sparse<TypeParam>(dev, {"empty", 0, {}});
    for (const std::string& spec : specs)
      EXPECT_TRUE(apply(dev, *make_preconditioner(dev, A.all(), spec), std::vector<TypeParam>{}).empty());
  }
}

TYPED_TEST(any_preconditioner, gives_the_same_bits_twice_and_for_any_threads) {
  using T = TypeParam;
  const problem p = poisson(32, 31, 33);
  const csr<T> A = to_sparse<T>(device::cpu(1), p);
  const std::vector<T> r = random_vector<T>(p.n, 5);
  for (const std::string& spec : specs) {
    const auto on = [&](const device& dev) {
      const csr<T> there = A.to(dev);
      return apply(dev, *make_preconditioner(dev, there.all(), spec), r);
    };
    const std::vector<T> once = on(device::cpu(1));
    EXPECT_EQ(on(device::cpu(4)), once) << spec;
    for (const device& gpu : gpus()) EXPECT_EQ(on(gpu), on(gpu)) << spec;
  }
}

struct expectation {
  const char* matrix;
  int limit;  // unpreconditioned iterations that are not enough
};

// Iterations with M against none and against Jacobi. Chebyshev of degree k costs k + 1 products an iteration,
// so it is held to more.
void expect_fewer_iterations(const problem& p, int limit) {
  for (const device& dev : devices()) {
    if (dev.threads() > 1) continue;  // the same bits as one thread
    const csr<double> host = to_sparse<double>(device::cpu(1), p);
    const csr<double> A = host.to(dev);
    const auto iterations = [&](const std::string& spec) {
      const auto M = make_preconditioner(dev, A.all(), spec);
      const int count = pcg_iterations(dev, host, M.get(), limit);
      ::testing::Test::RecordProperty(p.name + " " + spec, count);
      return count;
    };
    const int none = iterations("none"), jacobi = iterations("jacobi");
    EXPECT_LE(jacobi, none) << p.name;
    EXPECT_LT(iterations("block-jacobi"), none) << p.name;
    EXPECT_LT(iterations("ssor"), 0.8 * jacobi) << p.name;
    EXPECT_LT(iterations("ic0"), 0.6 * jacobi) << p.name;
    EXPECT_LT(iterations("chebyshev:4"), 0.45 * jacobi) << p.name;
  }
}

TEST(iterations, fall_on_poisson) {
  expect_fewer_iterations(poisson(1, 40, 41), 1000);
  expect_fewer_iterations(poisson(14, 15, 16), 1000);
}

class stiffness : public ::testing::TestWithParam<expectation> {};

TEST_P(stiffness, iterations_fall) {
  const std::string path = data_file(std::string("matrices/") + GetParam().matrix + ".mtx");
  VOUCH_NEEDS_DATA(path);
  expect_fewer_iterations(read_symmetric(path), GetParam().limit);
}

INSTANTIATE_TEST_SUITE_P(harwell_boeing, stiffness,
                         ::testing::Values(expectation{"bcsstk11", 4000}, expectation{"bcsstk13", 2500},
                                           expectation{"bcsstk14", 2000}, expectation{"bcsstk15", 2000},
                                           expectation{"bcsstk16", 1000}),
                         [](const auto& chosen) { return chosen.param.matrix; });

TEST(make_preconditioner, knows_its_names) {
  const std::vector<std::string> names{"none",
                                       "jacobi",
                                       "block-jacobi[:size]",
                                       "ssor[:omega]",
                                       "ic0[:shift]",
                                       "ilu0[:shift]",
                                       "ilut[:drop,fill]",
                                       "chebyshev[:degree]",
                                       "amg[:degree,strength,filter,type]"};
  EXPECT_EQ(precondition_names(), names);
  const device dev = device::cpu(1);
  const csr<double> A = to_sparse<double>(dev, poisson(1, 4, 4));
  EXPECT_EQ(make_preconditioner(dev, A.all(), "none"), nullptr);
  EXPECT_EQ(make_preconditioner(dev, A.all(), "jacobi")->name(), "jacobi");
  EXPECT_NE(make_preconditioner(dev, A.all(), "jacobi")->diagonal(), nullptr);
  EXPECT_EQ(make_preconditioner(dev, A.all(), "block-jacobi:4")->name(), "block-jacobi (4 by 4)");
  EXPECT_EQ(make_preconditioner(dev, A.all(), "ssor:1.5")->name(), "ssor (omega 1.5)");
  EXPECT_EQ(make_preconditioner(dev, A.all(), "ic0:1e-2")->name(), "ic0 (shift 0.01)");
  EXPECT_EQ(make_preconditioner(dev, A.all(), "chebyshev:3")->name(),
            "chebyshev (degree 3, eigenvalues to 1.98992)");
  EXPECT_EQ(make_preconditioner(dev, A.all(), "ic0")->diagonal(), nullptr);
}

TEST(make_preconditioner, parameters_come_by_name_or_in_their_order) {
  using given = std::map<std::string, double>;
  EXPECT_EQ(parse_preconditioner("ilut").parameters, given{});
  EXPECT_EQ(parse_preconditioner("ilut:1e-2").parameters, (given{{"drop", 1e-2}}));
  EXPECT_EQ(parse_preconditioner("ilut:1e-2,7").parameters, (given{{"drop", 1e-2}, {"fill", 7}}));
  EXPECT_EQ(parse_preconditioner("ilut:fill=7").parameters, (given{{"fill", 7}}));
  EXPECT_EQ(parse_preconditioner("ilut:fill=7,drop=1e-2").parameters, (given{{"drop", 1e-2}, {"fill", 7}}));
  EXPECT_EQ(parse_preconditioner("ssor:omega=1.5").parameters, (given{{"omega", 1.5}}));
  for (const char* name : {"none", "jacobi", "block-jacobi", "ssor", "ic0", "chebyshev"})
    EXPECT_TRUE(is_symmetric({name})) << name;
  for (const char* name : {"ilu0", "ilut"}) EXPECT_FALSE(is_symmetric({name})) << name;
}

TEST(make_preconditioner, refuses_what_it_does_not_know) {
  const device dev = device::cpu(1);
  const csr<double> A = to_sparse<double>(dev, poisson(1, 4, 4));
  for (const char* spec : {"",
                           ":",
                           "jacob",
                           "Jacobi",
                           "jacobi:1",
                           "none:0",
                           "block-jacobi:",
                           "block-jacobi:0",
                           "block-jacobi:-3",
                           "block-jacobi:33",
                           "block-jacobi:2.5",
                           "block-jacobi:3x",
                           "ssor:",
                           "ssor:0",
                           "ssor:2",
                           "ssor:nan",
                           "ssor:1 ",
                           "ic0:-1",
                           "ic0:inf",
                           "ic0:x",
                           "ilu0:-1",
                           "ilut:1",
                           "ilut:-1e-3",
                           "ilut:1e-3,-1",
                           "ilut:1e-3,2.5",
                           "ilut:1e-3,2,3",
                           "ilut:drop",
                           "ilut:drop=",
                           "ilut:drop=1e-3,drop=1e-4",
                           "ilut:1e-3,drop=1e-4",
                           "ilut:dorp=1e-3",
                           "ilut:1e-3,",
                           "ilut:,",
                           "chebyshev:0",
                           "chebyshev:65",
                           "chebyshev:99999999999999999999"})
    EXPECT_THROW(make_preconditioner(dev, A.all(), spec), value_error) << spec;
  try {
    make_preconditioner(dev, A.all(), "icc");
    FAIL();
  } catch (const value_error& e) {
    EXPECT_STREQ(e.what(), "unknown preconditioner \"icc\"");
    EXPECT_NE(e.hint().find("ic0[:shift]"), std::string::npos);
  }
}

}  // namespace
}  // namespace vouch::testing
