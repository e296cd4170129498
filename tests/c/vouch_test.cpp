// vouch/c/vouch.h: what a hostile caller passes, and results against values by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include <vouch/c/vouch.h>

extern "C" int check_from_c(void);

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::int64_t row_ptr[] = {0, 1, 2};
const std::int32_t col[] = {0, 1};
const double val[] = {2, 4};

struct freed {
  vouch_solver* solver = nullptr;
  ~freed() { vouch_solver_free(solver); }
};

TEST(c_interface, serves_a_program_in_c) { EXPECT_EQ(check_from_c(), 0) << vouch_message(); }

TEST(c_interface, solves_dense_systems_in_either_order) {
  const double by_rows[] = {2, 1, -7, 0, 5, -7};  // [2 1; 0 5], rows 3 apart
  const double b[] = {4, 10, 2, 0};               // x = (1, 2) and (1, 0)
  for (const int order : {1, 0}) {
    double x[4] = {};
    freed s;
    ASSERT_EQ(vouch_solver_create_dense(&s.solver, 2, by_rows, 3, order, nullptr), VOUCH_OK) << vouch_message();
    vouch_report r;
    ASSERT_EQ(vouch_solver_solve(s.solver, 2, b, x, &r), VOUCH_OK) << vouch_message();
    EXPECT_TRUE(r.solved);
    if (order == 1) {
      EXPECT_NEAR(x[0], 1, 1e-14);
      EXPECT_NEAR(x[1], 2, 1e-14);
      EXPECT_NEAR(x[2], 1, 1e-14);
      EXPECT_NEAR(x[3], 0, 1e-14);
    } else {  // [2 0; 1 5]: x = (2, 1.6) and (1, -0.2)
      EXPECT_NEAR(x[0], 2, 1e-14);
      EXPECT_NEAR(x[1], 1.6, 1e-14);
      EXPECT_NEAR(x[2], 1, 1e-14);
      EXPECT_NEAR(x[3], -0.2, 1e-14);
    }
  }
}

