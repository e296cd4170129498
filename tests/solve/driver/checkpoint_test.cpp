// vouch/solve/loop/checkpoint.hpp and vouch/solve/resume.hpp: what goes on from a file against the solve that nobody
// interrupted.
#include <gtest/gtest.h>

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/resume.hpp>
#include <vouch/solve/solver.hpp>

#include "../krylov_answer.hpp"
#include "temporary.hpp"

namespace vouch {
namespace {

using testing::content_of;
using testing::temporary_folder;

const device cpu = device::cpu(2);

struct answer {
  solve_result result;
  std::vector<double> x;
};

struct system_of_equations {
  csr<double> A;
  std::vector<double> b;
};

system_of_equations definite() { return {testing::laplacian(20), testing::random_vector(400, 1)}; }
system_of_equations for_several_threads() {
  return {testing::laplacian(120), testing::random_vector(14400, 5)};
}
system_of_equations indefinite() {
  return {testing::shifted_laplacian(14, 0.7), testing::random_vector(196, 2)};
}
system_of_equations unsymmetric() { return {testing::convection(16, 1.5), testing::random_vector(256, 3)}; }
// The real form of damped waves on a grid.
system_of_equations complex_symmetric() {
  constexpr std::int32_t side = 12;
  const csr<double> L = testing::laplacian(side);
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < L.rows; ++i)
    for (std::int64_t k = L.row_ptr[i]; k < L.row_ptr[i + 1]; ++k) {
      const std::int32_t j = L.col[k];
      const double re = i == j ? L.val[k] - 0.4 : L.val[k], im = i == j ? 0.3 + 0.01 * (i % 7) : 0;
      for (const std::int32_t part : {0, 1}) entries.push_back({2 * i + part, 2 * j + part, re});
      if (im == 0) continue;
      entries.push_back({2 * i, 2 * j + 1, -im});
      entries.push_back({2 * i + 1, 2 * j, im});
    }
  return {testing::from_triplets(2 * side * side, entries), testing::random_vector(2 * side * side, 6)};
}
// Rows sum to zero, and so does b.
system_of_equations singular() {
  system_of_equations s{testing::laplacian(20, true), testing::random_vector(400, 4)};
  double sum = 0;
  for (std::size_t i = 1; i < s.b.size(); ++i) sum += s.b[i] = std::round(64 * s.b[i]);
  s.b[0] = -sum;
  return s;
}

answer solve_all(const system_of_equations& s, const solve_options& options) {
  answer found;
  found.x.assign(s.b.size(), 0.0);
  const auto n = static_cast<std::int64_t>(s.b.size());
  found.result =
      solver(cpu, s.A, options).solve(view<const double>(s.b.data(), n), view<double>(found.x.data(), n));
  return found;
}

answer solve_saved(const system_of_equations& s, const solve_options& options, checkpoint& kept) {
  const checkpoint_scope saves(kept);
  return solve_all(s, options);
}

// Ends behind the recorded iteration of this number.
answer solve_until(const system_of_equations& s, solve_options options, checkpoint& kept, std::int64_t last) {
  options.goal.on_iteration = [last](const iteration_record& at) { return at.iteration < last; };
  return solve_saved(s, options, kept);
}

std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> all(values.size());
  std::memcpy(all.data(), values.data(), values.size() * sizeof(double));
  return all;
}

std::vector<double> residuals(const answer& a) {
  std::vector<double> all;
  for (const iteration_record& record : a.result.history) all.push_back(record.residual);
  return all;
}

std::vector<std::int64_t> iterations(const answer& a) {
  std::vector<std::int64_t> all;
  for (const iteration_record& record : a.result.history) all.push_back(record.iteration);
  return all;
}

