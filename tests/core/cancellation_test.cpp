// Requests to end, and who hears them.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/generate/dense_problems.hpp>
#include <vouch/generate/matrix_set.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/price/book.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/reduce/matrix_set.hpp>
#include <vouch/solve/direct/sparse_lu.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/verify/prove.hpp>
#include <vouch/verify/sparse/sparse_inverse.hpp>

#include "temporary.hpp"

namespace vouch {
namespace {

TEST(cancellation, is_heard_in_its_scope_alone) {
  EXPECT_NO_THROW(check_cancellation());
  cancellation outer, inner;
  outer.request();
  EXPECT_NO_THROW(check_cancellation());
  {
    const cancellation_scope listens(outer);
    EXPECT_THROW(check_cancellation(), cancelled);
    {
      const cancellation_scope to_another(inner);
      EXPECT_NO_THROW(check_cancellation());
    }
    EXPECT_TRUE(cancellation_probe().requested());
    outer.clear();
    EXPECT_NO_THROW(check_cancellation());
  }
  EXPECT_FALSE(cancellation_probe().requested());
}

TEST(cancellation, comes_from_another_thread_and_is_passed_on_to_one) {
  cancellation stop;
  const cancellation_scope listens(stop);
  const cancellation_probe heard;
  std::thread other([&] {
    EXPECT_FALSE(cancellation_probe().requested());
    stop.request();
    EXPECT_FALSE(cancellation_probe().requested());
    const cancellation_scope too(heard);
    EXPECT_TRUE(cancellation_probe().requested());
  });
  other.join();
  EXPECT_THROW(heard.check(), cancelled);
}

// Everything that can take long ends when it is asked to, on one thread and on several, and leaves no file.
TEST(cancellation, ends_what_takes_long) {
  const testing::temporary_folder folder;
  for (const int threads : {1, 3}) {
    const device cpu = device::cpu(threads);
    const csr<double> A = generate_problem(cpu, "poisson-2d", {.nx = 20});
    const structure_facts facts = structure<double>(cpu, A);
    const matrix<double> D = generate_dense(cpu, "dense-dominant", {.n = 200});
    matrix<double> product(cpu, 200, 200);
    const std::vector<double> ones(400, 1.0);
    const auto b = array<double>::from(cpu, ones);
    auto x = array<double>::zeros(cpu, 400);
    const std::string stored = folder.path("A.mtx"), set = folder.path("set.txt"),
                      book = folder.path("book.csv");
    write_matrix_market(stored, A);
    write_matrix_set(cpu, set, {.count = 1000});
    folder.file("book.csv", "type,spot,strike,volatility,expiry\nput,100,100,0.2,1\n");
    const std::size_t files = folder.files();
    contract option;
    option.plain.spot = option.plain.strike = 100;
    option.plain.volatility = 0.2;
    option.plain.expiry = 1;
    book_options of_book;
    of_book.dev = cpu;
    of_book.threads = threads;
    std::string reason;
    const std::vector<std::string> sets{set};
    const std::vector<std::pair<const char*, std::function<void()>>> works{
        {"generate_problem", [&] { generate_problem(cpu, "poisson-3d", {.nx = 10}); }},
        {"elasticity", [&] { generate_problem(cpu, "elasticity-3d", {.nx = 3}); }},
        {"generate_dense", [&] { generate_dense(cpu, "dense-dominant", {.n = 100}); }},
        {"write_matrix_set", [&] { write_matrix_set(cpu, folder.path("other.txt"), {.count = 1000}); }},
        {"write_matrix_market", [&] { write_matrix_market(folder.path("B.mtx"), A); }},
        {"read_csr", [&] { read_csr(cpu, stored); }},
        {"reduce_matrix_sets", [&] { reduce_matrix_sets(cpu, sets, {}); }},
        {"minimum_degree", [&] { minimum_degree<double>(cpu, A); }},
        {"reverse_cuthill_mckee", [&] { reverse_cuthill_mckee<double>(cpu, A); }},
        {"sparse_lu", [&] { sparse_lu<double>(cpu, A, b, x); }},
        {"gemm",
         [&] {
           gemm<double, double, double>(cpu, transpose::no, transpose::no, 1, D.read(), D.read(), 0, product);
         }},
        {"prove_nonsingular", [&] { prove_nonsingular(cpu, A, facts, {}, reason); }},
        {"prove_nonsingular, dense", [&] { prove_nonsingular(cpu, D.read(), {}, reason); }},
        {"sparse_inverse", [&] { sparse_inverse::prove(cpu, A, {}, reason); }},
        {"finite_difference_price", [&] { finite_difference_price(option, {}); }},
        {"price_book", [&] { price_book(book, folder.path("prices.csv"), of_book); }}};
    cancellation stop;
    const cancellation_scope listens(stop);
    for (const auto& [name, work] : works) {
      stop.clear();
      EXPECT_NO_THROW(work()) << name;
      for (const char* made : {"other.txt", "B.mtx", "prices.csv"}) std::filesystem::remove(folder.path(made));
      stop.request();
      EXPECT_THROW(work(), cancelled) << name;
      EXPECT_EQ(folder.files(), files) << name;
    }
  }
}

TEST(cancellation, leaves_iterations_what_they_have) {
  const device cpu = device::cpu(2);
  const csr<double> A = generate_problem(cpu, "poisson-2d", {.nx = 20});
  const auto b = array<double>::from(cpu, std::vector<double>(400, 1.0));
  cg_options of_cg;
  jacobi_options of_jacobi;
  of_cg.fixed_iterations = of_jacobi.goal.fixed_iterations = std::int64_t{1} << 60;
  const std::function<solve_report(view<double>)> endless[] = {
      [&](view<double> x) { return cg<double>(cpu, A, b, x, of_cg); },
      [&](view<double> x) { return jacobi<double>(cpu, A, b, x, of_jacobi); }};
  for (const auto& solve : endless) {
    auto x = array<double>::zeros(cpu, 400);
    cancellation stop;
    const cancellation_scope listens(stop);
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.request();
    });
    EXPECT_EQ(solve(x).status, solve_status::interrupted);
    later.join();
    EXPECT_GT(x[200], 0);
  }
}

}  // namespace
}  // namespace vouch
