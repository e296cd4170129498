// Small work is not worth a team, which costs milliseconds on a busy machine.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <vouch/dense/blas3.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/direct/sparse_lu.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/prove.hpp>

#include "temporary.hpp"

namespace vouch {
namespace {

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(begin(all), end(all));
}

// The threads of a team stay with the thread that first asked for one, so a new one shows whether it did.
template <class Work>
void expect_no_team(const char* name, const Work& work) {
  std::thread fresh([&] {
    const std::ptrdiff_t before = threads_of_this_process();
    work();
    EXPECT_EQ(threads_of_this_process(), before) << name;
  });
  fresh.join();
}

TEST(loop_threads, a_small_system_takes_one) {
  const testing::temporary_folder folder;
  const device cpu = device::cpu(4);
  const std::string file = folder.path("A.mtx");
  csr<double> A;
  expect_no_team("generate", [&] { A = generate_problem(cpu, "poisson-2d", {.nx = 3}); });
  expect_no_team("elasticity", [&] { generate_problem(cpu, "elasticity-2d", {.nx = 2}); });
  expect_no_team("right_hand_side",
                 [&] { right_hand_side(cpu, A, make_solution(cpu, known_solution::smooth, 9, 1)); });
  expect_no_team("write", [&] { write_matrix_market(file, A); });
  expect_no_team("read", [&] { A = read_csr(cpu, file); });
  structure_facts facts;
  expect_no_team("structure", [&] { facts = structure<double>(cpu, A); });
  expect_no_team("components", [&] { connected_components<double>(cpu, A); });
  expect_no_team("order", [&] { permute<double>(cpu, A, reverse_cuthill_mckee<double>(cpu, A)); });
  expect_no_team("transpose", [&] { transpose<double>(cpu, A); });
  const auto b = array<double>::from(cpu, std::vector<double>(9, 1.0));
  auto x = array<double>::zeros(cpu, 9);
  expect_no_team("cg", [&] { cg<double>(cpu, A, b, x); });
  for (const char* name : {"jacobi", "ssor", "ic0"})
    expect_no_team(name,
                   [&] { cg<double>(cpu, A, b, x, {}, make_preconditioner<double>(cpu, A, name).get()); });
  expect_no_team("jacobi", [&] { jacobi<double>(cpu, A, b, x); });
  expect_no_team("gauss_seidel", [&] { gauss_seidel<double>(cpu, A, b, x); });
  expect_no_team("sparse_lu", [&] { sparse_lu<double>(cpu, A, b, x); });
  std::string reason;
  expect_no_team("prove", [&] {
    const auto proof = prove_nonsingular(cpu, A, facts, {}, reason);
    bound_error(cpu, A, *proof, b, x);
  });
  expect_no_team("vectors", [&] { write_vectors(folder.path("x.txt"), x, 9); });
  expect_no_team("read_vectors", [&] { read_vectors(cpu, folder.path("x.txt")); });
}

}  // namespace
}  // namespace vouch