void expect_same(const answer& found, const answer& undisturbed, const std::string& what) {
  EXPECT_EQ(found.result.status, undisturbed.result.status) << what;
  EXPECT_EQ(found.result.reason, undisturbed.result.reason) << what;
  EXPECT_EQ(found.result.iterations, undisturbed.result.iterations) << what;
  EXPECT_EQ(found.result.restarts, undisturbed.result.restarts) << what;
  EXPECT_EQ(bits(found.x), bits(undisturbed.x)) << what;
  EXPECT_EQ(iterations(found), iterations(undisturbed)) << what;
  EXPECT_EQ(bits(residuals(found)), bits(residuals(undisturbed))) << what;
  EXPECT_EQ(found.result.condition_estimate, undisturbed.result.condition_estimate) << what;
  EXPECT_EQ(found.result.true_residual, undisturbed.result.true_residual) << what;
}

struct kind {
  const char* method;
  const char* precondition;
  system_of_equations (*system)();
  double rtol = 1e-9;
  working_precision precision = working_precision::double_;
  acceleration accelerate{};
  std::optional<sweep_order> order{};
};

const kind kinds[] = {
    {"cg", "none", definite},
    {"cg", "jacobi", definite, 1e-15},  // with restarts of the loop
    {"cg", "ic0", definite},
    {"cg", "amg", definite, 1e-15},
    {"cg", "none", singular},
    {"cg", "none", definite, 1e-12, working_precision::single},
    {"cg", "ssor", definite, 1e-6, working_precision::single},
    {"cg", "jacobi", for_several_threads, 1e-4},
    {"fcg", "none", definite},
    {"fcg", "ic0", definite, 1e-15},
    {"minres", "none", indefinite},
    {"minres", "jacobi", definite, 1e-14},
    {"gmres", "none", unsymmetric},
    {"gmres", "ilu0", unsymmetric, 1e-15},
    {"fgmres", "jacobi", unsymmetric},
    {"bicgstab", "none", unsymmetric, 1e-14},
    {"bicgstab", "ilu0", unsymmetric},
    {"idr", "none", unsymmetric, 1e-14},
    {"idr", "jacobi", unsymmetric, 1e-5, working_precision::single},
    {"cocg", "none", complex_symmetric, 1e-14},
    {"cocg", "jacobi", complex_symmetric},
    {"bicgstab", "jacobi", complex_symmetric, 1e-14},
    {"idr", "none", complex_symmetric},
    {"jacobi", "", unsymmetric},
    {"jacobi", "", unsymmetric, 1e-14, working_precision::double_, {.anderson = 4}},
    {"jacobi", "", definite, 1e-8, working_precision::double_, {.chebyshev = true}},
    {"gauss-seidel", "", unsymmetric, 1e-14},
    {"gauss-seidel", "", unsymmetric, 1e-5, working_precision::single},
    {"sor", "", definite, 1e-8, working_precision::double_, {.anderson = 2}, sweep_order::symmetric},
    {"ssor", "", definite, 1e-10, working_precision::double_, {.chebyshev = true}},
};

solve_options options_of(const kind& k) {
  solve_options options;
  options.method = k.method;
  if (k.precondition[0] != '\0') options.preconditioner = parse_preconditioner(k.precondition);
  options.precision = k.precision;
  options.accelerate = k.accelerate;
  options.sweep = k.order;
  options.goal.rtol = k.rtol;
  options.goal.max_iterations = 2000;
  return options;
}

std::string text_of(const kind& k) { return std::string(k.method) + " " + k.precondition; }

TEST(checkpoint, a_solve_that_was_interrupted_anywhere_goes_on_to_the_same_bits) {
  std::uint64_t seed = 0;
  for (const kind& k : kinds) {
    const temporary_folder folder;
    const std::string file = folder.path("saved");
    const system_of_equations s = k.system();
    const solve_options options = options_of(k);
    const answer undisturbed = solve_all(s, options);
    ASSERT_GT(undisturbed.result.iterations, 3) << text_of(k);
    for (int round = 0; round < 4; ++round) {
      const auto last = static_cast<std::int64_t>(random_bits(7, seed++) %
                                                  static_cast<std::uint64_t>(undisturbed.result.iterations));
      checkpoint kept(file, 1e9);
      const answer ended = solve_until(s, options, kept, last);
      if (ended.result.status != solve_status::interrupted) continue;  // its last steps were one cycle
      ASSERT_EQ(kept.written(), 1) << text_of(k) << ", " << last;
      checkpoint again = checkpoint::resumed(file, "");
      EXPECT_EQ(again.iteration(), kept.iteration());
      expect_same(solve_saved(s, options, again), undisturbed, text_of(k) + ", " + std::to_string(last));
      EXPECT_FALSE(again.waits());
    }
  }
}

