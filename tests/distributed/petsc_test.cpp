// What becomes of answers that are not PETSc's, but of functions in its place, which lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <vouch/solve/distributed/petsc/petsc.h>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/distributed/petsc.hpp>
#include <vouch/solve/distributed/petsc/petsc_ways.hpp>

#include "distributed/split_systems.hpp"
#include "distributed/thread_ranks.hpp"

// The rows that were handed over.
struct vouch_petsc_solver {
  std::int64_t all_rows, first_row, rows;
  std::vector<std::int64_t> row_ptr;
  std::vector<std::int32_t> col;
  std::vector<double> val;
  int symmetric, definite, constants_in_null_space;
  std::string method;

  double diagonal(std::int64_t i) const { return val[static_cast<std::size_t>(row_ptr[i])]; }
};

namespace vouch {
namespace {

using testing::on_ranks;

// Solves a diagonal matrix, or says so.
using manner = std::function<void(const vouch_petsc_solver&, const double* r, double* d, vouch_petsc_outcome&)>;

// Of this rank, which is a thread.
struct functions_state {
  manner solve;
  std::vector<std::vector<std::string>> words;  // of each create()
  std::vector<vouch_petsc_task> tasks;
  std::vector<std::unique_ptr<vouch_petsc_solver>> made;
  vouch_petsc_code create_code = VOUCH_PETSC_DONE, solve_code = VOUCH_PETSC_DONE;
  std::string unused, refused;  // an option's value that create() fails for
  int iterations = 3, live = 0;
  bool stopped = false, gained = false;
};
thread_local functions_state* state = nullptr;

void solve_exactly(const vouch_petsc_solver& A, const double* r, double* d, vouch_petsc_outcome&) {
  for (std::int64_t i = 0; i < A.rows; ++i) d[i] = r[i] / A.diagonal(i);
}

std::string value_behind(const std::vector<std::string>& words, const std::string& name) {
  std::string value;
  for (std::size_t k = 0; k + 1 < words.size(); ++k)
    if (words[k] == name) value = words[k + 1];
  return value;
}

vouch_petsc_code create(const vouch_petsc_rows* rows, int words, const char* const* word,
                        vouch_petsc_solver** made) {
  state->words.emplace_back(word, word + words);
  if (state->create_code != VOUCH_PETSC_DONE) return state->create_code;
  const std::vector<std::string>& own = state->words.back();
  if (!state->refused.empty() && std::find(own.begin(), own.end(), state->refused) != own.end())
    return VOUCH_PETSC_FAILED;
  const std::int64_t entries = rows->row_ptr[rows->rows];
  state->made.push_back(
      std::make_unique<vouch_petsc_solver>(vouch_petsc_solver{rows->all_rows,
                                                              rows->first_row,
                                                              rows->rows,
                                                              {rows->row_ptr, rows->row_ptr + rows->rows + 1},
                                                              {rows->col, rows->col + entries},
                                                              {rows->val, rows->val + entries},
                                                              rows->symmetric,
                                                              rows->definite,
                                                              rows->constants_in_null_space,
                                                              value_behind(state->words.back(), "-ksp_type")}));
  *made = state->made.back().get();
  ++state->live;
  return VOUCH_PETSC_DONE;
}

vouch_petsc_code solve(vouch_petsc_solver* solver, const double* r, double* d, const vouch_petsc_task* task,
                       vouch_petsc_outcome* outcome) {
  state->tasks.push_back(*task);
  *outcome = {VOUCH_PETSC_REACHED, state->iterations, 1e-30, "CONVERGED_RTOL"};
  for (int k = 0; k <= state->iterations; ++k)
    if (task->note(task->whom, k, std::pow(0.5, k)) == 0) outcome->end = VOUCH_PETSC_INTERRUPTED;
  state->solve(*solver, r, d, *outcome);
  return state->solve_code;
}

vouch_petsc functions_of(int index_bits = 32) {
  vouch_petsc all{};
  all.abi = VOUCH_PETSC_ABI;
  all.library = "PETSc 0.0.0";
  all.index_bits = index_bits;
  all.start = [](int, const char* const*) { return VOUCH_PETSC_DONE; };
  all.create = create;
  all.names = [](const vouch_petsc_solver* s, const char** method, const char** preconditioner, const char**) {
    *method = s->method.c_str();
    *preconditioner = "hypre boomeramg";
  };
  all.solve = solve;
  all.destroy = [](vouch_petsc_solver*) { --state->live; };
  all.unused = [] { return state->unused.c_str(); };
  all.problem = [] { return "out of luck"; };
  all.stop = [] { state->stopped = true; };
  return all;
}

csr<double> diagonal_matrix(std::int64_t n) {
  const device cpu = device::cpu(1);
  csr<double> A{n, n, array<std::int64_t>(cpu, n + 1), array<std::int32_t>(cpu, n), array<double>(cpu, n)};
  for (std::int64_t i = 0; i <= n; ++i) A.row_ptr[i] = i;
  for (std::int64_t i = 0; i < n; ++i) {
    A.col[i] = static_cast<std::int32_t>(i);
    A.val[i] = 1 + static_cast<double>(i % 7);
  }
  return A;
}

struct answer {
  petsc_report report;
  std::vector<double> x;
  functions_state state;  // of the last rank
};

// As the last rank has it, once all were seen to say the same.
answer solve_on(int count, const csr<double>& matrix, const petsc_options& options, const manner& how,
                const std::string& own = "", const std::function<void(functions_state&, int)>& arrange = {},
                int index_bits = 32) {
  answer last;
  on_ranks(count, [&](communicator& ranks) {
    functions_state mine;
    mine.solve = how;
    if (arrange) arrange(mine, ranks.rank());
    state = &mine;
    const vouch_petsc functions = functions_of(index_bits);
    const row_matrix A = row_matrix::from_entries(ranks, matrix.rows, testing::share_of(ranks, matrix));
    std::vector<double> b(static_cast<std::size_t>(A.rows())), x(b.size(), 0.0);
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = random_unit(5, static_cast<std::size_t>(A.first_row()) + i) - 0.25;
    petsc_report report;
    {
      const petsc solver(ranks, functions, own);
      report = solver.solve(device::cpu(1), A, {b.data(), A.rows()}, {x.data(), A.rows()}, options);
    }
    EXPECT_TRUE(mine.stopped);
    EXPECT_EQ(mine.live, 0);
    EXPECT_EQ(gather(ranks, report.status),
              std::vector<solve_status>(static_cast<std::size_t>(count), report.status));
    if (ranks.rank() == count - 1) last = {std::move(report), std::move(x), std::move(mine)};
    state = nullptr;
  });
  return last;
}

petsc_options named(const char* method, const char* preconditioner = "") {
  petsc_options options;
  options.method = method;
  options.preconditioner = preconditioner;
  return options;
}

TEST(petsc, says_converged_of_a_right_answer) {
  for (const int ranks : {1, 3}) {
    const answer a = solve_on(ranks, diagonal_matrix(5000), {}, solve_exactly);
    EXPECT_EQ(a.report.status, solve_status::converged) << a.report.reason;
    EXPECT_LE(a.report.true_residual, 1e-15 * a.report.rhs_norm);
    EXPECT_EQ(a.report.method, "cg");
    EXPECT_EQ(a.report.preconditioner, "boomeramg");
    EXPECT_EQ(a.report.backend, "PETSc 0.0.0");
    EXPECT_EQ(a.report.iterations, 3);
    EXPECT_EQ(a.report.history.size(), 4U);
    EXPECT_TRUE(a.report.reproducible);
    EXPECT_EQ(a.state.tasks.size(), 1U);
    EXPECT_EQ(a.state.made.front()->definite, 1);
  }
}

// Whatever it claims.
TEST(petsc, never_says_converged_of_a_wrong_answer) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<const char*, manner>> lies{
      {"nothing done", [](const auto& A, auto, double* d, auto&) { std::fill_n(d, A.rows, 0.0); }},
      {"left as it was", [](const auto&, auto, double*, auto&) {}},
      {"the wrong sign",
       [](const auto& A, const double* r, double* d, auto&) {
         for (std::int64_t i = 0; i < A.rows; ++i) d[i] = -r[i] / A.diagonal(i);
       }},
      {"one element of one rank wrong",
       [](const auto& A, const double* r, double* d, auto& outcome) {
         solve_exactly(A, r, d, outcome);
         if (A.first_row + A.rows == A.all_rows) d[A.rows - 1] += 10;
       }},
      {"NaN",
       [](const auto& A, const double* r, double* d, auto& outcome) {
         solve_exactly(A, r, d, outcome);
         if (A.first_row == 0) d[17] = nan;
       }},
      {"infinity",
       [](const auto& A, const double* r, double* d, auto& outcome) {
         solve_exactly(A, r, d, outcome);
         if (A.first_row == 0) d[17] = -1 / 0.0;
       }},
      {"a residual of NaN",
       [](const auto& A, auto, double* d, auto& outcome) {
         std::fill_n(d, A.rows, 0.0);
         outcome.norm = nan;
       }},
      {"iterations that there are none of", [](const auto& A, auto, double* d, auto& outcome) {
         std::fill_n(d, A.rows, 1e300);
         outcome.iterations = -5;
       }}};
  for (const int ranks : {1, 3})
    for (const char* method : {"cg", "minres", "gmres", "bicgstab", "sparse-lu", "sparse-cholesky", "auto"})
      for (const auto& [what, lie] : lies) {
        const answer a = solve_on(ranks, diagonal_matrix(5000), named(method), lie);
        EXPECT_NE(a.report.status, solve_status::converged) << what << ' ' << method << ' ' << ranks;
        EXPECT_FALSE(goal_reached(a.report.status)) << what << ' ' << method << ' ' << ranks;
        EXPECT_GE(a.report.iterations, 0);
      }
}

TEST(petsc, is_asked_for_the_rest_of_an_answer) {
  petsc_options options = named("cg");
  options.rtol = 1e-12;
  const answer a =
      solve_on(3, diagonal_matrix(5000), options, [](const auto& A, const double* r, double* d, auto& outcome) {
        solve_exactly(A, r, d, outcome);
        for (std::int64_t i = 0; i < A.rows; ++i) d[i] *= 0.98;
      });
  EXPECT_EQ(a.report.status, solve_status::converged) << a.report.reason;
  ASSERT_EQ(a.state.tasks.size(), 8U);  // 0.02^7 > 1e-12
  EXPECT_NEAR(a.state.tasks[0].relative, 1e-12, 1e-18);
  EXPECT_LE(a.state.tasks[7].relative, 0.1);
  EXPECT_EQ(a.report.restarts, 7);
  EXPECT_EQ(a.report.iterations, 24);
}

TEST(petsc, goes_on_with_another_method_where_auto_may) {
  const manner all_but_cg = [](const auto& A, const double* r, double* d, auto& outcome) {
    if (A.method != "cg") solve_exactly(A, r, d, outcome);
  };
  const answer a = solve_on(2, diagonal_matrix(3000), {}, all_but_cg);
  EXPECT_EQ(a.report.status, solve_status::converged) << a.report.reason;
  EXPECT_EQ(a.report.method, "gmres");
  EXPECT_EQ(a.report.method_reason, "conjugate gradients did not end well");
  ASSERT_EQ(a.report.warnings.size(), 1U);
  EXPECT_EQ(a.report.warnings[0].find("cg, boomeramg: stagnated"), 0U) << a.report.warnings[0];
  EXPECT_LE(a.state.tasks[0].limit, 1000);
  EXPECT_GE(a.state.tasks.back().limit, 1000);
  // Not where the user has chosen, by a name or in PETSc's words.
  EXPECT_NE(solve_on(2, diagonal_matrix(3000), named("cg"), all_but_cg).report.status, solve_status::converged);
  const answer own = solve_on(2, diagonal_matrix(3000), {}, all_but_cg, "-ksp_type cg");
  EXPECT_NE(own.report.status, solve_status::converged);
  EXPECT_FALSE(own.report.reproducible);
  EXPECT_EQ(own.state.made.size(), 1U);
}

// Of ways that all miss, whichever of them is tried last, and whether it can be tried.
TEST(petsc, keeps_the_best_of_what_misses) {
  const auto gains_by = [](const std::string& best) {
    return [best](const auto& A, const double* r, double* d, auto& outcome) {
      std::fill_n(d, A.rows, 0.0);
      if (A.method != best || std::exchange(state->gained, true)) return;
      solve_exactly(A, r, d, outcome);
      for (std::int64_t i = 0; i < A.rows; ++i) d[i] *= 1 - 1e-4;
    };
  };
  const csr<double> A = diagonal_matrix(3000);
  for (const int ranks : {1, 2})
    for (const std::string best : {"cg", "gmres"})
      for (const std::string refused : {"", "mumps"}) {
        const answer a = solve_on(ranks, A, {}, gains_by(best), "",
                                  [&](functions_state& of_rank, int) { of_rank.refused = refused; });
        EXPECT_FALSE(goal_reached(a.report.status));
        EXPECT_EQ(a.report.method, best);
        EXPECT_NEAR(a.report.relative_true(), 1e-4, 1e-8);
        EXPECT_EQ(a.report.warnings.size(), 2U);
        const auto n = static_cast<std::int64_t>(a.x.size());
        for (std::int64_t i = 0, first = A.rows - n; i < n; ++i) {
          const double exact = (random_unit(5, static_cast<std::size_t>(first + i)) - 0.25) / A.val[first + i];
          EXPECT_NEAR(a.x[static_cast<std::size_t>(i)], exact, 2e-4 * std::fabs(exact));
        }
      }
}

TEST(petsc, ends_where_a_rule_or_somebody_says_so) {
  petsc_options options = named("cg");
  options.fixed_iterations = 3;
  const answer fixed =
      solve_on(2, diagonal_matrix(3000), options, [](const auto& A, const double* r, double* d, auto& outcome) {
        solve_exactly(A, r, d, outcome);
        outcome.end = VOUCH_PETSC_ITERATION_LIMIT;
      });
  EXPECT_EQ(fixed.report.status, solve_status::fixed) << fixed.report.reason;
  EXPECT_LT(fixed.state.tasks[0].relative, 0);
  EXPECT_EQ(fixed.state.tasks[0].limit, 3);

  options = named("cg");
  options.on_iteration = [](const iteration_record& r) { return r.iteration < 2; };
  EXPECT_EQ(solve_on(2, diagonal_matrix(3000), options, [](auto&&...) {}).report.status,
            solve_status::interrupted);
  options.on_iteration = [](const iteration_record&) -> bool { throw value_error("a monitor's own"); };
  try {
    solve_on(2, diagonal_matrix(3000), options, solve_exactly);
    FAIL() << "nothing was thrown";
  } catch (const value_error& e) {
    EXPECT_STREQ(e.what(), "a monitor's own");
  }
  // A word for each end.
  const std::vector<std::pair<vouch_petsc_end, solve_status>> ends{
      {VOUCH_PETSC_ITERATION_LIMIT, solve_status::max_iterations},
      {VOUCH_PETSC_DIVERGED, solve_status::diverged},
      {VOUCH_PETSC_INDEFINITE_MATRIX, solve_status::not_spd},
      {VOUCH_PETSC_INDEFINITE_PRECONDITIONER, solve_status::not_spd},
      {VOUCH_PETSC_BREAKDOWN, solve_status::breakdown}};
  for (const auto& [end, status] : ends)
    EXPECT_EQ(solve_on(2, diagonal_matrix(3000), named("cg"),
                       [end = end](const auto& A, auto, double* d, auto& outcome) {
                         std::fill_n(d, A.rows, end == VOUCH_PETSC_BREAKDOWN ? 1 / 0.0 : 0.0);
                         outcome.end = end;
                       })
                  .report.status,
              status);
}

TEST(petsc, is_handed_the_rows_by_columns_of_the_whole_matrix) {
  for (const testing::named_matrix& m : testing::shared_matrices())
    for (const int ranks : {1, 4}) {
      petsc_options options = named("cg");
      options.fixed_iterations = 0;
      const answer a = solve_on(ranks, m.A, options, [](auto&&...) {});
      ASSERT_EQ(a.state.made.size(), 1U);
      const vouch_petsc_solver& got = *a.state.made[0];
      EXPECT_EQ(got.all_rows, m.A.rows);
      for (std::int64_t i = 0; i < got.rows; ++i) {
        const std::int64_t begin = m.A.row_ptr[got.first_row + i], end = m.A.row_ptr[got.first_row + i + 1];
        ASSERT_EQ(got.row_ptr[i + 1] - got.row_ptr[i], end - begin) << m.name;
        for (std::int64_t k = begin; k < end; ++k) {
          EXPECT_EQ(got.col[got.row_ptr[i] + k - begin], m.A.col[k]) << m.name;
          EXPECT_EQ(got.val[got.row_ptr[i] + k - begin], m.A.val[k]) << m.name;
        }
      }
    }
}

// Factorisations want them.
TEST(petsc, is_handed_diagonal_entries_that_are_not_stored) {
  std::vector<matrix_entry> all;
  constexpr std::int32_t n = 3000;
  for (std::int32_t i = 0; i < n; ++i) {
    if (i % 3 != 0) all.push_back({i, i, 2});
    all.push_back({i, (i + 1) % n, -1});
    all.push_back({i, (i + n - 2) % n, 5});
  }
  on_ranks(2, [&](communicator& ranks) {
    functions_state mine;
    mine.solve = [](auto&&...) {};
    state = &mine;
    const vouch_petsc functions = functions_of();
    const row_matrix A =
        row_matrix::from_entries(ranks, n, ranks.rank() == 0 ? all : std::vector<matrix_entry>{});
    std::vector<double> b(static_cast<std::size_t>(A.rows()), 1), x(b.size(), 0.0);
    const petsc solver(ranks, functions);
    solver.solve(device::cpu(1), A, {b.data(), A.rows()}, {x.data(), A.rows()}, named("gmres"));
    const vouch_petsc_solver& got = *mine.made[0];
    ASSERT_EQ(got.row_ptr.back(), 3 * A.rows());
    for (std::int64_t i = 0; i < A.rows(); ++i) {
      const std::int64_t row = A.first_row() + i;
      double sum = 0;
      for (std::int64_t k = 3 * i; k < 3 * i + 3; ++k) {
        sum += got.val[k];
        EXPECT_TRUE(k == 3 * i || got.col[k] > got.col[k - 1]);
        EXPECT_TRUE(got.col[k] != row || got.val[k] == (row % 3 != 0 ? 2 : 0));
      }
      EXPECT_EQ(sum, row % 3 != 0 ? 6 : 4);
    }
  });
}

TEST(petsc, tells_all_ranks_what_it_cannot) {
  const csr<double> A = diagonal_matrix(5000);
  const auto failing = [&](vouch_petsc_code code, bool in_create, int ranks) {
    return [=, &A] {
      solve_on(ranks, A, named("cg"), solve_exactly, "", [=](functions_state& mine, int rank) {
        if (rank == ranks - 1) (in_create ? mine.create_code : mine.solve_code) = code;
      });
    };
  };
  for (const bool in_create : {true, false}) {
    EXPECT_EQ(testing::refusal<value_error>(failing(VOUCH_PETSC_REFUSED, in_create, 1)), "PETSc: out of luck");
    EXPECT_EQ(testing::refusal<value_error>(failing(VOUCH_PETSC_REFUSED, in_create, 3)),
              "rank 2: PETSc: out of luck");
    EXPECT_EQ(testing::refusal<file_error>(failing(VOUCH_PETSC_FAILED, in_create, 3)),
              "rank 2: PETSc: out of luck");
    EXPECT_EQ(testing::refusal<std::runtime_error>(failing(VOUCH_PETSC_ALONE, in_create, 1)),
              "PETSc: out of luck");
  }
  EXPECT_EQ(testing::refusal<file_error>([&] { solve_on(1, A, named("cg"), solve_exactly, "", {}, 13); }),
            "a rank's 5000 entries are more than PETSc counts by its 13-bit indices");
  EXPECT_EQ(solve_on(2, A, named("cg"), solve_exactly, "", {}, 13).report.status, solve_status::converged);
  EXPECT_EQ(testing::refusal<value_error>([&] { solve_on(2, A, {}, solve_exactly, "ksp_view"); }),
            "\"ksp_view\" is no option of PETSc");
  const answer unused = solve_on(2, A, {}, solve_exactly, "-nonsense 3 -ksp_view",
                                 [](functions_state& mine, int) { mine.unused = "-nonsense -pc_type"; });
  EXPECT_EQ(unused.report.warnings, std::vector<std::string>{"PETSc did not ask for the option -nonsense"});
}

TEST(petsc, refuses_names_and_matrices_that_do_not_go_together) {
  csr<double> unsymmetric = testing::shared_matrices()[0].A.to(device::cpu(1));
  unsymmetric.val[1] *= 2;
  csr<double> indefinite = diagonal_matrix(2000);
  indefinite.val[7] = -1;
  const auto of = [](const csr<double>& A, const petsc_options& options) {
    return testing::refusal<value_error>([&] { solve_on(2, A, options, solve_exactly); });
  };
  EXPECT_EQ(
      of(unsymmetric, named("cg")).find("conjugate gradients cannot solve this system: the matrix is not"), 0U);
  EXPECT_NE(of(unsymmetric, named("minres")), "");
  EXPECT_NE(of(indefinite, named("sparse-cholesky")), "");
  EXPECT_EQ(of(indefinite, named("minres")), "");
  EXPECT_NE(of(indefinite, named("jacobi")), "");
  EXPECT_NE(of(indefinite, named("gmres", "amg")), "");
  EXPECT_NE(of(indefinite, named("sparse-lu", "asm")), "");
  petsc_options fixed = named("sparse-lu");
  fixed.fixed_iterations = 2;
  EXPECT_NE(of(indefinite, fixed), "");
  EXPECT_EQ(solve_on(2, indefinite, {}, solve_exactly).report.method_reason,
            "symmetric, not positive definite");
}

// PETSc's manual pages of KSP and PC.
TEST(petsc, is_asked_in_its_own_words) {
  const auto words = [](const char* method, const char* preconditioner, const char* own = "") {
    std::string text;
    for (const std::string& word :
         distributed::words_of({method, preconditioner}, distributed::split_words(own)))
      text += word + ' ';
    return text;
  };
  EXPECT_EQ(words("cg", "boomeramg"),
            "-ksp_type cg -ksp_norm_type unpreconditioned -pc_type hypre -pc_hypre_type boomeramg "
            "-pc_hypre_boomeramg_coarsen_type HMIS -pc_hypre_boomeramg_interp_type ext+i "
            "-pc_hypre_boomeramg_P_max 4 ");
  EXPECT_EQ(words("bicgstab", "asm"),
            "-ksp_type bcgs -ksp_pc_side right -ksp_norm_type unpreconditioned -pc_type asm -pc_asm_overlap 1 "
            "-sub_pc_type ilu -sub_pc_factor_shift_type nonzero ");
  EXPECT_EQ(words("cg", "asm"),
            "-ksp_type cg -ksp_norm_type unpreconditioned -pc_type asm -pc_asm_overlap 1 -pc_asm_type basic "
            "-sub_pc_type icc ");
  EXPECT_EQ(words("minres", "jacobi"), "-ksp_type minres -pc_type jacobi -pc_jacobi_abs ");
  EXPECT_EQ(words("sparse-cholesky", "none"),
            "-ksp_type preonly -ksp_norm_type none -pc_type cholesky -pc_factor_mat_solver_type mumps "
            "-mat_mumps_icntl_14 80 ");
  // The user's go before, and with another method its own side and norm.
  EXPECT_EQ(words("gmres", "none", " -ksp_type  tfqmr\t-ksp_view "),
            "-ksp_type gmres -pc_type none -ksp_type tfqmr -ksp_view ");
}

}  // namespace
}  // namespace vouch