TEST(c_interface, takes_offsets_of_32_bits) {
  const std::int32_t short_row_ptr[] = {0, 1, 2};
  const double b[] = {2, 8};
  double x[2] = {};
  freed s;
  ASSERT_EQ(vouch_solver_create_csr32(&s.solver, 2, short_row_ptr, col, val, nullptr), VOUCH_OK)
      << vouch_message();
  ASSERT_EQ(vouch_solver_solve(s.solver, 1, b, x, nullptr), VOUCH_OK) << vouch_message();
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 2);
  const std::int32_t falling[] = {0, 2, 1};
  freed none;
  EXPECT_EQ(vouch_solver_create_csr32(&none.solver, 2, falling, col, val, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_create_csr32(&none.solver, 2, nullptr, col, val, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_create_csr32(&none.solver, -1, falling, col, val, nullptr), VOUCH_SHAPE);
  EXPECT_EQ(none.solver, nullptr);
}

TEST(c_interface, says_what_is_wrong_with_a_matrix) {
  EXPECT_EQ(vouch_check_csr(2, row_ptr, col, val), VOUCH_OK);
  const double odd[] = {2, nan};
  EXPECT_EQ(vouch_check_csr(2, row_ptr, col, odd), VOUCH_VALUE);
  EXPECT_STREQ(vouch_message(), "entry 1 of row 1, in column 1, is NaN");
  const std::int32_t beyond[] = {0, 2};
  EXPECT_EQ(vouch_check_csr(2, row_ptr, beyond, val), VOUCH_VALUE);
  EXPECT_STREQ(vouch_message(), "entry 1 of row 1 is in column 2, the matrix has 2 columns");
  EXPECT_EQ(vouch_check_csr(-2, row_ptr, col, val), VOUCH_SHAPE);
  EXPECT_EQ(vouch_check_csr(2, nullptr, col, val), VOUCH_VALUE);
}

TEST(c_interface, refuses_with_a_message) {
  vouch_options* o = nullptr;
  ASSERT_EQ(vouch_options_create(&o), VOUCH_OK);
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{{"method", "magic"},
                                                        {"precond", "magic"},
                                                        {"precond", "ssor:7"},
                                                        {"precond", "ilut:drop=-1"},
                                                        {"precond", "chebyshev:0"},
                                                        {"precond", "amg:type=tall"},
                                                        {"omega", "0"},
                                                        {"omega", "2"},
                                                        {"precision", "half"},
                                                        {"rtol", "-1"},
                                                        {"rtol", "1e-8x"},
                                                        {"rtol", ""},
                                                        {"threads", "0"},
                                                        {"max-iterations", "1.5"},
                                                        {"device", "tpu"},
                                                        {"device", "cuda:x"},
                                                        {"colour", "red"}}) {
    EXPECT_EQ(vouch_options_set(o, name, value), VOUCH_VALUE) << name << " " << value;
    EXPECT_NE(std::strlen(vouch_message()), 0U);
  }
  EXPECT_EQ(vouch_options_set(o, nullptr, "x"), VOUCH_VALUE);
  EXPECT_EQ(vouch_options_set(nullptr, "rtol", "1"), VOUCH_VALUE);
  vouch_options_free(o);
  vouch_options_free(nullptr);
  EXPECT_EQ(vouch_options_create(nullptr), VOUCH_VALUE);

  freed s;
  EXPECT_EQ(vouch_solver_create_csr(nullptr, 2, row_ptr, col, val, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_create_csr(&s.solver, 2, nullptr, col, val, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_create_csr(&s.solver, 2, row_ptr, nullptr, val, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_create_csr(&s.solver, -1, row_ptr, col, val, nullptr), VOUCH_SHAPE);
  EXPECT_EQ(vouch_solver_create_csr(&s.solver, std::int64_t{1} << 31, row_ptr, col, val, nullptr), VOUCH_SHAPE);
  const std::int64_t bad[] = {0, 2, 1};
  EXPECT_EQ(vouch_solver_create_csr(&s.solver, 2, bad, col, val, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_create_dense(&s.solver, 2, val, 1, 0, nullptr), VOUCH_VALUE) << vouch_message();
  EXPECT_EQ(vouch_solver_create_dense(&s.solver, 2, nullptr, 2, 0, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_create_action(&s.solver, 2, nullptr, nullptr, nullptr), VOUCH_VALUE);
  EXPECT_EQ(s.solver, nullptr);
  vouch_solver_free(nullptr);

  ASSERT_EQ(vouch_solver_create_csr(&s.solver, 2, row_ptr, col, val, nullptr), VOUCH_OK);
  const double b[] = {2, 4}, broken[] = {1, nan};
  double x[] = {0, 0};
  EXPECT_EQ(vouch_solver_solve(nullptr, 1, b, x, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_solve(s.solver, 1, nullptr, x, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_solve(s.solver, 1, b, nullptr, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_solve(s.solver, -1, b, x, nullptr), VOUCH_SHAPE);
  EXPECT_EQ(vouch_solver_solve(s.solver, std::numeric_limits<std::int64_t>::max(), b, x, nullptr), VOUCH_SHAPE);
  EXPECT_EQ(vouch_solver_solve(s.solver, 1, broken, x, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_prove(s.solver, 1, b, x, nan, nullptr, nullptr), VOUCH_VALUE);
  EXPECT_EQ(vouch_solver_solve(s.solver, 0, nullptr, nullptr, nullptr), VOUCH_OK) << vouch_message();
  EXPECT_EQ(vouch_solver_solve(s.solver, 1, b, x, nullptr), VOUCH_OK);
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 1);

  EXPECT_EQ(vouch_price(nullptr, nullptr), VOUCH_VALUE);
  vouch_option option{};
  vouch_price_result result{};
  option.type = "straddle";
  EXPECT_EQ(vouch_price(&option, &result), VOUCH_VALUE);
  option.type = nullptr;
  option.spot = option.strike = option.expiry = 1;
  option.volatility = 0.2;
  for (const double tolerance : {-1e-4, nan, std::numeric_limits<double>::infinity()}) {
    option.tolerance = tolerance;
    EXPECT_EQ(vouch_price(&option, &result), VOUCH_VALUE) << tolerance;
  }
  option.tolerance = 0;
  option.exercise = "bermudan";
  EXPECT_EQ(vouch_price(&option, &result), VOUCH_VALUE);
  EXPECT_STREQ(vouch_message(), "exercise: a bermudan option needs dates, and vouch_option has none");
  option.exercise = nullptr;
  option.spot = nan;
  EXPECT_EQ(vouch_price(&option, &result), VOUCH_VALUE);
  EXPECT_EQ(result.price, 0);
}

int fails(void*, const double*, double*) { return 42; }
int throws(void*, const double*, double*) { throw std::bad_alloc(); }

TEST(c_interface, solutions_have_memory_of_their_own) {
  double both[] = {1, 2};
  freed s;
  ASSERT_EQ(vouch_solver_create_csr(&s.solver, 2, row_ptr, col, val, nullptr), VOUCH_OK);
  EXPECT_EQ(vouch_solver_solve(s.solver, 1, both, both, nullptr), VOUCH_VALUE);
  EXPECT_NE(std::string(vouch_message()).find("overlap"), std::string::npos);
  EXPECT_EQ(both[0], 1);
}

TEST(c_interface, what_has_no_name_is_not_named_twice) {
  const std::int64_t both[] = {0, 2, 3};
  const std::int32_t cols[] = {0, 1, 1};
  const double upper[] = {2, 1, 2}, b[] = {1, 1};
  vouch_options* o = nullptr;
  ASSERT_EQ(vouch_options_create(&o), VOUCH_OK);
  ASSERT_EQ(vouch_options_set(o, "method", "cg"), VOUCH_OK);
  freed s, t;
  vouch_code code = vouch_solver_create_csr(&s.solver, 2, both, cols, upper, o);
  double x[] = {0, nan};
  if (code == VOUCH_OK) code = vouch_solver_solve(s.solver, 1, b, x, nullptr);
  EXPECT_EQ(code, VOUCH_VALUE);
  EXPECT_EQ(std::string(vouch_message()).find("the matrix is not symmetric"), 0U) << vouch_message();
  ASSERT_EQ(vouch_options_set(o, "method", "sparse-lu"), VOUCH_OK);
  ASSERT_EQ(vouch_solver_create_csr(&t.solver, 2, both, cols, upper, o), VOUCH_OK) << vouch_message();
  EXPECT_EQ(vouch_solver_solve(t.solver, 1, b, x, nullptr), VOUCH_VALUE);
  EXPECT_EQ(std::string(vouch_message()).find("the matrix, the right-hand side or the start holds"), 0U)
      << vouch_message();
  vouch_options_free(o);
}

int gives_nan(void*, const double* x, double* y) {
  y[0] = nan;
  y[1] = x[1];
  return 0;
}

TEST(c_interface, an_action_answers_for_its_own_nan) {
  const double b[] = {1, 1};
  double x[] = {0, 0}, bad[] = {0, nan};
  freed s;
  ASSERT_EQ(vouch_solver_create_action(&s.solver, 2, gives_nan, nullptr, nullptr), VOUCH_OK);
  EXPECT_EQ(vouch_solver_solve(s.solver, 1, b, x, nullptr), VOUCH_VALUE);
  EXPECT_NE(std::string(vouch_message()).find("the product A x that the operator gives holds a NaN"),
            std::string::npos)
      << vouch_message();
  EXPECT_EQ(vouch_solver_solve(s.solver, 1, b, bad, nullptr), VOUCH_VALUE);
  EXPECT_NE(std::string(vouch_message()).find("the start vector holds a NaN"), std::string::npos)
      << vouch_message();
}

TEST(c_interface, reasons_are_there_whole) {
  EXPECT_STREQ(vouch_solver_reason(nullptr), "");
  const double singular[] = {1, 1, 1, 1}, b[] = {1, 2};
  double x[2] = {};
  freed s;
  ASSERT_EQ(vouch_solver_create_dense(&s.solver, 2, singular, 2, 0, nullptr), VOUCH_OK) << vouch_message();
  EXPECT_STREQ(vouch_solver_reason(s.solver), "");
  vouch_report r;
  ASSERT_EQ(vouch_solver_solve(s.solver, 1, b, x, &r), VOUCH_OK) << vouch_message();
  const std::string whole = vouch_solver_reason(s.solver);
  EXPECT_GT(whole.size(), 20U);
  EXPECT_EQ(whole.substr(0, sizeof r.reason - 1), r.reason);
  vouch_proof proof;
  ASSERT_EQ(vouch_solver_prove(s.solver, 1, b, x, 0, nullptr, &proof), VOUCH_OK) << vouch_message();
  EXPECT_EQ(std::string(vouch_solver_reason(s.solver)).substr(0, sizeof proof.reason - 1), proof.reason);
  EXPECT_NE(vouch_solver_reason(s.solver), whole);
}

TEST(c_interface, setup_has_the_look_at_the_matrix) {
  freed s;
  ASSERT_EQ(vouch_solver_create_csr(&s.solver, 2, row_ptr, col, val, nullptr), VOUCH_OK);
  vouch_report r{};
  ASSERT_EQ(vouch_solver_solve(s.solver, 0, nullptr, nullptr, &r), VOUCH_OK) << vouch_message();
  EXPECT_GT(r.setup_seconds, 0);
  ASSERT_EQ(vouch_solver_solve(s.solver, 0, nullptr, nullptr, &r), VOUCH_OK) << vouch_message();
  EXPECT_EQ(r.setup_seconds, 0);
}

TEST(c_interface, forged_counts_of_entries_are_refused) {
  const std::int64_t forged[] = {0, std::int64_t{1} << 60, std::int64_t{1} << 61};
  freed s;
  EXPECT_EQ(vouch_solver_create_csr(&s.solver, 2, forged, col, val, nullptr), VOUCH_VALUE);
}

TEST(c_interface, no_exception_of_an_action_leaves) {
  const double b[] = {1, 1};
  double x[] = {0, 0};
  freed bad, worse;
  ASSERT_EQ(vouch_solver_create_action(&bad.solver, 2, fails, nullptr, nullptr), VOUCH_OK);
  EXPECT_EQ(vouch_solver_solve(bad.solver, 1, b, x, nullptr), VOUCH_VALUE);
  EXPECT_NE(std::string(vouch_message()).find("42"), std::string::npos);
  ASSERT_EQ(vouch_solver_create_action(&worse.solver, 2, throws, nullptr, nullptr), VOUCH_OK);
  EXPECT_EQ(vouch_solver_solve(worse.solver, 1, b, x, nullptr), VOUCH_OUT_OF_MEMORY);
}

TEST(c_interface, what_is_cancelled_ends) {
  vouch_cancel();
  const double b[] = {1, 1};
  double x[] = {0, 0};
  freed s;
  const auto code = vouch_solver_create_csr(&s.solver, 2, row_ptr, col, val, nullptr);
  vouch_report r{};
  if (code == VOUCH_OK && vouch_solver_solve(s.solver, 1, b, x, &r) == VOUCH_OK) {
    EXPECT_TRUE(std::string(r.status) == "interrupted" || r.solved) << r.status;
  }
  vouch_cancel_clear();
  EXPECT_EQ(vouch_solver_create_csr(&s.solver, 2, row_ptr, col, val, nullptr), VOUCH_OK);
}

}  // namespace