TEST(checkpoint, saving_all_the_time_changes_no_bit) {
  int saved = 0;
  for (const kind& k : kinds) {
    const temporary_folder folder;
    const system_of_equations s = k.system();
    solve_options options = options_of(k);
    const answer undisturbed = solve_all(s, options);
    checkpoint kept(folder.path("saved"), 0.002);
    expect_same(solve_saved(s, options, kept), undisturbed, text_of(k));
    if (kept.written() == 0) continue;  // it was done before
    ++saved;
    EXPECT_EQ(folder.files(), 1u);
    checkpoint again = checkpoint::resumed(folder.path("saved"), folder.path("saved"), 0.002);
    expect_same(solve_saved(s, options, again), undisturbed, text_of(k) + " from its last file");
  }
  EXPECT_GT(saved, 0);
}

TEST(checkpoint, iterations_inside_a_proof_are_not_saved) {
  const temporary_folder folder;
  const csr<double> A = testing::laplacian(20);
  const std::vector<double> b(400, 1.0);
  std::vector<double> x(400);
  solve_options options;
  options.method = "cg";
  solver S(cpu, A, options);
  checkpoint kept(folder.path("saved"), 0);
  const checkpoint_scope saves(kept);
  ASSERT_EQ(S.solve(view<const double>(b.data(), 400), view<double>(x.data(), 400)).status,
            solve_status::converged);
  const std::int64_t of_the_solve = kept.written();
  EXPECT_GT(of_the_solve, 0);
  const solution_proof proof = S.prove({b.data(), 400, 1, 400}, {x.data(), 400, 1, 400}, {});
  EXPECT_TRUE(proof.verified) << proof.reason;
  EXPECT_EQ(kept.written(), of_the_solve);
}

TEST(checkpoint, what_was_taken_binds_no_later_solve) {
  const temporary_folder folder;
  const std::vector<double> ones(400, 1.0), twos(400, 2.0);
  const csr<double> A = testing::laplacian(20);
  solve_options options;
  options.method = "cg";
  solver S(cpu, A, options);
  const auto solve_for = [&](const std::vector<double>& b) {
    std::vector<double> x(b.size());
    return S.solve(view<const double>(b.data(), 400), view<double>(x.data(), 400)).status;
  };
  {
    checkpoint kept(folder.path("saved"), 0);
    const checkpoint_scope saves(kept);
    solve_for(ones);
  }
  checkpoint again = checkpoint::resumed(folder.path("saved"), "");
  const checkpoint_scope goes_on(again);
  EXPECT_EQ(solve_for(ones), solve_status::converged);
  EXPECT_EQ(solve_for(twos), solve_status::converged);
}

TEST(checkpoint, interrupted_again_and_again) {
  for (const kind& k : kinds) {
    const temporary_folder folder;
    const std::string file = folder.path("saved");
    const system_of_equations s = k.system();
    const solve_options options = options_of(k);
    const answer undisturbed = solve_all(s, options);
    const std::int64_t step = std::max<std::int64_t>(60, undisturbed.result.iterations / 5);
    checkpoint kept(file, 1e9);
    answer found = solve_until(s, options, kept, step / 3);
    for (int k_th = 1; found.result.status == solve_status::interrupted && k_th < 50; ++k_th) {
      checkpoint again = checkpoint::resumed(file, file, 1e9);
      found = solve_until(s, options, again, again.iteration() + step);
    }
    expect_same(found, undisturbed, text_of(k));
  }
}

