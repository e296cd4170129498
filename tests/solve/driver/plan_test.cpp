// vouch/solve/plan.hpp: what auto takes, from facts alone; the table of methods.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/plan.hpp>

namespace vouch {
namespace {

// A symmetric positive matrix of n rows whose rows nearly dominate, as on a grid.
system_facts grid(std::int64_t n) {
  system_facts facts;
  structure_facts& A = facts.matrix;
  A.rows = A.cols = n;
  A.nonzeros = 5 * n;
  A.square = A.symmetric = A.pattern_symmetric = A.diagonal_positive = true;
  A.dominant = dominance::weak;
  A.dominance_ratio = 1;
  A.bandwidth_lower = A.bandwidth_upper = static_cast<std::int64_t>(std::sqrt(n));
  return facts;
}

system_facts unsymmetric(std::int64_t n) {
  system_facts facts = grid(n);
  facts.matrix.symmetric = facts.matrix.pattern_symmetric = false;
  facts.matrix.first_unsymmetric = unsymmetric_entry{0, 1, 2.0, 0.0};
  facts.matrix.dominant = dominance::none;
  facts.matrix.dominance_ratio = 0.1;
  return facts;
}

system_facts dominant(std::int64_t n, double ratio) {
  system_facts facts = unsymmetric(n);
  facts.matrix.dominant = dominance::strict;
  facts.matrix.dominance_ratio = ratio;
  return facts;
}

std::vector<std::string> names(const std::vector<attempt>& plan) {
  std::vector<std::string> all;
  for (const attempt& a : plan) all.emplace_back(a.method->name);
  return all;
}

std::vector<std::string> planned(const system_facts& facts, const solve_options& options = {}) {
  return names(make_plan(facts, options));
}

using list = std::vector<std::string>;

// Which preconditioner each attempt has.
std::vector<std::string> preconditioners(const std::vector<attempt>& plan) {
  std::vector<std::string> all;
  for (const attempt& a : plan) all.push_back(a.preconditioner.name);
  return all;
}

TEST(plan, grids_go_to_conjugate_gradients_and_then_to_a_factorisation) {
  const std::vector<attempt> plan = make_plan(grid(2500), {});
  EXPECT_EQ(names(plan), (list{"cg", "sparse-lu"}));
  EXPECT_EQ(plan[0].why, "symmetric with a positive diagonal");
  EXPECT_GT(plan[0].iteration_work, 0);
}

TEST(plan, multigrid_comes_before_many_iterations_and_after_few) {
  system_facts facts = grid(16000000);
  facts.matrix.bandwidth_lower = facts.matrix.bandwidth_upper = 4000;  // 4000 by 4000
  std::vector<attempt> plan = make_plan(facts, {});
  EXPECT_EQ(names(plan), (list{"cg", "cg", "sparse-lu"}));
  EXPECT_EQ(preconditioners(plan), (list{"amg", "none", "none"}));
  EXPECT_LT(plan[0].work, plan[1].work);
  facts.matrix.bandwidth_lower = facts.matrix.bandwidth_upper = 250 * 250;  // 256 by 250 by 250
  plan = make_plan(facts, {});
  EXPECT_EQ(preconditioners(plan), (list{"none", "amg", "none"}));
  facts.matrix.distinct_diagonals = 7;  // as a grid has them
  EXPECT_EQ(preconditioners(make_plan(facts, {})), (list{"amg", "none", "none"}));
  const auto first_of_cube = [](std::int64_t n) {
    system_facts cube = grid(n * n * n);
    cube.matrix.bandwidth_lower = cube.matrix.bandwidth_upper = n * n;
    cube.matrix.distinct_diagonals = 7;
    return preconditioners(make_plan(cube, {}))[0];
  };
  EXPECT_EQ(first_of_cube(64), "amg");
  EXPECT_EQ(first_of_cube(30), "none");  // takes fewer iterations
  // Who asks for a preconditioner has that one.
  solve_options options;
  options.preconditioner = preconditioner_choice{"jacobi"};
  EXPECT_EQ(preconditioners(make_plan(facts, options)), list{"jacobi"});
}

TEST(plan, long_narrow_systems_are_factorised_where_that_is_predicted_to_be_cheap) {
  system_facts facts = grid(20000);
  facts.matrix.nonzeros = 60000;
  facts.matrix.dominant = dominance::none;
  facts.matrix.dominance_ratio = 0.01;
  ASSERT_TRUE(is_elimination_worth_predicting(facts, {}));
  facts.elimination = elimination_cost{2e5, 1e6};
  const std::vector<attempt> plan = make_plan(facts, {});
  EXPECT_EQ(names(plan), (list{"sparse-lu", "cg", "cg"}));
  EXPECT_NE(plan[0].why.find("predicted"), std::string::npos);
  facts.elimination = elimination_cost{1e7, 1e10};
  EXPECT_EQ(planned(facts), (list{"cg", "cg", "sparse-lu"}));
  // A singular matrix with the constants as null space has no factors.
  facts.elimination = elimination_cost{2e5, 1e6};
  facts.matrix.row_sums_zero = true;
  EXPECT_EQ(planned(facts)[0], "cg");
}

// Of complex numbers a quarter of the entries is ordered.
TEST(plan, complex_factors_are_predicted_to_be_cheaper_than_those_of_the_real_form) {
  system_facts facts = unsymmetric(20000);
  facts.libraries = {sparse_factors::lu};
  facts.elimination = elimination_cost{1e6, 1e8};
  const double of_parts = elimination_work(facts);
  EXPECT_EQ(of_parts, elimination_work(*facts.elimination, facts.matrix.nonzeros, eliminator::library));
  facts.complex_nonzeros = facts.matrix.nonzeros / 4;
  EXPECT_EQ(order_work(facts, eliminator::library),
            elimination_work({}, facts.matrix.nonzeros / 4, eliminator::library));
  EXPECT_LT(elimination_work(facts), of_parts);
  facts.elimination.reset();
  EXPECT_EQ(elimination_work(facts), HUGE_VAL);
}

// A grid some of whose diagonal entries are negative.
system_facts indefinite(std::int64_t n) {
  system_facts facts = grid(n);
  facts.matrix.diagonal_positive = false;
  facts.matrix.first_nonpositive_diagonal = 3;
  facts.matrix.dominant = dominance::none;
  facts.matrix.dominance_ratio = 0.5;
  return facts;
}

TEST(plan, symmetric_indefinite_systems_are_iterated_unless_elimination_is_predicted_to_be_cheaper) {
  const std::vector<attempt> plan = make_plan(indefinite(1000000), {});
  EXPECT_EQ(names(plan), (list{"minres", "gmres", "gmres", "sparse-lu"}));
  EXPECT_EQ(plan[0].why, "symmetric, not positive definite");
  EXPECT_GT(plan[0].iteration_work, 0);
  system_facts small = indefinite(8000);
  ASSERT_TRUE(is_elimination_worth_predicting(small, {}));
  small.elimination = elimination_cost{3e4, 4e5};
  EXPECT_EQ(planned(small)[0], "sparse-lu");
  small.elimination = elimination_cost{1e7, 1e10};
  EXPECT_EQ(planned(small), (list{"minres", "gmres", "gmres", "sparse-lu"}));
  // It has no mixed precision.
  solve_options mixed;
  mixed.precision = working_precision::mixed;
  const std::vector<attempt> factorises = make_plan(indefinite(1000000), mixed);
  EXPECT_EQ(names(factorises), list{"sparse-lu"});
  EXPECT_EQ(factorises[0].precision_why.substr(0, 6), "mixed:");
}

TEST(plan, elimination_is_predicted_only_where_it_costs_little_and_may_matter) {
  EXPECT_FALSE(is_elimination_worth_predicting(grid(3600), {}));        // iterations are cheaper than the order
  EXPECT_FALSE(is_elimination_worth_predicting(unsymmetric(800), {}));  // there is nothing else
  EXPECT_TRUE(is_elimination_worth_predicting(unsymmetric(20000), {}));
  EXPECT_FALSE(is_elimination_worth_predicting(unsymmetric(1000000), {}));
  system_facts large = grid(1000000);
  large.matrix.dominant = dominance::none;
  EXPECT_FALSE(is_elimination_worth_predicting(large, {}));
  EXPECT_FALSE(is_elimination_worth_predicting(dominant(100, 2), {}));
  EXPECT_FALSE(is_elimination_worth_predicting(dominant(20000, 1.0001), {}));
  solve_options by_name;
  by_name.method = "gauss-seidel";
  EXPECT_FALSE(is_elimination_worth_predicting(dominant(20000, 1.0001), by_name));
}

TEST(plan, dominant_rows_are_swept) {
  const std::vector<attempt> plain = make_plan(dominant(50000, 2), {});
  EXPECT_EQ(names(plain), (list{"gauss-seidel", "bicgstab", "gmres", "gmres", "bicgstab", "sparse-lu"}));
  EXPECT_EQ(plain[0].accelerate.anderson, 0);
  EXPECT_EQ(plain[0].why, "sparse, every row dominates");
  // Nearly dominant, its fill unknown or hopeless: sweeps need acceleration, and are more than iterations.
  for (const double entries : {0.0, std::numeric_limits<double>::infinity()}) {
    system_facts facts = dominant(50000, 1.0001);
    if (entries > 0) facts.elimination = elimination_cost{entries, entries};
    const std::vector<attempt> plan = make_plan(facts, {});
    EXPECT_EQ(names(plan), (list{"bicgstab", "bicgstab", "gmres", "gmres", "gauss-seidel", "sparse-lu"}))
        << entries;
    EXPECT_EQ(preconditioners(plan), (list{"ilu0", "amg", "ilu0", "ilut", "none", "none"})) << entries;
    EXPECT_GT(plan[4].accelerate.anderson, 0) << entries;
  }
  system_facts narrow = dominant(20000, 1.0001);
  narrow.elimination = elimination_cost{2e5, 1e6};
  EXPECT_EQ(planned(narrow), (list{"sparse-lu", "bicgstab", "bicgstab", "gmres", "gmres", "gauss-seidel"}));
  // A number of iterations is one of plain sweeps.
  solve_options fixed;
  fixed.goal.fixed_iterations = 9;
  EXPECT_EQ(planned(narrow, fixed), list{"gauss-seidel"});
  EXPECT_EQ(make_plan(narrow, fixed)[0].accelerate.anderson, 0);
}

// Upwind convection and diffusion: multigrid where grids are large.
TEST(plan, weakly_dominant_unsymmetric_systems_are_iterated_in_short_recurrences) {
  const auto convection = [](std::int64_t n) {
    system_facts facts = unsymmetric(n);
    facts.matrix.dominant = dominance::weak;
    facts.matrix.dominance_ratio = 1;
    return facts;
  };
  EXPECT_EQ(planned(convection(20000)), (list{"bicgstab", "bicgstab", "gmres", "gmres", "sparse-lu"}));
  EXPECT_EQ(preconditioners(make_plan(convection(20000), {}))[0], "ilu0");
  EXPECT_EQ(preconditioners(make_plan(convection(1000000), {}))[0], "amg");
  system_facts negative = convection(1000000);
  negative.matrix.diagonal_positive = false;
  EXPECT_EQ(planned(negative)[0], "gmres");
}

TEST(plan, unsymmetric_systems_are_factorised_while_that_is_cheap_and_iterated_first_where_it_is_not) {
  EXPECT_EQ(planned(unsymmetric(3000)), list{"sparse-lu"});
  system_facts facts = unsymmetric(20000);
  const std::vector<attempt> unknown = make_plan(facts, {});
  EXPECT_EQ(names(unknown), (list{"gmres", "gmres", "sparse-lu"}));
  EXPECT_EQ(unknown[0].why, "sparse, not symmetric");
  EXPECT_EQ(preconditioners(unknown), (list{"ilu0", "ilut", "none"}));
  EXPECT_GT(unknown[0].iteration_work, 0);
  facts.elimination = elimination_cost{1e6, 1e7};
  EXPECT_EQ(planned(facts), (list{"sparse-lu", "gmres", "gmres"}));
  facts.elimination = elimination_cost{1e8, 1e11};
  const std::vector<attempt> dear = make_plan(facts, {});
  EXPECT_EQ(names(dear), (list{"gmres", "gmres", "sparse-lu"}));
  EXPECT_EQ(dear[0].why, "sparse, not symmetric, elimination is predicted to take longer");
  solve_options history;
  history.prefer_iterations = true;
  EXPECT_EQ(planned(unsymmetric(20000), history), (list{"gmres", "gmres"}));
  const class : public preconditioner<double> {
    void apply(const device&, view<const double>, view<double>) const override {}
    std::string name() const override { return "own"; }
  } own_one;
  solve_options own;
  own.own_preconditioner = &own_one;
  EXPECT_EQ(make_plan(unsymmetric(20000), own)[0].preconditioner.name, "none");
}

TEST(plan, tridiagonal_matrices_are_eliminated) {
  system_facts facts = unsymmetric(100);
  facts.matrix.bandwidth_lower = facts.matrix.bandwidth_upper = 1;
  EXPECT_EQ(planned(facts)[0], "band");
  solve_options iterations;
  iterations.prefer_iterations = true;
  EXPECT_EQ(planned(facts, iterations)[0], "sparse-lu");
  facts = grid(100);
  facts.matrix.bandwidth_lower = facts.matrix.bandwidth_upper = 1;
  facts.matrix.row_sums_zero = true;
  EXPECT_EQ(planned(facts)[0], "cg");
}

TEST(plan, dense_matrices_are_factorised_unless_iterations_are_preferred) {
  system_facts facts = grid(500);
  facts.form = matrix_form::dense;
  EXPECT_EQ(planned(facts), (list{"cholesky", "lu", "cg"}));
  solve_options iterations;
  iterations.prefer_iterations = true;
  EXPECT_EQ(planned(facts, iterations), (list{"cg"}));
  facts.dense_factors = false;
  EXPECT_EQ(planned(facts), (list{"cg", "sparse-lu"}));
  system_facts sweepable = dominant(500, 1.5);
  sweepable.form = matrix_form::dense;
  EXPECT_EQ(planned(sweepable)[0], "lu");
  EXPECT_EQ(planned(sweepable, iterations), (list{"gauss-seidel"}));
}

TEST(plan, precision_gives_way_where_factorisations_alone_apply) {
  solve_options mixed;
  mixed.precision = working_precision::mixed;
  const std::vector<attempt> iterates = make_plan(grid(10000), mixed);
  EXPECT_EQ(names(iterates), (list{"cg", "sparse-lu"}));
  EXPECT_EQ(iterates[0].precision, working_precision::mixed);
  EXPECT_EQ(iterates[1].precision, working_precision::double_);
  const std::vector<attempt> factorises = make_plan(unsymmetric(10000), mixed);
  EXPECT_EQ(names(factorises), list{"sparse-lu"});
  EXPECT_EQ(factorises[0].precision_why.substr(0, 6), "mixed:");
}

TEST(plan, options_choose_among_the_methods_that_take_them) {
  solve_options options;
  options.preconditioner = preconditioner_choice{"jacobi"};
  EXPECT_EQ(planned(grid(1000), options), list{"cg"});
  EXPECT_EQ(planned(unsymmetric(1000), options), list{"gmres"});
  EXPECT_EQ(make_plan(unsymmetric(1000), options)[0].preconditioner.name, "jacobi");
  for (const char* unsymmetric_one : {"ilu0", "ilut"}) {
    options.preconditioner = preconditioner_choice{unsymmetric_one};
    EXPECT_EQ(planned(grid(1000), options), list{"gmres"});
  }
  // What no method that is left can solve says why.
  options = {};
  options.goal.stop_recurrence = 1e-3;
  system_facts dense = unsymmetric(1000);
  dense.form = matrix_form::dense;
  EXPECT_THROW(make_plan(dense, options), value_error);
  try {
    make_plan(dense, options);
  } catch (const value_error& e) {
    EXPECT_NE(std::string(e.what()).find("not symmetric: entry (1, 2)"), std::string::npos) << e.what();
  }
}

TEST(plan, what_a_method_does_not_take_is_refused_with_those_that_do) {
  solve_options options;
  options.method = "cg";
  options.omega = 1.2;
  const std::optional<refused_option> refused = find_refused_option(options, false);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->option, "omega");
  EXPECT_EQ(refused->hint, "jacobi, sor, ssor and async do");
  EXPECT_THROW(make_plan(grid(10), options), value_error);
  options = {};
  options.method = "no such";
  EXPECT_THROW(make_plan(grid(10), options), value_error);
  options.method = "cg";
  EXPECT_THROW(make_plan(unsymmetric(10), options), value_error);
  system_facts wide = grid(10);
  wide.matrix.square = false;
  options.method = "gmres";
  EXPECT_THROW(make_plan(wide, options), shape_error);
}

TEST(plan, libraries_factorise_what_suits_them) {
  const set_of<sparse_factors> all{sparse_factors::cholesky, sparse_factors::ldlt, sparse_factors::lu,
                                   sparse_factors::qr};
  system_facts definite = grid(10000);
  definite.libraries = all;
  EXPECT_EQ(planned(definite), (list{"cg", "cg", "sparse-cholesky", "sparse-lu", "sparse-qr"}));
  // What a library eliminates in dense blocks, is eliminated sooner.
  definite.elimination = elimination_cost{1e6, 2e8};
  const std::vector<attempt> by_library = make_plan(definite, {});
  definite.libraries = {};
  const std::vector<attempt> own = make_plan(definite, {});
  const auto work_of_lu = [](const std::vector<attempt>& plan) {
    for (const attempt& a : plan)
      if (a.method->name == std::string("sparse-lu")) return a.work;
    return -1.0;
  };
  EXPECT_LT(work_of_lu(by_library), work_of_lu(own) / 4);

  system_facts wide = grid(100);
  wide.matrix.square = false;
  EXPECT_EQ(planned(wide), list{"lsmr"});
  wide.libraries = all;
  EXPECT_EQ(planned(wide), (list{"lsmr", "sparse-qr"}));
  wide.elimination = elimination_cost{1e3, 1e4};
  EXPECT_EQ(planned(wide), (list{"sparse-qr", "lsmr"}));
  wide.elimination = elimination_cost{1e8, 1e12};
  EXPECT_EQ(planned(wide), (list{"lsmr", "sparse-qr"}));
  wide.matrix.cols = 3 * wide.matrix.rows;
  EXPECT_EQ(planned(wide), (list{"sparse-qr", "lsmr"}));
  wide.matrix.nonzeros = std::int64_t{1} << 24;
  EXPECT_EQ(planned(wide), (list{"lsmr", "sparse-qr"}));
}

TEST(plan, names_the_library_that_does_not_factorise_rectangles) {
  system_facts tall = unsymmetric(1000);
  tall.matrix.square = false;
  tall.matrix.cols = 800;
  tall.libraries = {sparse_factors::cholesky, sparse_factors::ldlt, sparse_factors::lu};
  try {
    planned(tall, {.backend = "cudss"});
    FAIL();
  } catch (const value_error& e) {
    EXPECT_NE(std::string(e.what()).find("cudss does not factorise matrices that are not square"),
              std::string::npos)
        << e.what();
    EXPECT_NE(e.hint().find("--backend auto"), std::string::npos) << e.hint();
  }
}

TEST(plan, symmetric_factors_of_complex_symmetric_matrices) {
  system_facts facts = unsymmetric(20000);
  facts.matrix.complex_symmetric = true;
  facts.libraries = {sparse_factors::cholesky, sparse_factors::ldlt, sparse_factors::lu};
  EXPECT_EQ(who_eliminates(facts), eliminator::library);
  const list plan = planned(facts);
  EXPECT_EQ(plan[plan.size() - 2], "sparse-ldlt");
  EXPECT_EQ(planned(facts, {.method = "sparse-ldlt"}), list{"sparse-ldlt"});
  facts.matrix.complex_symmetric = false;
  EXPECT_THROW(planned(facts, {.method = "sparse-ldlt"}), value_error);
}

TEST(plan, on_a_gpu_a_library_factorises_or_nothing_does) {
  system_facts definite = grid(10000);
  definite.factorised_on_gpu = true;
  EXPECT_EQ(planned(definite), (list{"cg", "cg"}));
  EXPECT_NE(missing_elimination(definite, {}).find("cuDSS"), std::string::npos);
  EXPECT_EQ(missing_elimination(definite, {.method = "cg"}), "");
  definite.libraries = {sparse_factors::cholesky, sparse_factors::ldlt, sparse_factors::lu};
  EXPECT_EQ(planned(definite), (list{"cg", "cg", "sparse-cholesky", "sparse-lu"}));
  EXPECT_EQ(missing_elimination(definite, {}), "");
  // In every precision, which on the CPU they are not.
  solve_options mixed;
  mixed.precision = working_precision::mixed;
  for (const attempt& a : make_plan(definite, mixed)) {
    EXPECT_EQ(a.precision, working_precision::mixed) << a.method->name;
    EXPECT_EQ(a.precision_why, "") << a.method->name;
  }
  definite.factorised_on_gpu = false;
  EXPECT_EQ(missing_elimination(definite, {}), "");
  EXPECT_EQ(make_plan(definite, mixed).back().precision, working_precision::double_);
  // The CPU orders, while iterations have the GPU: a matrix of few operations is no sooner eliminated than iterated with.
  const elimination_cost little{1e5, 1e6};
  EXPECT_GT(elimination_work(little, 50000, eliminator::gpu_library),
            10 * elimination_work(little, 50000, eliminator::library));
  const elimination_cost much{1e9, 1e13};
  EXPECT_LT(elimination_work(much, 7000000, eliminator::gpu_library),
            elimination_work(much, 7000000, eliminator::own) / 8);
}

TEST(plan, complex_symmetric_systems_begin_with_cocg) {
  system_facts facts = unsymmetric(200000);
  EXPECT_EQ(planned(facts).front(), "gmres");
  facts.matrix.complex_symmetric = true;
  EXPECT_EQ(planned(facts).front(), "cocg");
  EXPECT_NE(planned(facts)[1], "cocg");
  facts.aligned_numbers = true;
  EXPECT_EQ(planned(facts).front(), "cocg");
  EXPECT_EQ(planned(facts)[1], "cocg");  // with multigrid
  solve_options with_ilu0;
  with_ilu0.preconditioner = preconditioner_choice{"ilu0"};
  EXPECT_EQ(planned(facts, with_ilu0).front(), "gmres");
  facts.matrix.nonzeros = 1000;
  EXPECT_EQ(planned(facts).front(), "sparse-lu");
}

TEST(methods, table_is_complete) {
  for (const method* m : methods()) {
    EXPECT_EQ(find_method(m->name), m);
    EXPECT_NE(m->make, nullptr) << m->name;
    EXPECT_NE(m->choose, nullptr) << m->name;
    EXPECT_TRUE(m->refuse == nullptr || m->advise != nullptr) << m->name;
    EXPECT_TRUE(m->precisions.has(working_precision::double_)) << m->name;
    EXPECT_NE(std::string(m->name), "auto");
  }
  EXPECT_EQ(find_method("auto"), nullptr);
  EXPECT_STREQ(direct_method_for_any(*find_method("cg")).name, "sparse-lu");
  EXPECT_STREQ(direct_method_for_any(*find_method("cholesky")).name, "lu");
}

TEST(plan, several_gpus_share_iterations_and_the_proof_of_dense_solutions) {
  solve_options options;
  options.gpus = {0, 1};
  system_facts facts = grid(16000000);
  EXPECT_EQ(preconditioners(make_plan(facts, options)), (list{"none"}));
  facts.matrix.distinct_diagonals = 5;  // a structured hierarchy is shared, too
  EXPECT_EQ(planned(facts, options), (list{"cg", "cg"}));
  EXPECT_EQ(preconditioners(make_plan(facts, options)), (list{"amg", "none"}));
  system_facts dense = unsymmetric(1000);
  dense.form = matrix_form::dense;
  EXPECT_THROW(planned(dense, options), value_error);
  options.proof_follows = true;
  EXPECT_EQ(planned(dense, options), (list{"lu"}));
}

}  // namespace
}  // namespace vouch
