// vouch solve --engine petsc, by mpirun where there is one and PETSc was found.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/ranks/rank_tool.hpp"

namespace vouch {
namespace {

class tool_petsc : public testing::rank_tool {
 protected:
  void require_petsc() const {
    require_mpi();
    if (IsSkipped() || HasFatalFailure()) return;
    const bool there = shell("test -e \"$(dirname \"$VOUCH\")/vouch-petsc.so\"") == 0;
    if (std::getenv("VOUCH_REQUIRE_MPI") != nullptr) {
      ASSERT_TRUE(there) << "no vouch-petsc.so";
    } else if (!there) {
      GTEST_SKIP() << "no vouch-petsc.so: make mpi-test";
    }
  }
  nlohmann::json solve_on(int ranks, const std::string& arguments, int code = 0) const {
    const testing::tool_result r = run_on(ranks, "solve A.mtx --engine petsc --json " + arguments);
    EXPECT_EQ(r.code, code) << arguments << r.err;
    return r.out.empty() ? nlohmann::json() : nlohmann::json::parse(r.out);
  }
  void expect_solved(int ranks, const std::string& arguments) const {
    const nlohmann::json report = solve_on(ranks, arguments + " -o x.txt");
    ASSERT_FALSE(report.is_null());
    EXPECT_EQ(report["status"], "converged") << arguments;
    EXPECT_LE(report["residual"]["relative_true"], 1e-8) << arguments;
    EXPECT_EQ(report["engine"], "petsc");
    EXPECT_EQ(report["backend"].get<std::string>().find("PETSc 3."), 0U);
    // By one process, which knows nothing of how x came about.
    const testing::tool_result again = run("solve A.mtx --initial x.txt --json");
    EXPECT_EQ(nlohmann::json::parse(again.out)["iterations"], 0) << arguments;
  }
};

#define NEEDS_PETSC() \
  require_petsc();    \
  if (IsSkipped() || HasFatalFailure()) return

TEST_F(tool_petsc, solve_definite_systems_by_every_method_and_preconditioner) {
  NEEDS_PETSC();
  make("poisson-3d -n 14");
  for (const char* method : {"auto", "minres", "gmres", "bicgstab", "sparse-lu", "sparse-cholesky"})
    expect_solved(2, std::string("--method ") + method);
  for (const char* preconditioner :
       {"none", "jacobi", "block-jacobi", "ilu0", "ic0", "asm", "gamg", "boomeramg"})
    expect_solved(4, std::string("--method cg --precond ") + preconditioner);
  expect_solved(4, "--method bicgstab --precond block-jacobi");
  expect_solved(2, "--method minres --precond none");
}

TEST_F(tool_petsc, choose_by_the_matrix) {
  NEEDS_PETSC();
  make("poisson-3d -n 20");
  const nlohmann::json definite = solve_on(2, "");
  EXPECT_EQ(definite["method"], "cg");
  EXPECT_EQ(definite["preconditioner"], "boomeramg");
  EXPECT_EQ(definite["reproducible_at"], "same-ranks");
  EXPECT_LE(definite["iterations"], 20);
  EXPECT_EQ(solve_on(2, "--precond gamg")["reproducible_at"], "never");
  make("convection-diffusion-2d -n 60");
  const nlohmann::json unsymmetric = solve_on(4, "");
  EXPECT_EQ(unsymmetric["method"], "gmres");
  EXPECT_EQ(unsymmetric["method_reason"], "not symmetric");
  expect_solved(4, "");
  expect_solved(4, "--method sparse-lu");
}

TEST_F(tool_petsc, repeat_their_bits_and_write_what_is_asked_for) {
  NEEDS_PETSC();
  make("poisson-3d -n 18");
  const std::string arguments = "solve A.mtx --engine petsc -o x.npy --history h.csv --verify";
  std::string x, history;
  for (int run = 0; run < 3; ++run) {
    const testing::tool_result r = run_on(4, arguments);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(count(r.out, "converged"), 1) << r.out;
    if (run == 0) {
      x = content("x.npy");
      history = content("h.csv");
      EXPECT_EQ(history.find("iteration,residual,relative\n0,"), 0U) << history;
    }
    EXPECT_TRUE(content("x.npy") == x);
    EXPECT_TRUE(content("h.csv") == history);
  }
  EXPECT_EQ(run("verify A.mtx x.npy").code, 0);
}

// In a random order nearly all that a rank's rows need is elsewhere, and its part of a preconditioner is of little use.
TEST_F(tool_petsc, partition_rows_that_hang_together_across_ranks) {
  NEEDS_PETSC();
  const auto said = [this](const std::string& arguments) {
    const testing::tool_result r = run_on(4, "solve A.mtx --engine petsc -o x.npy " + arguments);
    EXPECT_EQ(r.code, 0) << r.err;
    return r.out + r.err;
  };
  make("convection-diffusion-2d -n 70 --order random");
  EXPECT_NE(said("").find("rows partitioned by ptscotch"), std::string::npos);
  const std::string x = content("x.npy");
  said("");
  EXPECT_TRUE(content("x.npy") == x);
  EXPECT_EQ(run("verify A.mtx x.npy").code, 0);
  const auto partitioned = solve_on(4, ""), kept = solve_on(4, "--petsc '-mat_partitioning_type current'");
  EXPECT_LT(1.5 * partitioned["iterations"].get<int>(), kept["iterations"].get<int>());
  make("convection-diffusion-2d -n 70");
  EXPECT_EQ(said("").find("partitioned"), std::string::npos);
}

TEST_F(tool_petsc, take_options_of_petsc_and_say_what_it_prints_to_people) {
  NEEDS_PETSC();
  make("poisson-2d -n 40");
  const nlohmann::json report = solve_on(2, "--petsc \"-ksp_type fgmres -pc_type sor -ksp_view -not_there 3\"");
  EXPECT_EQ(report["status"], "converged");
  EXPECT_EQ(report["method"], "fgmres");
  EXPECT_EQ(report["preconditioner"], "sor");
  EXPECT_EQ(report["reproducible_at"], "never");
  EXPECT_EQ(count(content(".err"), "KSP Object:"), 1) << content(".err");
  EXPECT_EQ(count(content(".err"), "PETSc did not ask for the option"), 1) << content(".err");
  EXPECT_EQ(count(content(".err"), "PETSc did not ask for the option -not_there"), 1) << content(".err");
  for (const char* printing : {"-help", "-version", "-info", "-malloc_dump"})
    EXPECT_EQ(solve_on(2, std::string("--petsc ") + printing)["status"], "converged") << printing;
  const std::string matrix = content("A.mtx");
  for (const char* viewer : {"-ksp_monitor ascii:A.mtx", "-log_view :./A.mtx", "-ksp_view ascii:A.mtx:append"})
    EXPECT_TRUE(solve_on(2, std::string("--petsc \"") + viewer + "\"", 2).is_null()) << viewer;
  EXPECT_TRUE(content("A.mtx") == matrix);
}

TEST_F(tool_petsc, work_in_one_process_and_with_more_ranks_than_blocks) {
  NEEDS_PETSC();
  make("poisson-2d -n 40");
  const testing::tool_result r = run("solve A.mtx --engine petsc -o x.txt");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(run("verify A.mtx x.txt").code, 0);
  make("poisson-1d -n 3");
  for (const char* preconditioner : {"boomeramg", "asm", "gamg", "none"})
    expect_solved(4, std::string("--precond ") + preconditioner);
  expect_solved(4, "--method sparse-cholesky");
}

TEST_F(tool_petsc, never_call_a_singular_system_converged) {
  NEEDS_PETSC();
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n");
  for (const char* method : {"auto", "gmres", "bicgstab", "sparse-lu"})
    EXPECT_NE(solve_on(2, std::string("--max-iterations 50 --method ") + method, 1)["status"], "converged")
        << method;
  make("poisson-2d -n 30 --boundary neumann");
  EXPECT_EQ(solve_on(2, "", 1)["status"], "breakdown");
  std::string b = "1\n-1\n";
  for (int k = 2; k < 900; ++k) b += "0\n";
  write("b.txt", b);
  EXPECT_EQ(solve_on(2, "--rhs b.txt")["status"], "converged");
}

TEST_F(tool_petsc, say_once_what_they_do_not_take) {
  NEEDS_PETSC();
  make("poisson-2d -n 20");
  for (const std::string arguments :
       {"--precond ssor", "--method lsqr", "--method sparse-lu --precond asm", "--petsc ksp_view",
        "--petsc \"-ksp_type nonsense\"", "--petsc \"-pc_type nonsense\"", "--precision single",
        "--method sparse-lu --petsc \"-pc_factor_mat_solver_type nonsense\"", "--method cg --omega 1",
        "--checkpoint saved", "--petsc \"-options_file not_there\"", "--petsc -options_file"}) {
    const testing::tool_result r = run_on(3, "solve A.mtx --engine petsc " + arguments);
    const int expected = arguments.find("not_there") == arguments.npos ? 2 : 3;
    EXPECT_EQ(r.code, expected) << arguments << r.err;
    EXPECT_EQ(count(r.err, "vouch: error:"), 1) << arguments << r.err;
    EXPECT_EQ(count(r.err, "PETSC ERROR"), 0) << arguments << r.err;
    EXPECT_EQ(r.out, "") << arguments;
  }
  EXPECT_EQ(run("solve A.mtx --petsc -ksp_view").code, 2);
}

TEST_F(tool_petsc, name_the_package_of_a_missing_module) {
  NEEDS_PETSC();
  make("poisson-2d -n 20");
  ASSERT_EQ(shell("cp \"$VOUCH\" vouch; cp \"$(dirname \"$VOUCH\")/vouch-mpi.so\" .; " + std::string(launcher) +
                  "2 ./vouch solve A.mtx --engine petsc > .out 2> .err"),
            3);
  EXPECT_EQ(count(content(".err"), "libpetsc-real-dev"), 1) << content(".err");
}

TEST_F(tool_petsc, end_soon_when_one_of_them_is_killed_and_when_asked_to) {
  NEEDS_PETSC();
  make("poisson-2d -n 700");
  expect_to_end_soon("--engine petsc --method cg --precond none");
}

}  // namespace
}  // namespace vouch