TEST(checkpoint, the_iterates_that_a_monitor_sees_go_on_as_well) {
  const temporary_folder folder;
  const std::string file = folder.path("saved");
  const system_of_equations s = definite();
  solve_options options = options_of(kinds[0]);
  std::vector<double> shown;
  options.goal.on_iterate = [&](const iteration_record& at, view<const double> x) {
    if (at.iteration == 30) shown.assign(x.data(), x.data() + x.size());
    return true;
  };
  const answer undisturbed = solve_all(s, options);
  const std::vector<double> expected = shown;
  checkpoint kept(file, 1e9);
  solve_until(s, options, kept, 20);
  shown.clear();
  checkpoint again = checkpoint::resumed(file, "");
  expect_same(solve_saved(s, options, again), undisturbed, "with iterates");
  EXPECT_EQ(bits(shown), bits(expected));
}

TEST(checkpoint, options_come_from_the_file) {
  const temporary_folder folder;
  const std::string file = folder.path("saved");
  const system_of_equations s = definite();
  solve_options options;
  options.method = "cg";
  options.preconditioner = parse_preconditioner("ssor:1.3");
  options.goal.rtol = 3e-11;
  options.goal.atol = 1e-300;
  options.goal.max_iterations = 777;
  checkpoint kept(file, 1e9);
  solve_until(s, options, kept, 5);
  checkpoint again = checkpoint::resumed(file, "");
  solve_options read;
  take_options(kept_options(again), read);
  EXPECT_EQ(read.method, "cg");
  EXPECT_EQ(read.preconditioner->name, "ssor");
  EXPECT_EQ(read.preconditioner->parameters.at("omega"), 1.3);
  EXPECT_EQ(read.goal.rtol, 3e-11);
  EXPECT_EQ(read.goal.atol, 1e-300);
  EXPECT_EQ(read.goal.max_iterations, 777);
  expect_same(solve_saved(s, read, again), solve_all(s, options), "with the options read");

  EXPECT_FALSE(find_contradiction({}, kept_options(again)));
  EXPECT_FALSE(find_contradiction(options, kept_options(again)));
  options.goal.rtol = 1e-3;
  EXPECT_EQ(find_contradiction(options, kept_options(again)), (kept_option{"rtol", "3e-11"}));
}

template <class Error, class Work>
std::string complaint(const Work& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error of this kind";
}

TEST(checkpoint, what_belongs_to_another_solve_is_refused) {
  const temporary_folder folder;
  const std::string file = folder.path("saved");
  const system_of_equations s = definite();
  const solve_options options = options_of(kinds[0]);
  checkpoint kept(file, 1e9);
  solve_until(s, options, kept, 5);
  const auto resume = [&](const system_of_equations& other, const solve_options& with) {
    checkpoint again = checkpoint::resumed(file, "");
    solve_saved(other, with, again);
  };
  system_of_equations other = definite();
  other.b[7] = std::nextafter(other.b[7], 2);
  EXPECT_EQ(complaint<value_error>([&] { resume(other, options); }),
            "the right-hand side is not the one of the checkpoint: its numbers differ");
  other = definite();
  other.A.val[0] = std::nextafter(other.A.val[0], 9);  // on the diagonal
  EXPECT_EQ(complaint<value_error>([&] { resume(other, options); }),
            "the matrix is not the one of the checkpoint: its numbers differ");
  solve_options changed = options;
  changed.goal.rtol = 1e-3;
  EXPECT_EQ(complaint<value_error>([&] { resume(s, changed); }),
            "the checkpoint is of a solve with rtol '1e-09', not '0.001'");
  changed = options;
  changed.method = "minres";
  EXPECT_EQ(complaint<value_error>([&] { resume(s, changed); }),
            "the checkpoint is of a solve with method 'cg', not 'minres'");
}

TEST(checkpoint, what_has_no_state_to_save_is_refused) {
  const temporary_folder folder;
  const system_of_equations s = definite();
  for (const char* method : {"sparse-lu", "async", "lsqr"}) {
    solve_options options;
    options.method = method;
    checkpoint kept(folder.path("saved"), 0);
    EXPECT_NE(complaint<value_error>([&] { solve_saved(s, options, kept); }).find("checkpoint"),
              std::string::npos)
        << method;
    EXPECT_EQ(kept.written(), 0);
  }
  checkpoint kept(folder.path("saved"), 0);
  const checkpoint_scope saves(kept);
  std::vector<double> b(800, 1.0), x(800, 0.0);
  EXPECT_EQ(complaint<value_error>([&] {
              solver(cpu, s.A, options_of(kinds[0]))
                  .solve(matrix_view<const double>{b.data(), 400, 2, 400},
                         matrix_view<double>{x.data(), 400, 2, 400});
            }),
            "a checkpoint is of one right-hand side, here are 2");
  EXPECT_THROW(checkpoint("file", -1), value_error);
}

TEST(checkpoint, a_damaged_file_is_refused) {
  const temporary_folder folder;
  const std::string file = folder.path("saved");
  const system_of_equations s = unsymmetric();
  checkpoint kept(file, 1e9);
  solve_until(s, options_of(kinds[12]), kept, 20);
  const std::string whole = content_of(file);
  checkpoint::resumed(file, "");
  for (std::size_t k = 0; k < whole.size(); k += k < 400 ? 1 : 149) {
    const std::string cut = folder.file("cut", whole.substr(0, k));
    EXPECT_THROW(checkpoint::resumed(cut, ""), parse_error) << k;
    std::string other = whole;
    other[k] = static_cast<char>(other[k] ^ (1 << k % 8));
    const std::string flipped = folder.file("flipped", other);
    EXPECT_THROW(checkpoint::resumed(flipped, ""), parse_error) << k;
  }
  EXPECT_THROW(checkpoint::resumed(folder.file("longer", whole + std::string(8, '\0')), ""), parse_error);
  EXPECT_THROW(checkpoint::resumed(folder.file("text", "%%MatrixMarket matrix\n"), ""), parse_error);
  EXPECT_THROW(checkpoint::resumed(folder.path("none"), ""), file_error);
  EXPECT_THROW(checkpoint::resumed("/dev/null", ""), parse_error);
}

// A file that somebody made, with the right check sum and counts that no iteration has.
TEST(checkpoint, counts_that_no_iteration_has_are_refused) {
  const temporary_folder folder;
  const std::string file = folder.path("saved");
  const system_of_equations s = unsymmetric();
  for (const char* method : {"gmres", "bicgstab"}) {
    solve_options options;
    options.method = method;
    checkpoint kept(file, 1e9);
    solve_until(s, options, kept, 6);
    ASSERT_EQ(kept.written(), 1) << method;
    const std::string whole = content_of(file);
    int changed = 0;
    for (const std::string name : {"iterations before the run", "strikes", "iterations of this run", "cycle",
                                   "longest cycle", "iteration of the last half", "last iteration recorded"}) {
      const std::size_t at = whole.find(name + std::string((8 - name.size() % 8) % 8, '\0'));
      if (at == whole.npos) continue;
      for (const std::int64_t count : {std::int64_t{-2}, std::numeric_limits<std::int64_t>::max()}) {
        std::string other = whole;
        std::memcpy(other.data() + at + (name.size() + 7) / 8 * 8, &count, sizeof count);
        const std::uint64_t sum =
            crc32_z(0, reinterpret_cast<const Bytef*>(other.data()), other.size() - sizeof sum);
        std::memcpy(other.data() + other.size() - sizeof sum, &sum, sizeof sum);
        checkpoint forged = checkpoint::resumed(folder.file("forged", other), "");
        EXPECT_THROW(solve_saved(s, options, forged), parse_error) << method << ' ' << name << ' ' << count;
        ++changed;
      }
    }
    EXPECT_GE(changed, 10) << method;
  }
}

TEST(checkpoint, a_full_disk_does_not_end_the_solve) {
  const system_of_equations s = definite();
  const solve_options options = options_of(kinds[0]);
  std::vector<checkpoint_note> notes;
  checkpoint kept("/dev/full", 0, [&](const checkpoint_note& note) { notes.push_back(note); });
  expect_same(solve_saved(s, options, kept), solve_all(s, options), "on a full disk");
  EXPECT_EQ(kept.written(), 0);
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.front().failure, "cannot write '/dev/full': No space left on device");
  checkpoint nowhere("/there/is/no/such/folder/saved", 0);
  expect_same(solve_saved(s, options, nowhere), solve_all(s, options), "in no folder");
}

}  // namespace
}  // namespace vouch
